"""An event as it travels: one protobuf message a topic, its id, type and trace in the headers."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event on the bus. `key` orders: events of one key are seen in the order they were published."""

    topic: str
    key: bytes
    event_id: UUID
    type: str
    payload: bytes
    traceparent: str = ""

    def headers(self) -> list[tuple[str, bytes]]:
        """Kafka headers."""
        pairs = [("event_id", self.event_id.bytes), ("type", self.type.encode())]
        if self.traceparent:
            pairs.append(("traceparent", self.traceparent.encode()))
        return pairs

    @classmethod
    def from_record(
        cls, topic: str, key: bytes | None, value: bytes | None, headers: list[tuple[str, bytes]]
    ) -> "Event":
        """Raises KeyError or ValueError for a record that is not one of ours."""
        if key is None or value is None:
            raise ValueError("a record without key or value could not even be parked")
        named = dict(headers)
        return cls(
            topic=topic,
            key=key,
            event_id=UUID(bytes=named["event_id"]),
            type=named["type"].decode(),
            payload=value,
            traceparent=named.get("traceparent", b"").decode(),
        )
