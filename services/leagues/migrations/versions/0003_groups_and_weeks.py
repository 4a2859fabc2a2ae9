"""Tiers, groups of the weekly league, and the closing of weeks.

Nobody has a tier before: everybody plays in Jack. Weeks that have ended are closed by the job, the oldest first.
"""

from alembic import op

revision = "0003"
down_revision = "0002"

DDL = r"""
create table leagues.tier (
  account_id uuid primary key references leagues.account,
  tier smallint not null check (tier between 1 and 4)
);

create table leagues.week (
  week_id text primary key check (week_id ~ '^\d{4}-W\d{2}$'),
  next_week_id text not null unique check (next_week_id ~ '^\d{4}-W\d{2}$' and next_week_id > week_id),
  stage text not null check (stage in ('sealing', 'grouping', 'ranking', 'closed')),
  closed_at timestamptz check ((closed_at is null) = (stage <> 'closed'))
);

create table leagues.week_total (
  week_id text not null references leagues.week,
  account_id uuid not null,
  coins bigint not null check (coins between 1 and 9007199254740991),
  prizes integer not null check (prizes > 0),
  primary key (week_id, account_id)
);

create table leagues.league_group (
  group_id uuid primary key,
  week_id text not null check (week_id ~ '^\d{4}-W\d{2}$'),
  tier smallint not null check (tier between 1 and 4),
  number integer not null check (number > 0),
  closed_at timestamptz,
  unique (week_id, tier, number)
);
create index league_group_open on leagues.league_group (week_id, tier, number) where closed_at is null;

create table leagues.group_member (
  week_id text not null,
  account_id uuid not null references leagues.account,
  group_id uuid not null references leagues.league_group,
  position smallint not null check (position between 1 and 100),
  primary key (week_id, account_id),
  unique (group_id, position)
);

create table leagues.week_rank (
  week_id text not null references leagues.week,
  account_id uuid not null references leagues.account,
  group_id uuid not null references leagues.league_group,
  rank smallint not null check (rank between 1 and ranked),
  ranked smallint not null,
  points bigint not null check (points between 1 and 9007199254740991),
  games integer not null check (games >= 0),
  reached_at timestamptz,
  next_tier smallint not null check (next_tier between 1 and 4),
  podium_coins bigint not null check (podium_coins >= 0),
  podium_bars bigint not null check (podium_bars >= 0),
  primary key (week_id, account_id),
  unique (group_id, rank)
);
create index week_rank_latest on leagues.week_rank (account_id, week_id desc);

create index prize_first on leagues.prize (week_id, account_id, paid_at)
"""


def upgrade() -> None:
    for statement in DDL.split(";"):
        op.execute(statement)
