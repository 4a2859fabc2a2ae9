"""The in-process bus of the embedded run: published means that every consumer has committed or parked."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence

from libs.chassis.events.bus import Listener, Subscription
from libs.chassis.events.delivery import Delivery
from libs.chassis.events.envelope import Event


class MemoryBus:
    """Same contract as Kafka within one process. What is not yet acknowledged still lies in the outbox."""

    def __init__(self, *, deliveries: int = 1) -> None:
        """`deliveries` > 1 delivers everything so many times, for tests."""
        self._consumers: dict[str, list[Delivery]] = defaultdict(list)
        self._listeners: dict[str, list[Listener]] = defaultdict(list)
        self._deliveries = deliveries

    def subscribe(self, subscription: Subscription) -> None:
        self._consumers[subscription.topic].append(Delivery(subscription))

    def listen(self, listener: Listener) -> None:
        self._listeners[listener.topic].append(listener)

    async def publish(self, events: Sequence[Event]) -> None:
        for event in events:
            async with asyncio.TaskGroup() as group:
                for delivery in self._consumers[event.topic]:
                    group.create_task(self._deliver(delivery, event))
            for listener in self._listeners[event.topic]:
                listener.take(event.payload)

    async def _deliver(self, delivery: Delivery, event: Event) -> None:
        for _ in range(self._deliveries):
            await delivery.take(event)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for deliveries in self._consumers.values():
                for delivery in deliveries:
                    group.create_task(delivery.keep_retrying())
            await asyncio.Event().wait()  # where nothing is consumed too
