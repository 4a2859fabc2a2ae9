"""Operators: their audit log, who is silenced, complaints in order, and what had finished before it was voided."""

from alembic import op

from libs.chassis.audit import create_audit_table

revision = "0005"
down_revision = "0004"

DDL = """
alter table tables.table_head add column undone_at timestamptz;
create index table_head_created on tables.table_head (created_at);
create index game_record_accounts on tables.game_record using gin (accounts);
create table tables.silence (
  account bytea primary key,
  until timestamptz not null
);
-- Complaints are few: written anew in a moment.
-- squawk-ignore adding-field-with-default
alter table tables.chat_report add column n bigint generated always as identity;
create unique index chat_report_n on tables.chat_report (n);
create index chat_report_reported on tables.chat_report (reported, n);
"""


def upgrade() -> None:
    create_audit_table(op.execute, "tables")
    for statement in DDL.split(";"):
        if statement.strip():
            op.execute(statement)
