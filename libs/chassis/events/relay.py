"""From outbox to bus: in order by key, deleted only after the bus has acknowledged."""

import asyncio
from uuid import UUID

import sqlalchemy as sa
import structlog

from libs.chassis.db.database import Database
from libs.chassis.events.bus import Bus
from libs.chassis.events.envelope import Event
from libs.chassis.telemetry.metrics import events_published, outbox_waiting

log = structlog.get_logger()

BATCH_MAX = 500  # events a transaction; bounds what is sent again after a crash
IDLE_SECONDS = 1.0  # another replica's commits are seen this late; our own wake us at once


class Relay:
    """One a process. Replicas share the buckets by advisory locks, so that a key has one sender at a time.

    Row-level SKIP LOCKED alone would publish out of order, and a cursor over ids loses events that commit late.
    """

    def __init__(self, database: Database, bus: Bus) -> None:
        self._database = database
        self._bus = bus
        self._wake = asyncio.Event()
        schema = database.schema
        self._pending = sa.text(f"select bucket, count(*) from {schema}.outbox group by bucket")  # noqa: S608
        self._lock = sa.text("select pg_try_advisory_xact_lock(hashtext(:lock), :bucket)")
        self._take = sa.text(
            "select id, event_id, topic, key, type, payload, traceparent "  # noqa: S608 - constant schema
            f"from {schema}.outbox where bucket = :bucket order by id limit :limit"
        )
        self._delete = sa.text(f"delete from {schema}.outbox where id = any(:ids)")  # noqa: S608

    def wake(self) -> None:
        """Look now: something was committed."""
        self._wake.set()

    async def run(self) -> None:
        """Relay until cancelled; a failing bus or database is tried again."""
        while True:
            self._wake.clear()
            try:
                moved = await self.step()
            except Exception:
                log.exception("relay_failed", service=self._database.schema)
                await asyncio.sleep(IDLE_SECONDS)
                continue
            if not moved:
                try:
                    async with asyncio.timeout(IDLE_SECONDS):
                        await self._wake.wait()
                except TimeoutError:
                    pass

    async def step(self) -> int:
        """Relay once over all buckets that have something; returns how many events were published."""
        async with self._database.engine.connect() as connection:
            pending = (await connection.execute(self._pending)).all()
        outbox_waiting.labels(self._database.schema).set(sum(count for _, count in pending))
        moved = 0
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._bucket(bucket)) for bucket, _ in pending[:2]]
        moved = sum(task.result() for task in tasks)
        for bucket, _ in pending[2:]:
            moved += await self._bucket(bucket)
        return moved

    async def _bucket(self, bucket: int) -> int:
        async with self._database.begin() as connection:
            lock = {"lock": f"{self._database.schema}.outbox", "bucket": bucket}
            if not (await connection.execute(self._lock, lock)).scalar_one():
                return 0
            rows = (await connection.execute(self._take, {"bucket": bucket, "limit": BATCH_MAX})).all()
            if not rows:
                return 0
            events = [
                Event(
                    topic=row.topic,
                    key=bytes(row.key),
                    event_id=row.event_id if isinstance(row.event_id, UUID) else UUID(str(row.event_id)),
                    type=row.type,
                    payload=bytes(row.payload),
                    traceparent=row.traceparent,
                )
                for row in rows
            ]
            await self._bus.publish(events)
            await connection.execute(self._delete, {"ids": [row.id for row in rows]})
        for event in events:
            events_published.labels(self._database.schema, event.type).inc()
        return len(events)
