"""Tickets, matches, pools, standings."""

from alembic import op

from libs.chassis.events.schema import create_event_tables

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

DDL = """
create table matchmaking.match (
  table_id uuid primary key,
  mode text not null check (mode in ('quick', 'classic')),
  state text not null check (state in ('forming', 'held', 'created', 'releasing', 'done', 'cancelled')),
  created_at timestamptz not null,
  next_try_at timestamptz not null
);
create index match_due on matchmaking.match (next_try_at) where state in ('forming', 'held', 'releasing');

create table matchmaking.ticket (
  ticket_id uuid primary key,
  account_id uuid not null,
  guest boolean not null,
  name text not null check (char_length(name) between 1 and 32),
  room smallint not null check (room between 1 and 12 and (room = 1 or not guest)),
  mode text not null check (mode in ('quick', 'classic')),
  coffee text not null check (coffee in ('', 'x1_5', 'x2', 'x3', 'x5') and (coffee = '' or not guest)),
  tier smallint not null check (tier between 1 and 4),
  created_at timestamptz not null,
  changed_at timestamptz not null,
  state text not null check (state in ('waiting', 'matched', 'seated', 'dropped', 'cancelled', 'done')),
  table_id uuid references matchmaking.match,
  failures smallint not null default 0 check (failures >= 0),
  dropped_reason text not null default '',
  check ((table_id is not null) = (state in ('matched', 'seated', 'dropped', 'done'))),
  check ((dropped_reason <> '') = (state = 'dropped'))
);
create unique index seat_claim on matchmaking.ticket (account_id) where state in ('waiting', 'matched', 'seated');
create index ticket_queue on matchmaking.ticket (mode, created_at, ticket_id) where state = 'waiting';
create index ticket_table on matchmaking.ticket (table_id) where table_id is not null;
create index ticket_latest on matchmaking.ticket (account_id, created_at desc, ticket_id desc);
create index ticket_ended on matchmaking.ticket (changed_at) where state in ('dropped', 'cancelled', 'done');

create table matchmaking.pool_lease (
  mode text primary key check (mode in ('quick', 'classic')),
  owner uuid not null,
  until timestamptz not null
);

create table matchmaking.standing (
  account_id uuid primary key,
  level integer not null default 1 check (level >= 1),
  tier smallint not null default 1 check (tier between 1 and 4)
);
"""


def upgrade() -> None:
    create_event_tables(op.execute, "matchmaking")
    for statement in DDL.split(";"):
        if statement.strip():
            op.execute(statement)
