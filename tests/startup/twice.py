"""At least once, taken at its word: each event comes twice, and an earlier one of any key comes once more after it.

X18: whoever consumes must be none the wiser. It holds for the in-process bus and for Kafka alike, since
both hand their events to `Delivery.take`; the late repetition is what a rebalance or a redrive does, under another
offset and out of order.
"""

from collections import defaultdict, deque
from weakref import WeakKeyDictionary

from libs.chassis.events.bus import Listener
from libs.chassis.events.delivery import Delivery
from libs.chassis.events.envelope import Event

REMEMBERED = 64  # events a consumer, of which the oldest and the ones between come again in turn
STRIDE = 23  # coprime to what is remembered: each is hit, and never in the order in which they came


def deliver_twice() -> None:
    """For the rest of the process."""
    take, hear = Delivery.take, Listener.take
    past: WeakKeyDictionary[Delivery, deque[Event]] = WeakKeyDictionary()
    steps: dict[str, int] = defaultdict(int)

    async def take_again(delivery: Delivery, event: Event) -> None:
        await take(delivery, event)
        await take(delivery, event)
        if delivery.subscription.types and event.type not in delivery.subscription.types:
            return
        earlier = past.setdefault(delivery, deque(maxlen=REMEMBERED))
        earlier.append(event)
        steps[delivery.subscription.consumer] += STRIDE
        await take(delivery, earlier[steps[delivery.subscription.consumer] % len(earlier)])

    def hear_again(listener: Listener, payload: bytes) -> None:
        hear(listener, payload)
        hear(listener, payload)

    setattr(Delivery, take.__name__, take_again)
    setattr(Listener, hear.__name__, hear_again)
