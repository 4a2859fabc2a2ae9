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
    sa.Column("started_at", sa.DateTime(timezone=True)),
    sa.Column("ended_at", sa.DateTime(timezone=True)),
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

finished_game = sa.Table(
    "finished_game",
    _metadata,
    sa.Column("table_id", sa.Uuid, primary_key=True),
    sa.Column("week_id", sa.Text, nullable=False),
    sa.Column("day_id", sa.Text, nullable=False),
    sa.Column("finished_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("classic", sa.Boolean, nullable=False),
    sa.Column("tariff", sa.Text),
)

departure = sa.Table(
    "departure",
    _metadata,
    sa.Column("table_id", sa.Uuid, primary_key=True),
    sa.Column("account_id", sa.Uuid, primary_key=True),
    sa.Column("at", sa.DateTime(timezone=True), nullable=False),
)

telling = sa.Table(
    "telling",
    _metadata,
    sa.Column("opens_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("since", sa.DateTime(timezone=True)),
)

seat = sa.Table(
    "seat",
    _metadata,
    sa.Column("table_id", sa.Uuid, primary_key=True),
    sa.Column("account_id", sa.Uuid, primary_key=True),
    sa.Column("guest", sa.Boolean, nullable=False),
    sa.Column("room", sa.Integer, nullable=False),
    sa.Column("place", sa.Integer, nullable=False),
    sa.Column("counts", sa.Boolean, nullable=False),
    sa.Column("vacated", sa.Boolean, nullable=False),
)

reversal = sa.Table(
    "reversal",
    _metadata,
    sa.Column("table_id", sa.Uuid, primary_key=True),
    sa.Column("account_id", sa.Uuid, primary_key=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("after_seal", sa.Boolean, nullable=False),
    sa.Column("at", sa.DateTime(timezone=True), nullable=False),
)

week = sa.Table(
    "week",
    _metadata,
    sa.Column("week_id", sa.Text, primary_key=True),
    sa.Column("sealed_at", sa.DateTime(timezone=True)),
)

week_total = sa.Table(
    "week_total",
    _metadata,
    sa.Column("week_id", sa.Text, primary_key=True),
    sa.Column("account_id", sa.Uuid, primary_key=True),
    sa.Column("coins", sa.BigInteger, nullable=False),
    sa.Column("prizes", sa.Integer, nullable=False),
)

day_share = sa.Table(
    "day_share",
    _metadata,
    sa.Column("account_id", sa.Uuid, primary_key=True),
    sa.Column("day_id", sa.Text, primary_key=True),
    sa.Column("kind", sa.Text, primary_key=True),
    sa.Column("used", sa.Integer, nullable=False),
)

analysis = sa.Table(
    "analysis",
    _metadata,
    sa.Column("table_id", sa.Uuid, primary_key=True),
    sa.Column("account_id", sa.Uuid, primary_key=True),
    sa.Column("grade", sa.Text, nullable=False),
    sa.Column("runs", sa.SmallInteger, nullable=False),
)
