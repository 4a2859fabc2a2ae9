"""Deleted accounts whose names still have to be struck out of the journals of their games (P45)."""

from alembic import op

revision = "0006"
down_revision = "0005"

DDL = """
create table tables.erasure (
  account bytea primary key check (octet_length(account) = 16),
  asked_at timestamptz not null default clock_timestamp(),
  due_at timestamptz not null default clock_timestamp(),
  -- The last table that was gone through in this pass.
  done uuid
);
create index erasure_due on tables.erasure (due_at);
create index chat_line_account on tables.chat_line (account);
create index chat_report_reporter on tables.chat_report (reporter);
"""


def upgrade() -> None:
    for statement in DDL.split(";"):
        if statement.strip():
            op.execute(statement)
