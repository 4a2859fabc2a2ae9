"""The schema as SQLAlchemy knows it; constraints stand in the migrations."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB, UUID

SCHEMA = "coach"

_metadata = sa.MetaData(schema=SCHEMA)

game = sa.Table(
    "game",
    _metadata,
    sa.Column("table_id", UUID(as_uuid=True), primary_key=True),
    sa.Column("state", sa.Text, nullable=False),
    # Null where a voided game is the first that was heard of a table.
    sa.Column("kind", sa.Text),
    sa.Column("mode", sa.Text),
    sa.Column("game", sa.Text),
    sa.Column("week_id", sa.Text),
    sa.Column("day_id", sa.Text),
    # [seat, account in hex, hints] of each person at the end.
    sa.Column("people", JSONB),
    # Compressed, while the game waits.
    sa.Column("record", sa.LargeBinary),
    sa.Column("story", JSONB(none_as_null=True)),
    sa.Column("heard_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.text("clock_timestamp()")),
    sa.Column("due_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.text("clock_timestamp()")),
    sa.Column("tries", sa.Integer, nullable=False, server_default="0"),
)

analysis = sa.Table(
    "analysis",
    _metadata,
    sa.Column("table_id", UUID(as_uuid=True), primary_key=True),
    sa.Column("account_id", UUID(as_uuid=True), primary_key=True),
    sa.Column("seat", sa.SmallInteger, nullable=False),
    sa.Column("offered", sa.Boolean, nullable=False),
    sa.Column("grade", sa.Text, nullable=False),
    sa.Column("runs_of_seven", sa.SmallInteger, nullable=False),
    sa.Column("analysis", sa.LargeBinary, nullable=False),  # compressed JSON
)
