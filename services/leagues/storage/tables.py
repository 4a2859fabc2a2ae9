"""The schema as SQLAlchemy knows it; constraints stand in the migrations."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import UUID

SCHEMA = "leagues"

_metadata = sa.MetaData(schema=SCHEMA)

account = sa.Table(
    "account",
    _metadata,
    sa.Column("account_id", UUID(as_uuid=True), primary_key=True),
    # Null until auth has told us: results and prizes may come first.
    sa.Column("guest", sa.Boolean),
    sa.Column("experience", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("level", sa.Integer, nullable=False, server_default="1"),
    sa.Column("games", sa.BigInteger, nullable=False, server_default="0"),
)

game_result = sa.Table(
    "game_result",
    _metadata,
    sa.Column("table_id", UUID(as_uuid=True), primary_key=True),
    sa.Column("account_id", UUID(as_uuid=True), primary_key=True),
    sa.Column("week_id", sa.Text, nullable=False),
    sa.Column("finished_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("place", sa.SmallInteger, nullable=False),
    sa.Column("own_bids", sa.SmallInteger, nullable=False),
    sa.Column("own_made", sa.SmallInteger, nullable=False),
    sa.Column("rounds", sa.SmallInteger, nullable=False),
    sa.Column("counted", sa.Boolean, nullable=False),
    sa.Column("experience", sa.Integer, nullable=False),
)

prize = sa.Table(
    "prize",
    _metadata,
    sa.Column("table_id", UUID(as_uuid=True), primary_key=True),
    sa.Column("account_id", UUID(as_uuid=True), primary_key=True),
    sa.Column("week_id", sa.Text, nullable=False),
    sa.Column("coins", sa.BigInteger, nullable=False),
)

standing = sa.Table(
    "standing",
    _metadata,
    sa.Column("account_id", UUID(as_uuid=True), primary_key=True),
    sa.Column("week_id", sa.Text, primary_key=True),
    sa.Column("points", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("games", sa.Integer, nullable=False, server_default="0"),
)
