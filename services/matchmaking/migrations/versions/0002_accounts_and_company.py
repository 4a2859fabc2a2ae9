"""What auth says of an account, from which network a ticket came, and waiting tickets that end with a reason.

Columns come with constant defaults, so no row is written anew; tickets that wait meanwhile came from nowhere known. The
checks are not validated, which would read every ticket: those from before hold the stricter check that they replace.
"""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

DDL = """
set local lock_timeout = '5s';
set local statement_timeout = '60s';

create table matchmaking.admission (
  account_id uuid primary key,
  closed_reason text not null check (closed_reason in ('', 'ACCOUNT_SUSPENDED', 'ACCOUNT_DELETED')),
  told_at timestamptz not null
);

alter table matchmaking.standing
  add column level_told_at timestamptz not null default '-infinity',
  add column tier_told_at timestamptz not null default '-infinity';

alter table matchmaking.ticket add column linkage bytea not null default ''::bytea;
-- ticket_reason, below, stands in its place
-- squawk-ignore ban-drop-constraint
alter table matchmaking.ticket drop constraint ticket_check3;
alter table matchmaking.ticket
  add constraint ticket_linkage check (
    octet_length(linkage) in (0, 16) and (linkage = ''::bytea or state in ('waiting', 'matched'))
  ) not valid,
  add constraint ticket_reason check (
    (dropped_reason <> '' or state <> 'dropped') and (dropped_reason = '' or state in ('dropped', 'cancelled'))
  ) not valid;
"""


def upgrade() -> None:
    for statement in DDL.split(";"):
        if statement.strip():
            op.execute(statement)
