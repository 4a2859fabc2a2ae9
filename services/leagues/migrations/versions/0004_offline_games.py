"""Games played offline and uploaded, and what tells them from games played here."""

from alembic import op

revision = "0004"
down_revision = "0003"

DDL = r"""
create table leagues.offline_game (
  digest bytea primary key check (length(digest) = 32),
  account_id uuid not null references leagues.account,
  game text not null,
  day_id text not null check (day_id ~ '^\d{4}-\d{2}-\d{2}$'),
  counted boolean not null,
  experience integer not null check (experience >= 0 and (counted or experience = 0)),
  uploaded_at timestamptz not null default clock_timestamp()
);
create index offline_game_day on leagues.offline_game (account_id, day_id) include (counted, experience);

create table leagues.online_game (
  commitment bytea primary key check (length(commitment) = 32)
)
"""


def upgrade() -> None:
    for statement in DDL.split(";"):
        op.execute(statement)
