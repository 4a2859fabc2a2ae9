"""The port between services: publish in order by key, deliver at least once."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import structlog
from google.protobuf.message import Message

from libs.chassis.db.database import Database, Transaction
from libs.chassis.events.envelope import Event

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """One consumer of one topic.

    `handle(transaction, message)` makes its effect inside `transaction`, in which the event's id is recorded too;
    it is called at most once with effect however often the event comes. It must not call other services with
    effects that a rollback could not take back.
    """

    consumer: str
    topic: str
    message: type[Message]
    handle: Callable[[Any, Any], Awaitable[None]]
    transaction: Callable[[], AbstractAsyncContextManager[Transaction]]
    database: Database
    # What `handle` does something about, by the names in the message's oneof; other events cost this consumer nothing.
    # Empty: all of them.
    types: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """One replica's own ear on a topic: every replica hears every event published while it runs.

    Nothing is recorded, so an event may come twice or, while the broker is away, not at all; `handle` must bear both.
    """

    topic: str
    message: type[Message]
    handle: Callable[[Any], None]

    def take(self, payload: bytes) -> None:
        """Parse and handle one event. What the handler raises is logged: nobody else waits for this ear."""
        try:
            message = self.message()
            message.ParseFromString(payload)
            self.handle(message)
        except Exception:  # the consumer loop is where faults end (CONTRIBUTING, style 3)
            log.exception("listener_failed", topic=self.topic)


class Bus(Protocol):
    """Carries events. An event counts as published when it cannot be lost any more."""

    async def publish(self, events: Sequence[Event]) -> None:
        """Return when every event is acknowledged, in order by key. Raises when one is not; all may then repeat."""
        ...

    def subscribe(self, subscription: Subscription) -> None:
        """Before `run`."""
        ...

    def listen(self, listener: Listener) -> None:
        """Before `run`. Only what is published from then on is heard."""
        ...

    async def run(self) -> None:
        """Deliver until cancelled."""
        ...
