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
GATHER_SECONDS = 0.1  # between two transactions under load: each has a price, whatever it carries
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
        # The locks come before the rows are read, in a statement of their own: a bucket's last sender has committed.
        self._lock = sa.text(
            f"with waiting as materialized (select bucket, count(*) as n from {schema}.outbox group by bucket) "  # noqa: S608
            "select bucket, n, pg_try_advisory_xact_lock(hashtext(:lock), bucket) as ours from waiting"
        )
        self._take = sa.text(
            "select id, event_id, topic, key, type, payload, traceparent "  # noqa: S608 - constant schema
            f"from {schema}.outbox where bucket = any(:buckets) order by id limit :limit"
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
            if moved:
                await asyncio.sleep(GATHER_SECONDS)
                continue
            try:
                async with asyncio.timeout(IDLE_SECONDS):
                    await self._wake.wait()
            except TimeoutError:
                pass

    async def step(self) -> int:
        """Relay the oldest events of all buckets that nobody else sends from; returns how many were published."""
        async with self._database.begin() as connection:
            buckets = (await connection.execute(self._lock, {"lock": f"{self._database.schema}.outbox"})).all()
            outbox_waiting.labels(self._database.schema).set(sum(bucket.n for bucket in buckets))
            ours = [bucket.bucket for bucket in buckets if bucket.ours]
            if not ours:
                return 0
            rows = (await connection.execute(self._take, {"buckets": ours, "limit": BATCH_MAX})).all()
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
