"""Heads, journal, workers, records."""

from alembic import op

from libs.chassis.events.schema import create_event_tables

revision = "0001"
down_revision = None

DDL = """
create table tables.worker (
  worker_id text primary key,
  incarnation uuid not null,
  address text not null,
  state text not null check (state in ('up', 'draining', 'gone')),
  tables integer not null default 0 check (tables >= 0),
  lease_until timestamptz not null
);
create table tables.table_head (
  table_id uuid primary key,
  born date not null,
  kind smallint not null,
  status text not null check (status in ('live', 'finished', 'voided', 'abandoned')),
  epoch bigint not null check (epoch >= 0),
  next_seq integer not null check (next_seq >= 0),
  checkpoint_seq integer not null default 0 check (checkpoint_seq >= 0),
  rules_version integer not null,
  owner text,
  incarnation uuid,
  owned_at timestamptz not null default clock_timestamp(),
  created_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  check ((owner is null) = (incarnation is null))
) with (fillfactor = 50);
create index table_head_live on tables.table_head (owner) where status = 'live';
create table tables.table_log (
  table_id uuid not null,
  born date not null,
  seq integer not null check (seq >= 0),
  epoch bigint not null,
  command_id uuid not null,
  body bytea not null,
  at timestamptz not null default clock_timestamp(),
  primary key (table_id, seq, born),
  unique (table_id, command_id, born)
) partition by range (born);
create table tables.table_log_default partition of tables.table_log default;
create table tables.game_record (
  table_id uuid primary key,
  finished_at timestamptz not null,
  week_id text not null,
  accounts bytea[] not null,
  record bytea not null
);
create index game_record_week on tables.game_record (week_id);
"""


def upgrade() -> None:
    create_event_tables(op.execute, "tables")
    for statement in DDL.split(";"):
        if statement.strip():
            op.execute(statement)
