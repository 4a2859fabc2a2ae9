"""Weeks that are sealed, refunds and voids of finished games, gifts by analysis, operators' acts."""

from alembic import op

from libs.chassis.audit import create_audit_table

revision = "0002"
down_revision = "0001"

SCHEMA = "wallet"
WEEK = "week_id ~ '^[0-9]{4}-W[0-9]{2}$'"
DAY = "day_id ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'"

STATEMENTS = (
    # Wider than before: what stands already holds, and nobody waits while it is read again.
    """
    -- squawk-ignore ban-drop-constraint
    alter table wallet.posting drop constraint posting_house_check
    """,
    """
    alter table wallet.posting add constraint posting_house_check
    check (house in ('entries', 'prizes', 'gifts', 'holds', 'shop', 'corrections', 'losses')) not valid
    """,
    # When a game finished, as tables stamped it.
    f"""
    create table wallet.finished_game (
      table_id uuid primary key,
      week_id text not null check ({WEEK}),
      day_id text not null check ({DAY}),
      finished_at timestamptz not null,
      classic boolean not null
    )
    """,
    "create index finished_game_week on wallet.finished_game (week_id)",
    # Games that had finished before: by the moment they were settled, a second or so after their end, in the platform's
    # zone as shipped. They have no seats here: their time for a refund is over.
    """
    insert into wallet.finished_game (table_id, week_id, day_id, finished_at, classic)
    select table_id, to_char(at at time zone 'Europe/Bucharest', 'IYYY"-W"IW'),
      to_char(at at time zone 'Europe/Bucharest', 'YYYY-MM-DD'), at, false
    from wallet.game where state = 'finished'
    """,
    """
    create table wallet.seat (
      table_id uuid not null,
      account_id uuid not null,
      guest boolean not null,
      room integer not null,
      place integer not null,
      counts boolean not null,
      vacated boolean not null,
      primary key (table_id, account_id)
    )
    """,
    # A game has come to an end for good for this account: the row is the one refund, or the one void.
    """
    create table wallet.reversal (
      table_id uuid not null,
      account_id uuid not null,
      kind text not null check (kind in ('refund', 'void')),
      after_seal boolean not null,
      at timestamptz not null,
      primary key (table_id, account_id),
      check (kind = 'void' or not after_seal)
    )
    """,
    f"""
    create table wallet.week (
      week_id text primary key check ({WEEK}),
      sealed_at timestamptz
    )
    """,
    """
    create table wallet.week_total (
      week_id text not null references wallet.week,
      account_id uuid not null,
      coins bigint not null check (coins > 0),
      prizes integer not null check (prizes > 0),
      primary key (week_id, account_id)
    )
    """,
    # How much of a day's share is used: refunds, paid classic games.
    f"""
    create table wallet.day_share (
      account_id uuid not null,
      day_id text not null check ({DAY}),
      kind text not null check (kind in ('refund', 'classic')),
      used integer not null check (used > 0),
      primary key (account_id, day_id, kind)
    )
    """,
    # What the coach made of a classic game; it may come before or after the game's end.
    """
    create table wallet.analysis (
      table_id uuid not null,
      account_id uuid not null,
      grade text not null,
      runs smallint not null check (runs between 0 and 4),
      primary key (table_id, account_id)
    )
    """,
    *(
        f"""
        create trigger {table}_kept before update or delete or truncate on wallet.{table}
        for each statement execute function wallet.refuse_change()
        """
        for table in ("finished_game", "seat", "reversal", "week_total", "analysis")
    ),
)


def upgrade() -> None:
    create_audit_table(op.execute, SCHEMA)
    for statement in STATEMENTS:
        op.execute(statement)
