"""The port between services: publish in order by key, deliver at least once."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from google.protobuf.message import Message

from libs.chassis.db.database import Database, Transaction
from libs.chassis.events.envelope import Event


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


class Bus(Protocol):
    """Carries events. An event counts as published when it cannot be lost any more."""

    async def publish(self, events: Sequence[Event]) -> None:
        """Return when every event is acknowledged, in order by key. Raises when one is not; all may then repeat."""
        ...

    def subscribe(self, subscription: Subscription) -> None:
        """Before `run`."""
        ...

    async def run(self) -> None:
        """Deliver until cancelled."""
        ...
