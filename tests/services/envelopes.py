"""A service's event as the bus carries it."""

from typing import Any
from uuid import UUID

from libs.chassis.events.envelope import Event


def enveloped(topic: str, key: bytes, message: Any) -> Event:
    """With the message's own id, which it must have."""
    return Event(
        topic=topic,
        key=key,
        event_id=UUID(bytes=message.event_id),
        type=message.WhichOneof("event") or "",
        payload=message.SerializeToString(),
    )
