"""The publishing side of a transaction: an `event` row to keep and an `outbox` row to send."""

import zlib
from datetime import UTC, datetime
from uuid import UUID

import sqlalchemy as sa
from google.protobuf.message import Message
from sqlalchemy.ext.asyncio import AsyncConnection

from libs.chassis.entropy import Entropy
from libs.chassis.events.schema import BUCKETS
from libs.chassis.telemetry.tracing import current_traceparent


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

    async def add(self, connection: AsyncConnection, topic: str, key: bytes, message: Message) -> UUID:
        """Fill `event_id` and `occurred_at` where unset and write both rows. Returns the event's id."""
        if not message.event_id:  # type: ignore[attr-defined] # every event message has it, by convention
            message.event_id = self._entropy.uuid7().bytes  # type: ignore[attr-defined]
        if not message.HasField("occurred_at"):
            now = (await connection.execute(sa.text("select clock_timestamp()"))).scalar_one()
            message.occurred_at.FromDatetime(now)  # type: ignore[attr-defined]
        event_id = UUID(bytes=message.event_id)  # type: ignore[attr-defined]
        occurred_at: datetime = message.occurred_at.ToDatetime(tzinfo=UTC)  # type: ignore[attr-defined]
        await connection.execute(
            self._insert,
            {
                "bucket": bucket_of(key),
                "event_id": event_id,
                "topic": topic,
                "key": key,
                "type": message.WhichOneof("event") or "",
                "payload": message.SerializeToString(),
                "traceparent": current_traceparent(),
                "occurred_at": occurred_at,
            },
        )
        return event_id
