"""A service of nothing but notes: what the chassis's tests run."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from libs.chassis.db import Database, Migrations, Store, Transaction
from libs.chassis.entropy import SystemEntropy
from libs.chassis.events.bus import Bus, Listener, Subscription
from libs.chassis.events.envelope import Event
from whist.leagues.v1.events_pb2 import LeaguesEvent, LevelReached

MIGRATIONS = Migrations(schema="sample", folder=Path(__file__).parent / "migrations")
ENTROPY = SystemEntropy()
PATIENCE_SECONDS = 40


class SampleTransaction(Transaction):
    """Counts by key, and takes notes."""

    async def count(self, key: bytes) -> int:
        """The next number of the key; the row stays locked, so numbers are committed in order."""
        found = await self.connection.execute(
            sa.text(
                "insert into sample.counter (key, n) values (:key, 1) "
                "on conflict (key) do update set n = counter.n + 1 returning n"
            ),
            {"key": key},
        )
        number: int = found.scalar_one()
        return number

    async def note(self, consumer: str, key: bytes, number: int) -> None:
        await self.connection.execute(
            sa.text("insert into sample.note (consumer, key, n) values (:consumer, :key, :n)"),
            {"consumer": consumer, "key": key, "n": number},
        )


def message(key: bytes, number: int) -> LeaguesEvent:
    return LeaguesEvent(level_reached=LevelReached(account_id=key, level=number))


def event(topic: str, key: bytes, number: int) -> Event:
    told = message(key, number)
    told.event_id = ENTROPY.uuid7().bytes
    return Event(
        topic=topic,
        key=key,
        event_id=UUID(bytes=told.event_id),
        type="level_reached",
        payload=told.SerializeToString(),
    )


class Reader:
    """A consumer that notes what it hears, and does with an event first what `before` says."""

    def __init__(
        self,
        store: Store[SampleTransaction],
        topic: str,
        before: Callable[[bytes, int], Awaitable[object]] | None = None,
    ) -> None:
        self.store = store
        self.before = before
        self.consumer = f"{topic}.reader"
        self.heard: list[tuple[bytes, int]] = []  # with repeats, and whether or not it was committed
        self.subscription = Subscription(
            consumer=self.consumer,
            topic=topic,
            message=LeaguesEvent,
            handle=self._handle,
            transaction=store.transaction,
            database=store.database,
        )

    async def _handle(self, transaction: SampleTransaction, told: LeaguesEvent) -> None:
        key, number = told.level_reached.account_id, told.level_reached.level
        self.heard.append((key, number))
        if self.before is not None:
            await self.before(key, number)
        await transaction.note(self.consumer, key, number)

    async def notes(self, key: bytes | None = None) -> list[Any]:
        """Numbers noted for a key in order, or (key, number) of all."""
        found = await rows(
            self.store.database, "select key, n from sample.note where consumer = :who order by id", who=self.consumer
        )
        return [(bytes(one.key), one.n) for one in found if key is None] or [
            one.n for one in found if bytes(one.key) == key
        ]

    async def parked(self) -> list[tuple[bytes, int, int]]:
        """(key, number, tries) in order."""
        found = await rows(
            self.store.database,
            "select key, payload, tries from sample.parked where consumer = :who order by n",
            who=self.consumer,
        )
        return [
            (bytes(one.key), LeaguesEvent.FromString(bytes(one.payload)).level_reached.level, one.tries)
            for one in found
        ]


class RecordingBus:
    """Keeps what is published; raises after every `fails_each`-th publication, when the events are out already."""

    def __init__(self, *, fails_each: int = 0) -> None:
        self.events: list[Event] = []
        self._fails_each = fails_each
        self._calls = 0

    async def publish(self, events: Sequence[Event]) -> None:
        self._calls += 1
        for one in events:
            await asyncio.sleep(0)
            self.events.append(one)
        if self._fails_each and self._calls % self._fails_each == 0:
            raise OSError("the acknowledgement was lost")

    def subscribe(self, subscription: Subscription) -> None:
        raise NotImplementedError

    def listen(self, listener: Listener) -> None:
        raise NotImplementedError

    async def run(self) -> None:
        raise NotImplementedError

    def numbers(self, key: bytes) -> list[int]:
        told = [LeaguesEvent.FromString(one.payload) for one in self.events if one.key == key]
        return [one.level_reached.level for one in told]


async def rows(database: Database, query: str, **values: object) -> Sequence[Any]:
    async with database.begin() as connection:
        found = await connection.execute(sa.text(query), values)
        return found.all() if found.returns_rows else ()


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Ask again until it holds."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not await holds():
            await asyncio.sleep(0.02)


@asynccontextmanager
async def delivering(bus: Bus) -> AsyncIterator[None]:
    """The bus runs inside the block."""
    running = asyncio.create_task(bus.run())
    try:
        yield
    finally:
        running.cancel()
        await asyncio.wait([running])
        assert running.cancelled(), "a bus runs until cancelled"
