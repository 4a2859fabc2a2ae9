"""The tables as SQLAlchemy sees them; DDL and constraints stand in migrations/."""

import sqlalchemy as sa

SCHEMA = "matchmaking"

_metadata = sa.MetaData(schema=SCHEMA)

match = sa.Table(
    "match",
    _metadata,
    sa.Column("table_id", sa.Uuid, primary_key=True),
    sa.Column("mode", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("next_try_at", sa.DateTime(timezone=True), nullable=False),
)
ticket = sa.Table(
    "ticket",
    _metadata,
    sa.Column("ticket_id", sa.Uuid, primary_key=True),
    sa.Column("account_id", sa.Uuid, nullable=False),
    sa.Column("guest", sa.Boolean, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("room", sa.SmallInteger, nullable=False),
    sa.Column("mode", sa.Text, nullable=False),
    sa.Column("coffee", sa.Text, nullable=False),
    sa.Column("tier", sa.SmallInteger, nullable=False),
    sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("table_id", sa.Uuid),
    sa.Column("failures", sa.SmallInteger, nullable=False),
    sa.Column("dropped_reason", sa.Text, nullable=False),
    sa.Column("linkage", sa.LargeBinary, nullable=False),
)
pool_lease = sa.Table(
    "pool_lease",
    _metadata,
    sa.Column("mode", sa.Text, primary_key=True),
    sa.Column("owner", sa.Uuid, nullable=False),
    sa.Column("until", sa.DateTime(timezone=True), nullable=False),
)
standing = sa.Table(
    "standing",
    _metadata,
    sa.Column("account_id", sa.Uuid, primary_key=True),
    sa.Column("level", sa.Integer, nullable=False),
    sa.Column("tier", sa.SmallInteger, nullable=False),
    sa.Column("level_told_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("tier_told_at", sa.DateTime(timezone=True), nullable=False),
)
admission = sa.Table(
    "admission",
    _metadata,
    sa.Column("account_id", sa.Uuid, primary_key=True),
    sa.Column("closed_reason", sa.Text, nullable=False),
    sa.Column("told_at", sa.DateTime(timezone=True), nullable=False),
)
