"""What the proof of the ledger needs: when games ran, what rooms paid, and what the kept events have told (E7-E15)."""

from alembic import op

revision = "0003"
down_revision = "0002"

SCHEMA = "wallet"
KEPT = ("departure", "tariff")

STATEMENTS = (
    # When a game ran, by the clock of its tables. Null: it was before this revision, or its event was never heard of.
    "alter table wallet.game add column started_at timestamptz, add column ended_at timestamptz",
    # Who left a game on purpose, and may play elsewhere while it runs on (P8).
    """
    create table wallet.departure (
      table_id uuid not null,
      account_id uuid not null,
      at timestamptz not null,
      primary key (table_id, account_id)
    )
    """,
    # What each room pays its first place, as it was when games were settled by it; `id` is a digest of the rows.
    """
    create table wallet.tariff (
      id text not null,
      room smallint not null check (room between 1 and 12),
      prize_coins bigint not null check (prize_coins > 0),
      free boolean not null,
      primary key (id, room)
    )
    """,
    "alter table wallet.finished_game add column tariff text",
    # The sum of what events before `telling.since` have told, and of what had moved before they told all.
    """
    create table wallet.told (
      account_id uuid not null,
      cause text not null check (cause ~ '^[a-z_]+$'),
      asset text not null check (asset in ('coin', 'bar', 'cup_x1_5', 'cup_x2', 'cup_x3', 'cup_x5')),
      amount bigint not null,
      primary key (account_id, cause, asset)
    )
    """,
    # `since` null: what moved before this revision is taken as it stands at `opens_at`, when no process of the release
    # before, whose events do not tell all, posts any more. A new database is told of from its first event on.
    """
    create table wallet.telling (
      single boolean primary key default true check (single),
      opens_at timestamptz not null,
      since timestamptz
    )
    """,
    """
    insert into wallet.telling (opens_at, since)
    select clock_timestamp() + case when used then interval '1 hour' else interval '0' end,
      case when not used then timestamptz '2000-01-01T00:00:00Z' end
    from (select exists (select from wallet.transfer) as used) as before
    """,
    *(
        f"""
        create trigger {table}_kept before update or delete or truncate on wallet.{table}
        for each statement execute function wallet.refuse_change()
        """
        for table in KEPT
    ),
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)
