"""Transfers, postings, balances, games and holds; the event tables."""

from alembic import op

from libs.chassis.events.schema import create_event_tables

revision = "0001"
down_revision = None

SCHEMA = "wallet"
ASSETS = "('coin', 'bar', 'cup_x1_5', 'cup_x2', 'cup_x3', 'cup_x5')"

STATEMENTS = (
    """
    create table wallet.transfer (
      id uuid primary key,
      key text not null unique check (length(key) between 1 and 200),
      reason text not null check (reason ~ '^[a-z_]+$'),
      table_id uuid,
      at timestamptz not null
    )
    """,
    "create index transfer_table on wallet.transfer (table_id) where table_id is not null",
    # `n` orders an account's movements by the database's own count, whatever the clocks of those who wrote them.
    f"""
    create table wallet.posting (
      n bigint generated always as identity primary key,
      transfer_id uuid not null references wallet.transfer,
      account_id uuid,
      house text check (house in ('entries', 'prizes', 'gifts', 'holds')),
      asset text not null check (asset in {ASSETS}),
      amount bigint not null check (amount <> 0 and amount between -1000000000000000 and 1000000000000000),
      check (num_nonnulls(account_id, house) = 1),
      unique nulls not distinct (transfer_id, asset, account_id, house)
    )
    """,
    "create index posting_account on wallet.posting (account_id, n desc) where account_id is not null",
    # 10^15 is below 2^53: a balance is exact in JSON.
    f"""
    create table wallet.balance (
      account_id uuid not null,
      asset text not null check (asset in {ASSETS}),
      amount bigint not null check (amount between 0 and 1000000000000000),
      primary key (account_id, asset)
    ) with (fillfactor = 80)
    """,
    """
    create table wallet.game (
      table_id uuid primary key,
      state text not null check (state in ('open', 'started', 'finished', 'voided', 'abandoned')),
      at timestamptz not null
    )
    """,
    """
    create table wallet.hold (
      table_id uuid not null,
      account_id uuid not null,
      room smallint not null check (room between 0 and 12),
      coffee text not null check (coffee in ('', 'x1_5', 'x2', 'x3', 'x5')),
      coins bigint not null check (coins between 0 and 1000000000000),
      bars bigint not null check (bars between 0 and 1000000),
      state text not null check (state in ('open', 'paid', 'released')),
      at timestamptz not null,
      primary key (table_id, account_id),
      check (room > 0 or (state = 'released' and coins = 0 and bars = 0 and coffee = ''))
    )
    """,
    "create index hold_open_table on wallet.hold (table_id) where state = 'open'",
    "create index hold_open_account on wallet.hold (account_id) where state = 'open'",
    # Checked at the commit, when all lines of a transfer are there.
    """
    create function wallet.refuse_unbalanced() returns trigger language plpgsql as $$
    declare transfer uuid;
    begin
      if tg_table_name = 'posting' then transfer := new.transfer_id; else transfer := new.id; end if;
      if not exists (select from wallet.posting where transfer_id = transfer) then
        raise exception 'transfer % has no postings', transfer using errcode = 'check_violation';
      end if;
      if exists (
        select from wallet.posting where transfer_id = transfer group by asset having sum(amount) <> 0
      ) then
        raise exception 'transfer % does not sum to zero', transfer using errcode = 'check_violation';
      end if;
      return null;
    end $$
    """,
    """
    create constraint trigger transfer_balanced after insert on wallet.transfer
    deferrable initially deferred for each row execute function wallet.refuse_unbalanced()
    """,
    """
    create constraint trigger posting_balanced after insert on wallet.posting
    deferrable initially deferred for each row execute function wallet.refuse_unbalanced()
    """,
    """
    create function wallet.refuse_change() returns trigger language plpgsql as $$
    begin
      raise exception '% is never changed', tg_table_name using errcode = 'restrict_violation';
    end $$
    """,
    """
    create trigger transfer_kept before update or delete or truncate on wallet.transfer
    for each statement execute function wallet.refuse_change()
    """,
    """
    create trigger posting_kept before update or delete or truncate on wallet.posting
    for each statement execute function wallet.refuse_change()
    """,
)


def upgrade() -> None:
    create_event_tables(op.execute, SCHEMA)
    for statement in STATEMENTS:
        op.execute(statement)
