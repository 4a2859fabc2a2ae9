"""Accounts, logins, sessions, limits and the mail queue."""

from alembic import op

from libs.chassis.events.schema import create_event_tables

revision = "0001"
down_revision = None

SCHEMA = "auth"

TABLES = (
    """
    create table auth.account (
      account_id uuid primary key,
      name text not null check (char_length(name) between 3 and 16),
      guest boolean not null,
      email text unique check (email = lower(email)),
      locale text not null,
      opening_key bytea unique check (octet_length(opening_key) = 32),
      created_at timestamptz not null,
      check (guest = (email is null))
    )
    """,
    """
    create index account_guest_opened on auth.account (created_at) where opening_key is not null
    """,
    """
    create table auth.login (
      email text primary key check (email = lower(email)),
      login_id bytea not null unique check (octet_length(login_id) = 16),
      request_id bytea not null check (octet_length(request_id) = 16),
      code_hash bytea not null check (octet_length(code_hash) = 32),
      locale text not null,
      tries smallint not null default 0 check (tries between 0 and 5),
      asked_at timestamptz not null,
      expires_at timestamptz not null
    )
    """,
    """
    create index login_asked on auth.login (asked_at)
    """,
    """
    create table auth.session (
      session_id uuid primary key,
      account_id uuid not null references auth.account (account_id),
      device text not null check (char_length(device) <= 64),
      token_hash bytea not null unique check (octet_length(token_hash) = 32),
      previous_hash bytea unique check (octet_length(previous_hash) = 32),
      opening_key bytea unique check (octet_length(opening_key) = 32),
      created_at timestamptz not null,
      used_at timestamptz not null,
      expires_at timestamptz not null,
      ended_at timestamptz,
      check (expires_at > created_at)
    )
    """,
    """
    create index session_account on auth.session (account_id, used_at desc) where ended_at is null
    """,
    """
    create index session_opened on auth.session (created_at) where opening_key is not null
    """,
    """
    create index session_expires on auth.session (expires_at)
    """,
    """
    create table auth.spent_token (
      token_hash bytea primary key check (octet_length(token_hash) = 32),
      session_id uuid not null references auth.session (session_id) on delete cascade
    )
    """,
    """
    create index spent_token_session on auth.spent_token (session_id)
    """,
    """
    create table auth.attempt_window (
      subject bytea primary key check (octet_length(subject) = 32),
      moments timestamptz[] not null,
      last_at timestamptz not null
    )
    """,
    """
    create index attempt_window_last on auth.attempt_window (last_at)
    """,
    """
    create table auth.home_network (
      account_id uuid not null references auth.account (account_id) on delete cascade,
      network bytea not null check (octet_length(network) = 32),
      last_at timestamptz not null,
      primary key (account_id, network)
    )
    """,
    """
    create table auth.mail_queue (
      mail_id uuid primary key,
      kind text not null check (kind in ('code', 'session_ended')),
      address text not null,
      locale text not null,
      sealed bytea not null,
      tries integer not null default 0,
      next_try_at timestamptz not null,
      expires_at timestamptz not null
    )
    """,
    """
    create index mail_queue_due on auth.mail_queue (next_try_at)
    """,
)


def upgrade() -> None:
    create_event_tables(op.execute, SCHEMA)
    for table in TABLES:
        op.execute(table)
