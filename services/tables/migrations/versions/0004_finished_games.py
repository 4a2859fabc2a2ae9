"""Quick games by the week in which they finished: the wallet seals a week by them."""

from alembic import op

revision = "0004"
down_revision = "0003"

# Of games that had finished before: the week of their record, else that of their end in the platform's zone as shipped.
DDL = """
create table tables.finished_game (
  week_id text not null check (week_id ~ '^[0-9]{4}-W[0-9]{2}$'),
  table_id uuid not null,
  primary key (week_id, table_id)
);
insert into tables.finished_game (week_id, table_id)
select coalesce(r.week_id, to_char(h.ended_at at time zone 'Europe/Bucharest', 'IYYY"-W"IW')), h.table_id
  from tables.table_head h left join tables.game_record r using (table_id)
 where h.status = 'finished' and h.kind = 1 and h.ended_at is not null
on conflict do nothing;
"""


def upgrade() -> None:
    for statement in DDL.split(";"):
        if statement.strip():
            op.execute(statement)
