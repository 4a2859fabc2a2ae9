"""Friends' games and their leaderboard, voided games, prizes that went back, accounts that are gone.

Of a prize that is known already it is not known when it was paid: its game's end stands for it, or else the epoch. An
upgrade is one transaction, so that an index cannot be dropped concurrently.
"""

from alembic import op

revision = "0002"
down_revision = "0001"

DDL = r"""
alter table leagues.account add column deleted boolean not null default false;

alter table leagues.game_result
  add column kind text not null default 'quick' check (kind in ('quick', 'friends')),
  add column score smallint not null default 0 check (score between 0 and 6 and (counted or score = 0));
-- squawk-ignore require-concurrent-index-deletion
drop index leagues.game_result_latest;
create index game_result_latest on leagues.game_result (account_id, finished_at desc, table_id desc)
  where kind = 'quick' and counted;
create index game_result_week on leagues.game_result (account_id, week_id);

create table leagues.voided_game (
  table_id uuid primary key,
  at timestamptz not null default clock_timestamp()
);

alter table leagues.prize add column paid_at timestamptz not null default 'epoch';
update leagues.prize set paid_at = game_result.finished_at from leagues.game_result
  where game_result.table_id = prize.table_id and game_result.account_id = prize.account_id;
-- squawk-ignore require-concurrent-index-deletion
drop index leagues.prize_account;
create index prize_week on leagues.prize (account_id, week_id);

create table leagues.prize_return (
  table_id uuid not null,
  account_id uuid not null references leagues.account,
  week_id text not null check (week_id ~ '^\d{4}-W\d{2}$'),
  coins bigint not null check (coins between 1 and 9007199254740991),
  primary key (table_id, account_id)
);

alter table leagues.standing add column reached_at timestamptz;
update leagues.standing set reached_at = (
  select max(paid_at) from leagues.prize
  where prize.account_id = standing.account_id and prize.week_id = standing.week_id
) where points > 0;

create table leagues.friends_standing (
  account_id uuid not null references leagues.account,
  week_id text not null check (week_id ~ '^\d{4}-W\d{2}$'),
  points bigint not null check (points between 0 and 9007199254740991),
  games integer not null check (games > 0),
  reached_at timestamptz not null,
  primary key (account_id, week_id)
);
create index friends_standing_order on leagues.friends_standing (week_id, points desc, games, reached_at, account_id)
"""


def upgrade() -> None:
    for statement in DDL.split(";"):
        op.execute(statement)
