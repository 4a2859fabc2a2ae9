"""What the chassis's tests write into."""

from alembic import op

from libs.chassis.events.schema import create_event_tables

revision = "0001"
down_revision = None


def upgrade() -> None:
    create_event_tables(op.execute, "sample")
    op.execute("create table sample.counter (key bytea primary key, n integer not null)")
    op.execute(
        "create table sample.note (id bigint generated always as identity primary key, consumer text not null, "
        "key bytea not null, n integer not null)"
    )
