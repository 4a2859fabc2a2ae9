"""The wallet's tables, for queries; their constraints and triggers are in the migrations."""

import sqlalchemy as sa

SCHEMA = "wallet"

_metadata = sa.MetaData(schema=SCHEMA)

transfer = sa.Table(
    "transfer",
    _metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("key", sa.Text, nullable=False, unique=True),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("table_id", sa.Uuid),
    sa.Column("at", sa.DateTime(timezone=True), nullable=False),
)

posting = sa.Table(
    "posting",
    _metadata,
    sa.Column("n", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column("transfer_id", sa.Uuid, nullable=False),
    # Exactly one of the two is set.
    sa.Column("account_id", sa.Uuid),
    sa.Column("house", sa.Text),
    sa.Column("asset", sa.Text, nullable=False),
    sa.Column("amount", sa.BigInteger, nullable=False),
)

balance = sa.Table(
    "balance",
    _metadata,
    sa.Column("account_id", sa.Uuid, primary_key=True),
    sa.Column("asset", sa.Text, primary_key=True),
    sa.Column("amount", sa.BigInteger, nullable=False),
)

game = sa.Table(
    "game",
    _metadata,
    sa.Column("table_id", sa.Uuid, primary_key=True),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("at", sa.DateTime(timezone=True), nullable=False),
)

hold = sa.Table(
    "hold",
    _metadata,
    sa.Column("table_id", sa.Uuid, primary_key=True),
    sa.Column("account_id", sa.Uuid, primary_key=True),
    sa.Column("room", sa.SmallInteger, nullable=False),
    sa.Column("coffee", sa.Text, nullable=False),
    sa.Column("coins", sa.BigInteger, nullable=False),
    sa.Column("bars", sa.BigInteger, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("at", sa.DateTime(timezone=True), nullable=False),
)
