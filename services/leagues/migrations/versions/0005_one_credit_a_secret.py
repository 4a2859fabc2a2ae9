"""A secret brings an account experience once: a second record of it is the same game in other clothes, or was foreseen.

Not once for everybody: who agree on a seed play the same deals, each for themself.

Of games credited before only deals and moves are known.
"""

from alembic import op

revision = "0005"
down_revision = "0004"

DDL = r"""
alter table leagues.offline_game add column commitment bytea check (length(commitment) = 32);

create unique index offline_game_secret on leagues.offline_game (account_id, commitment)
"""


def upgrade() -> None:
    for statement in DDL.split(";"):
        op.execute(statement)
