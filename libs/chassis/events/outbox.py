"""The publishing side of a transaction: an `event` row to keep and an `outbox` row to send."""

import zlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, TypedDict
from uuid import UUID

import sqlalchemy as sa
from google.protobuf.message import Message
from sqlalchemy.ext.asyncio import AsyncConnection

from libs.chassis.entropy import Entropy
from libs.chassis.events.schema import BUCKETS
from libs.chassis.telemetry.tracing import current_traceparent


class _Row(TypedDict):
    bucket: int
    event_id: UUID
    topic: str
    key: bytes
    type: str
    payload: bytes
    traceparent: str
    occurred_at: datetime


def bucket_of(key: bytes) -> int:
    """Which relay carries this key: stable across processes and versions."""
    return zlib.crc32(key) % BUCKETS


class Outbox:
    """Writes events of one service's schema inside the caller's transaction."""

    def __init__(self, schema: str, entropy: Entropy) -> None:
        self.schema = schema
        self._entropy = entropy
        # One statement, so that the two rows cannot part; occurred_at is the database's clock.
        self._insert = sa.text(
            f"""
            with kept as (
              insert into {schema}.event (event_id, topic, key, type, payload, traceparent, occurred_at)
              values (:event_id, :topic, :key, :type, :payload, :traceparent, :occurred_at)
            )
            insert into {schema}.outbox (bucket, event_id, topic, key, type, payload, traceparent)
            values (:bucket, :event_id, :topic, :key, :type, :payload, :traceparent)
            """  # noqa: S608 - the schema is a constant of the service
        )

        self._insert_all = sa.text(
            f"""
            with given as (
              select * from unnest(
                cast(:bucket as smallint[]), cast(:event_id as uuid[]), cast(:topic as text[]), cast(:key as bytea[]),
                cast(:type as text[]), cast(:payload as bytea[]), cast(:traceparent as text[]),
                cast(:occurred_at as timestamptz[])
              ) with ordinality as one (bucket, event_id, topic, key, type, payload, traceparent, occurred_at, n)
            ), kept as (
              insert into {schema}.event (event_id, topic, key, type, payload, traceparent, occurred_at)
              select event_id, topic, key, type, payload, traceparent, occurred_at from given
            )
            insert into {schema}.outbox (bucket, event_id, topic, key, type, payload, traceparent)
            select bucket, event_id, topic, key, type, payload, traceparent from given order by n
            """  # noqa: S608 - the schema is a constant of the service
        )

    async def add(self, connection: AsyncConnection, topic: str, key: bytes, message: Message) -> UUID:
        """Fill `event_id` and `occurred_at` where unset and write both rows. Returns the event's id."""
        moment = None if message.HasField("occurred_at") else await _now(connection)
        row = self._row(topic, key, message, moment)
        await connection.execute(self._insert, row)
        return row["event_id"]

    async def add_all(
        self,
        connection: AsyncConnection,
        topic: str,
        messages: Sequence[tuple[bytes, Message]],
        *,
        at: datetime | None = None,
    ) -> None:
        """`add` for many at once, (key, message) in order: one moment, and one round trip for the rows.

        `at`: the database's clock as this transaction has read it; without it, it is asked.
        """
        if not messages:
            return
        moment = await _now(connection) if at is None else at
        rows = [self._row(topic, key, message, moment) for key, message in messages]
        columns: dict[str, list[object]] = {name: [] for name in rows[0]}
        for row in rows:
            for name, value in row.items():
                columns[name].append(value)
        await connection.execute(self._insert_all, columns)

    def _row(self, topic: str, key: bytes, message: Any, moment: datetime | None) -> _Row:
        # Every event message has these fields, by convention.
        if not message.event_id:
            message.event_id = self._entropy.uuid7().bytes
        if moment is not None and not message.HasField("occurred_at"):
            message.occurred_at.FromDatetime(moment)
        return {
            "bucket": bucket_of(key),
            "event_id": UUID(bytes=message.event_id),
            "topic": topic,
            "key": key,
            "type": message.WhichOneof("event") or "",
            "payload": message.SerializeToString(),
            "traceparent": current_traceparent(),
            "occurred_at": message.occurred_at.ToDatetime(tzinfo=UTC),
        }


async def _now(connection: AsyncConnection) -> datetime:
    moment: datetime = (await connection.execute(sa.text("select clock_timestamp()"))).scalar_one()
    return moment
