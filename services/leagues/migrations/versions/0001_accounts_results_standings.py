"""Accounts, results, prizes and standings; the event tables."""

from alembic import op

from libs.chassis.events.schema import create_event_tables

revision = "0001"
down_revision = None

SCHEMA = "leagues"
WEEK = r"'^\d{4}-W\d{2}$'"


def upgrade() -> None:
    create_event_tables(op.execute, SCHEMA)
    op.execute(
        """
        create table leagues.account (
          account_id uuid primary key,
          guest boolean,
          experience bigint not null default 0 check (experience >= 0),
          level integer not null default 1 check (level >= 1),
          games bigint not null default 0 check (games >= 0)
        )
        """
    )
    op.execute(
        f"""
        create table leagues.game_result (
          table_id uuid not null,
          account_id uuid not null references leagues.account,
          week_id text not null check (week_id ~ {WEEK}),
          finished_at timestamptz not null,
          place smallint not null check (place between 1 and 7),
          own_bids smallint not null check (own_bids between 0 and rounds),
          own_made smallint not null check (own_made between 0 and own_bids),
          rounds smallint not null check (rounds >= 0),
          counted boolean not null,
          experience integer not null check (experience >= 0 and (counted or experience = 0)),
          primary key (table_id, account_id)
        )
        """
    )
    op.execute("create index game_result_latest on leagues.game_result (account_id, finished_at desc, table_id desc)")
    op.execute(
        f"""
        create table leagues.prize (
          table_id uuid not null,
          account_id uuid not null references leagues.account,
          week_id text not null check (week_id ~ {WEEK}),
          coins bigint not null check (coins between 1 and 9007199254740991),
          primary key (table_id, account_id)
        )
        """
    )
    op.execute("create index prize_account on leagues.prize (account_id)")
    op.execute(
        f"""
        create table leagues.standing (
          account_id uuid not null references leagues.account,
          week_id text not null check (week_id ~ {WEEK}),
          points bigint not null default 0 check (points between 0 and 9007199254740991),
          games integer not null default 0 check (games >= 0),
          primary key (account_id, week_id)
        )
        """
    )
