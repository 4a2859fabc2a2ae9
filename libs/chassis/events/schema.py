"""The four tables of every service that publishes or consumes: the DDL that its first migration calls."""

from collections.abc import Callable

# One relay a bucket at a time keeps the order of a key; sixteen let several replicas share the work.
BUCKETS = 16

# Partitions by day are made ahead by the housekeeping job; the default one catches what it missed.
_DDL = """
create table {schema}.event (
  event_id uuid not null, topic text not null, key bytea not null, type text not null,
  payload bytea not null, traceparent text not null, occurred_at timestamptz not null default clock_timestamp(),
  primary key (occurred_at, event_id)
) partition by range (occurred_at);
create table {schema}.event_default partition of {schema}.event default;
create table {schema}.outbox (
  id bigint generated always as identity primary key, bucket smallint not null check (bucket between 0 and 15),
  event_id uuid not null, topic text not null, key bytea not null, type text not null,
  payload bytea not null, traceparent text not null
);
create index outbox_bucket on {schema}.outbox (bucket, id);
create table {schema}.inbox (
  consumer text not null, event_id uuid not null, at timestamptz not null default now(),
  primary key (consumer, event_id)
);
create index inbox_at on {schema}.inbox (at);
create table {schema}.parked (
  consumer text not null, key bytea not null, n bigint generated always as identity,
  event_id uuid not null, topic text not null, type text not null, payload bytea not null,
  traceparent text not null, error text not null, tries integer not null, next_try_at timestamptz not null,
  primary key (consumer, key, n)
);
"""


def create_event_tables(execute: Callable[[str], object], schema: str) -> None:
    """For a service's first migration: ``create_event_tables(op.execute, SCHEMA)``."""
    for statement in _DDL.format(schema=schema).split(";"):
        if statement.strip():
            execute(statement)
