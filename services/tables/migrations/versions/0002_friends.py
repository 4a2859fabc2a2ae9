"""Friends' tables before their deal, and chat."""

from alembic import op

revision = "0002"
down_revision = "0001"

DDL = """
create table tables.friends_table (
  table_id uuid primary key,
  opened_by uuid not null unique,
  stage text not null check (stage in ('waiting', 'dealt', 'closed')),
  version bigint not null default 1 check (version > 0),
  spoken bigint not null default 0,
  host bytea not null,
  choices jsonb not null,
  listed boolean not null,
  barred bytea[] not null default '{}',
  people_until timestamptz not null,
  created_at timestamptz not null default clock_timestamp(),
  changed_at timestamptz not null default clock_timestamp()
);
create index friends_table_open on tables.friends_table (created_at) where stage <> 'closed';
create table tables.friends_seat (
  table_id uuid not null references tables.friends_table on delete cascade,
  seat smallint not null check (seat >= 0),
  account bytea not null,
  name text not null,
  guest boolean not null,
  waiting boolean not null default true,
  lease_until timestamptz not null,
  primary key (table_id, seat)
);
create unique index friends_seat_once on tables.friends_seat (account) where waiting;
create table tables.friends_request (
  table_id uuid not null references tables.friends_table on delete cascade,
  request_id uuid not null,
  primary key (table_id, request_id)
);
create table tables.chat_line (
  table_id uuid not null,
  line bigint generated always as identity,
  request_id uuid not null,
  account bytea not null,
  name text not null,
  words text not null check (char_length(words) between 1 and 200),
  at timestamptz not null default clock_timestamp(),
  primary key (table_id, line),
  unique (table_id, request_id)
);
create index chat_line_at on tables.chat_line (at);
create table tables.chat_mute (
  account bytea not null,
  muted bytea not null,
  primary key (account, muted)
);
create table tables.chat_report (
  report_id uuid primary key,
  table_id uuid not null,
  reporter bytea not null,
  reported bytea not null,
  words text not null,
  lines jsonb not null,
  at timestamptz not null default clock_timestamp()
);
"""


def upgrade() -> None:
    for statement in DDL.split(";"):
        if statement.strip():
            op.execute(statement)
