"""A secret is drawn for one game: another record of it is the same game in other clothes.

Of games credited before only deals and moves are known.
"""

from alembic import op

revision = "0005"
down_revision = "0004"

DDL = r"""
alter table leagues.offline_game add column commitment bytea check (length(commitment) = 32);

create unique index offline_game_commitment on leagues.offline_game (commitment)
"""


def upgrade() -> None:
    for statement in DDL.split(";"):
        op.execute(statement)
