"""The bus's contract, on the in-process bus and on a Kafka broker alike."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from libs.chassis.db import Store
from libs.chassis.errors import Unavailable
from libs.chassis.events import delivery
from libs.chassis.events.bus import Bus, Listener
from libs.chassis.events.delivery import TRIES, Delivery
from libs.chassis.events.kafka import KafkaBus, ensure_topics
from libs.chassis.events.memory import MemoryBus
from tests.chassis.sample import Reader, SampleTransaction, delivering, event, rows, until
from whist.leagues.v1.events_pb2 import LeaguesEvent

MakeBus = Callable[[str], Awaitable[Bus]]


@pytest.fixture(params=["memory", "kafka"])
def make_bus(request: pytest.FixtureRequest) -> MakeBus:
    """``await make_bus(topic)``: a new bus of one process."""

    async def make(topic: str) -> Bus:
        if request.param == "memory":
            return MemoryBus()
        bootstrap = request.getfixturevalue("kafka")
        await ensure_topics(bootstrap, [topic], partitions=4)
        return KafkaBus(bootstrap)

    if request.param == "kafka":
        request.getfixturevalue("kafka")
    return make


@pytest.fixture
def topic(new_topic: Callable[[], str]) -> str:
    return new_topic()


@asynccontextmanager
async def heard_by(bus: Bus, *readers: Reader) -> AsyncIterator[None]:
    for reader in readers:
        bus.subscribe(reader.subscription)
    async with delivering(bus):
        yield


async def test_order_is_kept_by_key(make_bus: MakeBus, store: Store[SampleTransaction], topic: str) -> None:
    bus, reader = await make_bus(topic), Reader(store, topic)
    keys = [bytes([65 + at]) * 16 for at in range(8)]
    async with heard_by(bus, reader):
        await bus.publish([event(topic, key, number) for number in range(25) for key in keys])
        await until(lambda: noted(reader, 200))
    for key in keys:
        assert await reader.notes(key) == list(range(25))


async def test_x18_what_comes_twice_has_its_effect_once(
    make_bus: MakeBus, store: Store[SampleTransaction], topic: str
) -> None:
    bus, reader = await make_bus(topic), Reader(store, topic)
    events = [event(topic, b"k" * 16, number) for number in range(10)]
    last = event(topic, b"k" * 16, 99)
    async with heard_by(bus, reader):
        await bus.publish(events)
        await asyncio.gather(bus.publish(events), bus.publish(events))
        await bus.publish([last])
        await until(lambda: noted(reader, 11))
    assert await reader.notes(b"k" * 16) == [*range(10), 99]


async def test_every_consumer_gets_every_event(make_bus: MakeBus, store: Store[SampleTransaction], topic: str) -> None:
    bus = await make_bus(topic)
    first, second = Reader(store, topic), Reader(store, topic)
    second.consumer = f"{topic}.second"
    object.__setattr__(second.subscription, "consumer", second.consumer)
    async with heard_by(bus, first, second):
        await bus.publish([event(topic, b"k" * 16, 1)])
        await until(lambda: noted(first, 1))
        await until(lambda: noted(second, 1))


async def test_an_event_of_another_type_costs_a_consumer_nothing(store: Store[SampleTransaction], topic: str) -> None:
    bus, reader = MemoryBus(), Reader(store, topic)
    object.__setattr__(reader.subscription, "types", frozenset({"week_closed"}))
    bus.subscribe(reader.subscription)
    await bus.publish([event(topic, b"k" * 16, 1)])
    object.__setattr__(reader.subscription, "types", frozenset({"level_reached"}))
    await bus.publish([event(topic, b"k" * 16, 2)])
    assert reader.heard == [(b"k" * 16, 2)]
    assert [
        row.n
        for row in await rows(
            store.database, "select count(*) as n from sample.inbox where consumer = :who", who=reader.consumer
        )
    ] == [1]


async def test_b11_a_poisoned_key_parks_after_five_tries_while_others_go_on_and_heals_in_order(
    make_bus: MakeBus, store: Store[SampleTransaction], topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "FIRST_PAUSE_SECONDS", 0.001)
    sick, well = b"sick" * 4, b"well" * 4
    poisoned = True

    async def poison(key: bytes, number: int) -> None:
        if poisoned and key == sick and number == 13:
            raise ValueError("poison")

    bus, reader = await make_bus(topic), Reader(store, topic, poison)
    async with heard_by(bus, reader):
        await bus.publish([event(topic, sick, 12), event(topic, sick, 13), event(topic, sick, 14)])
        await bus.publish([event(topic, well, number) for number in range(5)])
        await until(lambda: noted(reader, 6))
        await bus.publish([event(topic, sick, 15)])
        await until(lambda: parked(reader, 3))
        assert await reader.parked() == [(sick, 13, TRIES), (sick, 14, 0), (sick, 15, 0)]
        assert reader.heard.count((sick, 13)) == TRIES
        assert await reader.notes(sick) == [12]
        assert await reader.notes(well) == [0, 1, 2, 3, 4]

        operator = Delivery(reader.subscription)
        assert await operator.retry_parked() == 0, "not due yet"
        assert reader.heard.count((sick, 13)) == TRIES
        assert await operator.retry_parked(everything=True) == 0, "still poisoned"
        assert await reader.parked() == [(sick, 13, TRIES + 1), (sick, 14, 0), (sick, 15, 0)]

        poisoned = False
        healed = await asyncio.gather(*(operator.retry_parked(everything=True) for _ in range(3)))
        assert sum(healed) == 3
        await bus.publish([event(topic, sick, 16)])
        await until(lambda: noted(reader, 10))
    assert await reader.notes(sick) == [12, 13, 14, 15, 16]
    assert await reader.parked() == []


async def test_a_bus_outlives_a_database_that_is_away_while_it_looks_for_parked_events(
    make_bus: MakeBus, store: Store[SampleTransaction], topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "FIRST_PAUSE_SECONDS", 0.001)
    monkeypatch.setattr(delivery, "PARKED_CHECK_SECONDS", 0.01)
    monkeypatch.setattr(delivery, "PARKED_RETRY", timedelta())
    poisoned = True

    async def poison(key: bytes, number: int) -> None:
        if poisoned:
            raise ValueError("poison")

    bus, reader = await make_bus(topic), Reader(store, topic, poison)
    async with heard_by(bus, reader):
        await bus.publish([event(topic, b"sick" * 4, 1)])
        await until(lambda: parked(reader, 1))
        with capture_logs() as logs:
            await rows(store.database, "alter table sample.parked rename to parked_away")
            await until(lambda: said("parked_retry_failed", logs))
            await rows(store.database, "alter table sample.parked_away rename to parked")
        poisoned = False
        await until(lambda: noted(reader, 1))


async def test_a_passing_fault_is_waited_out_and_never_parks(
    make_bus: MakeBus, store: Store[SampleTransaction], topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "FIRST_PAUSE_SECONDS", 0.001)
    monkeypatch.setattr(delivery, "LONGEST_PAUSE_SECONDS", 0.01)
    faults: list[Exception] = [*[Unavailable()] * 8, TimeoutError(), ConnectionRefusedError()]

    async def falter(key: bytes, number: int) -> None:
        if faults:
            raise faults.pop()

    bus, reader = await make_bus(topic), Reader(store, topic, falter)
    async with heard_by(bus, reader):
        await bus.publish([event(topic, b"k" * 16, 1), event(topic, b"k" * 16, 2)])
        await until(lambda: noted(reader, 2))
    assert await reader.notes(b"k" * 16) == [1, 2]
    assert await reader.parked() == []


async def test_a_restarted_consumer_goes_on_where_it_stopped(
    make_bus: MakeBus, store: Store[SampleTransaction], topic: str
) -> None:
    """Stopped in the middle of an event, whose effect is rolled back; the broker or the outbox brings it again."""
    stuck = asyncio.Event()

    async def hang(key: bytes, number: int) -> None:
        if number == 5:
            stuck.set()
            await asyncio.Event().wait()

    events = [event(topic, b"k" * 16, number) for number in range(10)]
    first, reader = await make_bus(topic), Reader(store, topic, hang)
    async with heard_by(first, reader):
        publication = asyncio.create_task(first.publish(events))
        await stuck.wait()
        publication.cancel()
        await asyncio.wait([publication])
    assert await reader.notes(b"k" * 16) == [0, 1, 2, 3, 4]

    reader.before = None
    second = await make_bus(topic)
    async with heard_by(second, reader):
        await second.publish(events)  # as the relay does with what was not acknowledged
        await until(lambda: noted(reader, 10))
    assert await reader.notes(b"k" * 16) == list(range(10))


async def test_every_replica_of_a_listener_hears_what_is_published_from_then_on(make_bus: MakeBus, topic: str) -> None:
    heard: list[list[int]] = [[], []]

    def ear(at: int) -> Callable[[LeaguesEvent], None]:
        def listen(told: LeaguesEvent) -> None:
            heard[at].append(told.level_reached.level)
            if told.level_reached.level == 2:
                raise ValueError("a listener's fault is its own")

        return listen

    bus = await make_bus(topic)
    for at in range(2):
        bus.listen(Listener(topic=topic, message=LeaguesEvent, handle=ear(at)))
    number = 0

    async def both_listen() -> bool:  # a Kafka listener hears nothing before it has found the topic's end
        nonlocal number
        number += 10
        await bus.publish([event(topic, b"k" * 16, number)])
        return all(heard)

    async with delivering(bus):
        await until(both_listen)
        await bus.publish([event(topic, b"k" * 16, one) for one in (1, 2, 3)])

        async def all_heard() -> bool:
            return all(one[-3:] == [1, 2, 3] for one in heard)

        await until(all_heard)


async def test_b32_a_record_that_is_not_ours_is_skipped(
    kafka: str, store: Store[SampleTransaction], topic: str
) -> None:
    await ensure_topics(kafka, [topic], partitions=1)
    bus, reader = KafkaBus(kafka), Reader(store, topic)
    ours = event(topic, b"k" * 16, 1)
    async with heard_by(bus, reader):
        producer = await bus._started_producer()
        for key, value, headers in (
            (b"k", b"x", []),
            (b"k", b"x", [("event_id", b"short"), ("type", b"x")]),
            (b"k", b"x", [("event_id", ours.event_id.bytes), ("type", b"\xff")]),
            (None, b"x", ours.headers()),
            (b"k", None, ours.headers()),
        ):
            await producer.send_and_wait(topic, value, key=key, headers=headers)
        await bus.publish([ours])
        await until(lambda: noted(reader, 1))
    assert await reader.parked() == []


async def test_two_replicas_share_a_topic_and_lose_nothing_when_one_leaves(
    kafka: str, store: Store[SampleTransaction], topic: str
) -> None:
    await ensure_topics(kafka, [topic], partitions=4)
    reader = Reader(store, topic)
    keys = [bytes([65 + at]) * 16 for at in range(8)]
    stays, leaves = KafkaBus(kafka), KafkaBus(kafka)
    async with heard_by(stays, reader):
        async with heard_by(leaves, reader):
            await stays.publish([event(topic, key, number) for number in range(10) for key in keys])
            await until(lambda: noted(reader, 80))
        await stays.publish([event(topic, key, number) for number in range(10, 20) for key in keys])
        await until(lambda: noted(reader, 160))
    for key in keys:
        assert await reader.notes(key) == list(range(20))


async def test_ensuring_topics_twice_and_at_once_is_safe(kafka: str, new_topic: Callable[[], str]) -> None:
    topics = [new_topic() for _ in range(3)]
    await asyncio.gather(*(ensure_topics(kafka, topics, partitions=2) for _ in range(2)))
    await ensure_topics(kafka, topics, partitions=2)


async def noted(reader: Reader, count: int) -> bool:
    found = await rows(
        reader.store.database, "select count(*) from sample.note where consumer = :who", who=reader.consumer
    )
    return bool(found[0][0] >= count)


async def said(name: str, logs: Sequence[Mapping[str, object]]) -> bool:
    return any(line["event"] == name for line in logs)


async def parked(reader: Reader, count: int) -> bool:
    return len(await reader.parked()) >= count
