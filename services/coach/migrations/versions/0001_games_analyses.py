"""Finished games, what the coach makes of them, and the event tables."""

from alembic import op

from libs.chassis.events.schema import create_event_tables

revision = "0001"
down_revision = None

SCHEMA = "coach"


def upgrade() -> None:
    create_event_tables(op.execute, SCHEMA)
    op.execute(
        r"""
        create table coach.game (
          table_id uuid primary key,
          state text not null check (state in ('waiting', 'analysed', 'voided')),
          kind text check (kind in ('quick', 'friends')),
          mode text check (mode in ('', 'quick', 'classic')),
          game text,
          week_id text check (week_id ~ '^\d{4}-W\d{2}$'),
          day_id text check (day_id ~ '^\d{4}-\d{2}-\d{2}$'),
          people jsonb,
          record bytea,
          story jsonb,
          heard_at timestamptz not null default clock_timestamp(),
          due_at timestamptz not null default clock_timestamp(),
          tries integer not null default 0 check (tries >= 0),
          check (state = 'voided'
                 or num_nonnulls(kind, mode, game, week_id, day_id, people) = 6),
          check ((record is not null) = (state = 'waiting')),
          check ((story is not null) = (state = 'analysed'))
        )
        """
    )
    op.execute("create index game_due on coach.game (due_at) where state = 'waiting'")
    op.execute(
        """
        create table coach.analysis (
          table_id uuid not null references coach.game,
          account_id uuid not null,
          seat smallint not null check (seat between 0 and 6),
          offered boolean not null,
          grade text not null check (grade in ('', 'A+', 'A', 'B', 'C', 'D', 'F')),
          runs_of_seven smallint not null check (runs_of_seven >= 0),
          analysis bytea not null,
          primary key (table_id, account_id)
        )
        """
    )
