"""Outbox and relay: state and event are one transaction, order by key survives replicas, nothing is lost."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
import sqlalchemy as sa

from libs.chassis.db import Database, Store
from libs.chassis.events import relay as relays
from libs.chassis.events.bus import Bus
from libs.chassis.events.housekeeping import KEPT, keep_event_tables
from libs.chassis.events.outbox import bucket_of
from libs.chassis.events.relay import Relay
from libs.chassis.events.schema import BUCKETS
from tests.chassis.sample import ENTROPY, RecordingBus, SampleTransaction, message, rows, until

TOPIC = "test.relay"


@pytest.fixture(autouse=True)
async def empty_outbox(database: Database) -> None:
    await rows(database, "delete from sample.outbox")


@asynccontextmanager
async def relaying(*relays: Relay) -> AsyncIterator[None]:
    running = [asyncio.create_task(relay.run()) for relay in relays]
    try:
        yield
    finally:
        for task in running:
            task.cancel()
        await asyncio.wait(running)


async def tell(store: Store[SampleTransaction], key: bytes) -> None:
    """The next number of the key, told in the transaction that counts it."""
    async with store.transaction() as transaction:
        number = await transaction.count(key)
        await transaction.publish(TOPIC, key, message(key, number))


async def outbox_is_empty(database: Database) -> bool:
    return not await rows(database, "select 1 from sample.outbox limit 1")


def new_keys(count: int) -> list[bytes]:
    return [ENTROPY.uuid7().bytes for _ in range(count)]


async def test_a_rolled_back_transaction_leaves_neither_state_nor_event(store: Store[SampleTransaction]) -> None:
    (key,) = new_keys(1)
    with pytest.raises(RuntimeError, match="changed my mind"):
        async with store.transaction() as transaction:
            await transaction.publish(TOPIC, key, message(key, await transaction.count(key)))
            raise RuntimeError("changed my mind")
    for table in ("counter", "event", "outbox"):
        assert await rows(store.database, f"select 1 from sample.{table} where key = :key", key=key) == []


async def test_a_committed_one_leaves_state_event_and_outbox_row(store: Store[SampleTransaction]) -> None:
    (key,) = new_keys(1)
    await tell(store, key)
    for table in ("counter", "event", "outbox"):
        assert len(await rows(store.database, f"select 1 from sample.{table} where key = :key", key=key)) == 1


async def test_the_relay_is_woken_by_a_commit_that_published_and_by_no_other(database: Database) -> None:
    woken: list[bool] = []
    store = Store(database, SampleTransaction, ENTROPY, lambda: woken.append(True))
    async with store.transaction() as transaction:
        await transaction.count(b"quiet")
    assert woken == []
    await tell(store, b"loud")
    assert woken == [True]


async def test_an_event_carries_its_id_type_and_the_databases_time(store: Store[SampleTransaction]) -> None:
    (key,) = new_keys(1)
    told = message(key, 1)
    async with store.transaction() as transaction:
        before = await transaction.now()
        await transaction.publish(TOPIC, key, told)
        after = await transaction.now()
    assert before <= told.occurred_at.ToDatetime(tzinfo=UTC) + timedelta(microseconds=1)
    assert told.occurred_at.ToDatetime(tzinfo=UTC) <= after
    bus = RecordingBus()
    await Relay(store.database, bus).step()
    (sent,) = bus.events
    assert (sent.event_id.bytes, sent.type, sent.key, sent.topic) == (told.event_id, "level_reached", key, TOPIC)
    assert await outbox_is_empty(store.database)


async def test_order_by_key_survives_two_relays_and_concurrent_committers(store: Store[SampleTransaction]) -> None:
    keys, bus = new_keys(12), RecordingBus()

    async def writer(offset: int) -> None:
        for turn in range(30):
            await tell(store, keys[(offset + turn * 5) % len(keys)])

    async with relaying(Relay(store.database, bus), Relay(store.database, bus)):
        await asyncio.gather(*(writer(offset) for offset in range(8)))
        await until(lambda: outbox_is_empty(store.database))
    assert len(bus.events) == 240
    for key in keys:
        assert bus.numbers(key) == list(range(1, len(bus.numbers(key)) + 1))


async def test_b09_a_lost_acknowledgement_repeats_but_never_loses_or_reorders(
    store: Store[SampleTransaction], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relays, "IDLE_SECONDS", 0.01)
    monkeypatch.setattr(relays, "BATCH_MAX", 7)
    keys, bus = new_keys(4), RecordingBus(fails_each=3)
    for _ in range(15):
        for key in keys:
            await tell(store, key)
    async with relaying(Relay(store.database, bus)):
        await until(lambda: outbox_is_empty(store.database))
    assert len(bus.events) > 60
    for key in keys:
        numbers = bus.numbers(key)
        assert list(dict.fromkeys(numbers)) == list(range(1, 16))
        assert all(later <= before + 1 for before, later in pairwise(numbers)), "no number before the one before it"


async def test_an_event_that_commits_late_is_not_passed_over(store: Store[SampleTransaction]) -> None:
    """Ids are given at insert and seen at commit: a cursor over ids would lose the slow one."""
    slow, fast = new_keys(2)
    bus = RecordingBus()
    async with store.transaction() as late:
        await late.publish(TOPIC, slow, message(slow, 1))
        await tell(store, fast)
        await drained(store, bus, 1)
    await drained(store, bus, 2)
    assert [one.key for one in bus.events] == [fast, slow]


async def drained(store: Store[SampleTransaction], bus: RecordingBus, count: int) -> None:
    while await Relay(store.database, bus).step():
        pass
    assert len(bus.events) == count


async def test_a_bucket_that_another_relay_holds_is_left_to_it(store: Store[SampleTransaction]) -> None:
    (key,) = new_keys(1)
    bus: Bus = RecordingBus()
    await tell(store, key)
    async with store.database.begin() as other:
        await other.execute(
            sa.text("select pg_advisory_xact_lock(hashtext('sample.outbox'), :bucket)"), {"bucket": bucket_of(key)}
        )
        assert await Relay(store.database, bus).step() == 0
    assert await Relay(store.database, bus).step() == 1


def test_buckets_are_the_same_for_ever() -> None:
    assert [bucket_of(key) for key in (b"", b"a", b"whist")] == [0, 3, 1]
    assert {bucket_of(key) for key in new_keys(400)} == set(range(BUCKETS))


async def test_housekeeping_makes_days_ahead_drops_old_ones_and_may_run_at_once(database: Database) -> None:
    old = datetime(2020, 1, 1, tzinfo=UTC)
    await rows(
        database,
        "create table sample.event_20200101 partition of sample.event "
        "for values from ('2020-01-01 00:00+00') to ('2020-01-02 00:00+00')",
    )
    for age in (KEPT + timedelta(days=1), KEPT - timedelta(days=1)):
        await rows(
            database,
            "insert into sample.inbox (consumer, event_id, at) "
            "values ('old', :id, clock_timestamp() - cast(:age as interval))",
            id=ENTROPY.uuid7(), age=age,
        )  # fmt: skip
    await asyncio.gather(*(keep_event_tables(database) for _ in range(3)))
    await keep_event_tables(database)
    names = await rows(
        database, "select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid "
        "where i.inhparent = cast('sample.event' as regclass) order by 1",
    )  # fmt: skip
    today = (await rows(database, "select (clock_timestamp() at time zone 'UTC')::date"))[0][0]
    ahead = [f"event_{today + timedelta(days=day):%Y%m%d}" for day in (1, 2, 3)]
    assert [one.relname for one in names][:3] == ahead
    assert f"event_{old:%Y%m%d}" not in {one.relname for one in names}
    assert len(await rows(database, "select 1 from sample.inbox where consumer = 'old'")) == 1
