"""One engine a process and schema; a transaction that is also the place where events are published."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, Generic, Self, TypeVar

import sqlalchemy as sa
from google.protobuf.message import Message
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from libs.chassis import audit
from libs.chassis.audit import Act, AuditLine
from libs.chassis.clock import SystemClock
from libs.chassis.entropy import Entropy
from libs.chassis.events.outbox import Outbox

REST_SECONDS = 1.0
COMMAND_SECONDS = 60.0  # far beyond any statement of ours: PostgreSQL hangs, or the network to it has gone silent
RETURNED_AT = "returned_at"


class Database:
    """A service's PostgreSQL: its engine and the name of its schema."""

    def __init__(self, engine: AsyncEngine, schema: str) -> None:
        self.engine = engine
        self.schema = schema

    @classmethod
    def open(cls, url: str, schema: str, *, pool: int = 10, command_seconds: float | None = COMMAND_SECONDS) -> Self:
        """Connects lazily. `url` is ``postgresql+asyncpg://…``.

        At most `pool` connections, opened as they are needed, kept, and the newest used first: one that a burst opened
        and that is closed behind it costs PostgreSQL a process and all its caches each time, more than most
        transactions do.

        A statement without an answer for `command_seconds` raises TimeoutError; None: it is waited for, as those that
        read whole tables must be.
        """
        engine = create_async_engine(
            url,
            pool_size=pool,
            max_overflow=0,
            pool_use_lifo=True,
            pool_timeout=10,
            hide_parameters=True,  # an error must not carry addresses, codes or cards into a log
            connect_args={
                "timeout": 5,
                "command_timeout": command_seconds,
                "server_settings": {"application_name": f"whist-{schema}", "timezone": "UTC"},
            },
        )
        _ping_after_rest(engine)
        return cls(engine, schema)

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[AsyncConnection]:
        """A transaction: commits at the end, rolls back on an exception."""
        async with self.engine.begin() as connection:
            yield connection

    async def ping(self) -> None:
        """Raises when PostgreSQL does not answer."""
        async with self.engine.connect() as connection:
            await connection.execute(sa.text("select 1"))

    async def close(self) -> None:
        await self.engine.dispose()


def _ping_after_rest(engine: AsyncEngine) -> None:
    """Ping a pooled connection that has rested, and replace it when it is gone.

    SQLAlchemy's own pre-ping is three round trips before every transaction, which cost more than most transactions do.
    One that was used a moment ago and is gone fails like one that goes in the middle: a passing fault, tried again.
    """
    clock = SystemClock()

    def returned(_: Any, record: ConnectionPoolEntry) -> None:
        record.info[RETURNED_AT] = clock.monotonic()

    def taken(connection: Any, record: ConnectionPoolEntry, _: Any) -> None:
        at = record.info.get(RETURNED_AT)
        if at is None or clock.monotonic() - at < REST_SECONDS:
            return
        dialect = engine.sync_engine.dialect
        try:
            dialect.do_ping(connection)
        except dialect.loaded_dbapi.Error as error:
            raise sa.exc.DisconnectionError from error  # the pool then takes another, at last a new one

    sa.event.listen(engine.sync_engine, "checkin", returned)
    sa.event.listen(engine.sync_engine, "checkout", taken)


class Transaction:
    """One open transaction. A service's own subclass adds its repository methods."""

    def __init__(self, connection: AsyncConnection, outbox: Outbox) -> None:
        self.connection = connection
        self._outbox = outbox
        self.published = 0

    async def now(self) -> datetime:
        """The database's clock, aware UTC: the one that decides days, weeks and leases."""
        moment: datetime = (await self.connection.execute(sa.text("select clock_timestamp()"))).scalar_one()
        return moment

    async def publish(self, topic: str, key: bytes, message: Message) -> None:
        """Add an event to this transaction; it leaves after the commit and at least once.

        Fills the message's `event_id` and `occurred_at` when they are not set.
        """
        await self._outbox.add(self.connection, topic, key, message)
        self.published += 1

    async def publish_all(
        self, topic: str, messages: Sequence[tuple[bytes, Message]], *, at: datetime | None = None
    ) -> None:
        """`publish` for many at once, (key, message) in order.

        `at`: the moment of what they tell, by the database's clock as this transaction has read it already.
        """
        await self._outbox.add_all(self.connection, topic, messages, at=at)
        self.published += len(messages)

    async def record_act(self, act: Act) -> bool:
        """Write an operator's act down beside its effect (P82). False: done before, do nothing. Raises ActDiffers."""
        return await audit.record(self.connection, self._outbox.schema, act)

    async def acts(self, *, before: int | None = None, limit: int = 100) -> Sequence[AuditLine]:
        """Operators' acts on this service, newest first, older than the line `before`."""
        return await audit.lines(self.connection, self._outbox.schema, before=before, limit=limit)


T = TypeVar("T", bound=Transaction)


class Store(Generic[T]):
    """Opens transactions of one kind. Wakes the relay after a commit that published something."""

    def __init__(
        self,
        database: Database,
        kind: type[T],
        entropy: Entropy,
        wake_relay: Callable[[], None] = lambda: None,
    ) -> None:
        self.database = database
        self._kind = kind
        self._outbox = Outbox(database.schema, entropy)
        self._wake_relay = wake_relay

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[T]:
        """Commits when the block ends, rolls back when it raises."""
        async with self.database.begin() as connection:
            transaction = self._kind(connection, self._outbox)
            yield transaction
        if transaction.published:
            self._wake_relay()
