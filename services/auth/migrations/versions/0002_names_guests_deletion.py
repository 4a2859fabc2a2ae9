"""Names of one's own, guests that become accounts, suspension, deletion, and operators' acts.

Every account that is no guest has been one since it was made.
"""

from alembic import op

from libs.chassis.audit import create_audit_table

revision = "0002"
down_revision = "0001"

SCHEMA = "auth"

CHANGES = (
    "set local lock_timeout = '5s'",
    "set local statement_timeout = '60s'",
    """
    alter table auth.account
      add column account_since timestamptz,
      add column seen_on date,
      add column named_at timestamptz,
      add column suspended_at timestamptz,
      add column deleted_at timestamptz
    """,
    # Deleted accounts have no address, guests or not; the constraint below takes its place in this transaction.
    """
    -- squawk-ignore ban-drop-constraint
    alter table auth.account drop constraint account_check
    """,
    "update auth.account set account_since = created_at where not guest",
    # Not validated: what is there satisfies them by construction, and to prove it would keep sign-ins waiting.
    """
    alter table auth.account
      add constraint account_address
        check (case when deleted_at is null then guest = (email is null) else email is null end) not valid,
      add constraint account_since_when check (deleted_at is not null or guest = (account_since is null)) not valid,
      add constraint account_named check (named_at is null or (not guest and deleted_at is null)) not valid
    """,
    """
    create table auth.claimed_name (
      skeleton bytea primary key check (octet_length(skeleton) = 32),
      account_id uuid references auth.account (account_id),
      free_at timestamptz,
      check (account_id is not null or free_at is not null)
    )
    """,
    "create index claimed_name_account on auth.claimed_name (account_id)",
    "create index claimed_name_free on auth.claimed_name (free_at)",
    # Operators find an account by its name as it is written.
    "create index account_name on auth.account (lower(name)) where deleted_at is null and not guest",
)


def upgrade() -> None:
    for change in CHANGES:
        op.execute(change)
    create_audit_table(op.execute, SCHEMA)
