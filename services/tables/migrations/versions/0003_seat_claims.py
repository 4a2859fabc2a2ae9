"""One seat an account over quick play and friends' tables.

Games that were dealt before hold no claim: they end within the hour.
"""

from alembic import op

revision = "0003"
down_revision = "0002"

DDL = """
create table tables.seat_claim (
  account bytea primary key,
  table_id uuid not null
);
create index seat_claim_table on tables.seat_claim (table_id);
insert into tables.seat_claim (account, table_id) select account, table_id from tables.friends_seat where waiting;
"""


def upgrade() -> None:
    for statement in DDL.split(";"):
        if statement.strip():
            op.execute(statement)
