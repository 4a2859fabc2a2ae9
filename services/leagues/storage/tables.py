"""The schema as SQLAlchemy knows it; constraints stand in the migrations."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import UUID

SCHEMA = "leagues"

_metadata = sa.MetaData(schema=SCHEMA)


def _id(name: str, *, key: bool = False) -> sa.Column[Any]:
    return sa.Column(name, UUID(as_uuid=True), primary_key=key, nullable=False)


def _moment(name: str, *, known: bool = True) -> sa.Column[Any]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=not known)


def _week(*, key: bool = False) -> sa.Column[Any]:
    return sa.Column("week_id", sa.Text, primary_key=key, nullable=False)


account = sa.Table(
    "account",
    _metadata,
    _id("account_id", key=True),
    # Null until auth has told us: results and prizes may come first.
    sa.Column("guest", sa.Boolean),
    sa.Column("deleted", sa.Boolean, nullable=False, server_default="false"),
    sa.Column("experience", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("level", sa.Integer, nullable=False, server_default="1"),
    sa.Column("games", sa.BigInteger, nullable=False, server_default="0"),
)

# ---- facts: rows that are never changed ----

game_result = sa.Table(
    "game_result",
    _metadata,
    _id("table_id", key=True),
    _id("account_id", key=True),
    sa.Column("kind", sa.Text, nullable=False),
    _week(),
    _moment("finished_at"),
    sa.Column("place", sa.SmallInteger, nullable=False),
    sa.Column("own_bids", sa.SmallInteger, nullable=False),
    sa.Column("own_made", sa.SmallInteger, nullable=False),
    sa.Column("rounds", sa.SmallInteger, nullable=False),
    sa.Column("counted", sa.Boolean, nullable=False),
    sa.Column("experience", sa.Integer, nullable=False),
    sa.Column("score", sa.SmallInteger, nullable=False),
)

voided_game = sa.Table("voided_game", _metadata, _id("table_id", key=True))

prize = sa.Table(
    "prize",
    _metadata,
    _id("table_id", key=True),
    _id("account_id", key=True),
    _week(),
    sa.Column("coins", sa.BigInteger, nullable=False),
    _moment("paid_at"),
)

prize_return = sa.Table(
    "prize_return",
    _metadata,
    _id("table_id", key=True),
    _id("account_id", key=True),
    _week(),
    sa.Column("coins", sa.BigInteger, nullable=False),
)

# ---- sums over them ----

standing = sa.Table(
    "standing",
    _metadata,
    _id("account_id", key=True),
    _week(key=True),
    sa.Column("points", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("games", sa.Integer, nullable=False, server_default="0"),
    _moment("reached_at", known=False),
)

friends_standing = sa.Table(
    "friends_standing",
    _metadata,
    _id("account_id", key=True),
    _week(key=True),
    sa.Column("points", sa.BigInteger, nullable=False),
    sa.Column("games", sa.Integer, nullable=False),
    _moment("reached_at"),
)

# ---- the weekly league ----

tier = sa.Table("tier", _metadata, _id("account_id", key=True), sa.Column("tier", sa.SmallInteger, nullable=False))

week = sa.Table(
    "week",
    _metadata,
    _week(key=True),
    sa.Column("next_week_id", sa.Text, nullable=False),
    sa.Column("stage", sa.Text, nullable=False),
    _moment("closed_at", known=False),
)

# The wallet's word on a sealed week, which the close is made from.
week_total = sa.Table(
    "week_total",
    _metadata,
    _week(key=True),
    _id("account_id", key=True),
    sa.Column("coins", sa.BigInteger, nullable=False),
    sa.Column("prizes", sa.Integer, nullable=False),
)

league_group = sa.Table(
    "league_group",
    _metadata,
    _id("group_id", key=True),
    _week(),
    sa.Column("tier", sa.SmallInteger, nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    _moment("closed_at", known=False),
)

group_member = sa.Table(
    "group_member",
    _metadata,
    _week(key=True),
    _id("account_id", key=True),
    _id("group_id"),
    sa.Column("position", sa.SmallInteger, nullable=False),
)

week_rank = sa.Table(
    "week_rank",
    _metadata,
    _week(key=True),
    _id("account_id", key=True),
    _id("group_id"),
    sa.Column("rank", sa.SmallInteger, nullable=False),
    sa.Column("ranked", sa.SmallInteger, nullable=False),
    sa.Column("points", sa.BigInteger, nullable=False),
    sa.Column("games", sa.Integer, nullable=False),
    _moment("reached_at", known=False),
    sa.Column("next_tier", sa.SmallInteger, nullable=False),
    sa.Column("podium_coins", sa.BigInteger, nullable=False),
    sa.Column("podium_bars", sa.BigInteger, nullable=False),
)

# ---- offline play ----

offline_game = sa.Table(
    "offline_game",
    _metadata,
    sa.Column("digest", sa.LargeBinary, primary_key=True),
    _id("account_id"),
    sa.Column("game", sa.Text, nullable=False),
    sa.Column("day_id", sa.Text, nullable=False),
    sa.Column("counted", sa.Boolean, nullable=False),
    sa.Column("experience", sa.Integer, nullable=False),
    # Null of games credited before it was kept.
    sa.Column("commitment", sa.LargeBinary),
)

online_game = sa.Table("online_game", _metadata, sa.Column("commitment", sa.LargeBinary, primary_key=True))
