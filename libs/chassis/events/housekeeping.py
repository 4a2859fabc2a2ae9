"""Daily partitions of `event` made ahead, old ones dropped, and inbox rows that no redelivery can reach removed."""

from datetime import timedelta

import sqlalchemy as sa

from libs.chassis.db.database import Database

KEPT = timedelta(days=35)  # longer than any broker's retention, so that a redrive finds everything
AHEAD_DAYS = 3


async def keep_event_tables(database: Database) -> None:
    """Idempotent; several replicas may run it at once."""
    schema = database.schema
    async with database.begin() as connection:
        lock = {"name": f"{schema}.event"}
        if not (
            await connection.execute(sa.text("select pg_try_advisory_xact_lock(hashtext(:name), 99)"), lock)
        ).scalar_one():
            return
        today = (await connection.execute(sa.text("select (clock_timestamp() at time zone 'UTC')::date"))).scalar_one()
        for ahead in range(1, AHEAD_DAYS + 1):
            # Tomorrow and later only: today's rows may already lie in the default partition.
            day = today + timedelta(days=ahead)
            await connection.execute(
                sa.text(
                    f"create table if not exists {schema}.event_{day:%Y%m%d} partition of {schema}.event "
                    f"for values from ('{day} 00:00+00') to ('{day + timedelta(days=1)} 00:00+00')"
                )
            )
        names = await connection.execute(
            sa.text(
                "select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid "
                "where i.inhparent = cast(:parent as regclass)"
            ),
            {"parent": f"{schema}.event"},
        )
        oldest = f"event_{today - KEPT:%Y%m%d}"
        for name in names.scalars():
            if name != "event_default" and name < oldest:
                await connection.execute(sa.text(f"drop table {schema}.{name}"))
        for table, column in (("event_default", "occurred_at"), ("inbox", "at")):
            await connection.execute(
                sa.text(f"delete from {schema}.{table} where {column} < clock_timestamp() - cast(:kept as interval)"),  # noqa: S608
                {"kept": KEPT},
            )
