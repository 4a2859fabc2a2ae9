"""One event to one consumer: once with effect, tried again, and parked with its key when it stays poisoned."""

import asyncio
from datetime import timedelta

import sqlalchemy as sa
import structlog
from opentelemetry.trace import SpanKind
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection

from libs.chassis.errors import DomainError, Kind
from libs.chassis.events.bus import Subscription
from libs.chassis.events.envelope import Event
from libs.chassis.telemetry.metrics import events_handled, events_parked
from libs.chassis.telemetry.tracing import span

log = structlog.get_logger()

TRIES = 5  # then the key is parked and other keys go on
FIRST_PAUSE_SECONDS = 0.05
LONGEST_PAUSE_SECONDS = 5.0
PARKED_RETRY = timedelta(seconds=30)
PARKED_CHECK_SECONDS = 5.0  # between two looks for parked events that are due
# SQLSTATEs that say the database is away, full, read-only, or chose us as a deadlock's victim: connection, read-only
# transaction, rollback, resources, shutdown and start, system errors, lock not to be had.
PASSING_STATES = ("08", "25006", "40", "53", "57P", "58", "55P03")


def is_passing(error: BaseException) -> bool:
    """Whether the fault lies in what the handler needs, not in the event: wait, never park."""
    if isinstance(error, DomainError):
        return error.kind is Kind.UNAVAILABLE
    if isinstance(error, DBAPIError):
        state = str(getattr(error.orig, "sqlstate", None) or "")
        return (
            error.connection_invalidated
            or isinstance(error, (InterfaceError, OperationalError))
            or state.startswith(PASSING_STATES)
        )
    return isinstance(error, (OSError, TimeoutError, PoolTimeout))


class Delivery:
    """Takes events for one subscription. Call `take` for one key in order; different keys may run side by side."""

    def __init__(self, subscription: Subscription) -> None:
        self.subscription = subscription
        schema = subscription.database.schema
        # Every event costs this statement: is its key parked, and if not, is it the first time? A twin in flight is
        # waited for by the insertion.
        self._meet = sa.text(
            f"""
            with waits as materialized (
              select exists (select from {schema}.parked where consumer = :consumer and key = :key) as parked
            ), recorded as (
              insert into {schema}.inbox (consumer, event_id) select :consumer, :event_id from waits where not parked
              on conflict do nothing returning 1
            )
            select parked, exists (select from recorded) as first from waits
            """  # noqa: S608 - the schema is a constant of the service
        )
        self._first_time = sa.text(
            f"insert into {schema}.inbox (consumer, event_id) values (:consumer, :event_id) "  # noqa: S608
            "on conflict do nothing returning 1"
        )
        self._park = sa.text(
            f"insert into {schema}.parked (consumer, key, event_id, topic, type, payload, traceparent, error, "  # noqa: S608
            "tries, next_try_at) values (:consumer, :key, :event_id, :topic, :type, :payload, :traceparent, :error, "
            ":tries, clock_timestamp() + cast(:pause as interval))"
        )
        self._due = sa.text(
            f"select distinct on (key) key, n, event_id, topic, type, payload, traceparent, next_try_at "  # noqa: S608
            f"from {schema}.parked where consumer = :consumer order by key, n"
        )
        self._postpone = sa.text(
            f"update {schema}.parked set tries = tries + 1, error = :error, "  # noqa: S608
            "next_try_at = clock_timestamp() "
            "+ least(cast(:pause as interval) * power(2, least(tries, 6)), interval '10 minutes') "
            "where consumer = :consumer and key = :key and n = :n"
        )
        self._unpark = sa.text(
            f"delete from {schema}.parked where consumer = :consumer and key = :key and n = :n"  # noqa: S608
        )
        self._count = sa.text(f"select count(*) from {schema}.parked where consumer = :consumer")  # noqa: S608

    async def take(self, event: Event) -> None:
        """Return when the effect is committed or the event is parked, at once when it is not for this consumer."""
        if self.subscription.types and event.type not in self.subscription.types:
            return
        pause, tries = FIRST_PAUSE_SECONDS, 0
        while True:
            try:
                outcome = await self._attempt(event)
            except Exception as error:  # the consumer loop is where faults end (CONTRIBUTING, style 3)
                tries += not is_passing(error)
                log.warning(
                    "event_failed", consumer=self.subscription.consumer, type=event.type,
                    event_id=str(event.event_id), tries=tries, exc_info=True,
                )  # fmt: skip
                if tries >= TRIES:
                    try:
                        await self._park_event(event, error, tries)
                    except Exception:  # the database went away meanwhile: keep the event and go on trying
                        log.exception("park_failed", consumer=self.subscription.consumer)
                    else:
                        self._observe(event, "parked")
                        return
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
            else:
                self._observe(event, outcome)
                return

    async def _attempt(self, event: Event) -> str:
        consumer = self.subscription.consumer
        with span(f"consume {event.type}", event.traceparent, kind=SpanKind.CONSUMER, consumer=consumer):
            async with self.subscription.transaction() as transaction:
                connection = transaction.connection
                met = {"consumer": consumer, "key": event.key, "event_id": event.event_id}
                row = (await connection.execute(self._meet, met)).one()
                if row.parked:
                    await self._insert_parked(connection, event, "behind a parked event", 0)
                    return "parked"
                if not row.first:
                    return "repeated"
                await self._handle(transaction, event)
        return "done"

    async def _handle(self, transaction: object, event: Event) -> None:
        message = self.subscription.message()
        message.ParseFromString(event.payload)
        await self.subscription.handle(transaction, message)

    async def _record(self, connection: AsyncConnection, event: Event) -> bool:
        row = await connection.execute(
            self._first_time, {"consumer": self.subscription.consumer, "event_id": event.event_id}
        )
        return row.first() is not None

    async def _park_event(self, event: Event, error: BaseException, tries: int) -> None:
        async with self.subscription.database.begin() as connection:
            await self._insert_parked(connection, event, repr(error), tries)
        log.error(
            "event_parked",
            consumer=self.subscription.consumer,
            type=event.type,
            event_id=str(event.event_id),
        )

    async def _insert_parked(self, connection: AsyncConnection, event: Event, error: str, tries: int) -> None:
        await connection.execute(
            self._park,
            {
                "consumer": self.subscription.consumer,
                "key": event.key,
                "event_id": event.event_id,
                "topic": event.topic,
                "type": event.type,
                "payload": event.payload,
                "traceparent": event.traceparent,
                "error": error[:2000],
                "tries": tries,
                "pause": PARKED_RETRY,
            },
        )

    async def keep_retrying(self) -> None:
        """Try parked events again when they are due, until cancelled; the database may be away meanwhile."""
        while True:
            await asyncio.sleep(PARKED_CHECK_SECONDS)
            try:
                await self.retry_parked()
            except Exception:  # the consumer loop is where faults end (CONTRIBUTING, style 3)
                log.exception("parked_retry_failed", consumer=self.subscription.consumer)

    async def retry_parked(self, *, everything: bool = False) -> int:
        """Try each parked key's events in order, those due or `everything`. Returns how many were healed."""
        consumer = self.subscription.consumer
        healed = 0
        progress = True
        while progress:
            progress = False
            async with self.subscription.database.begin() as connection:
                heads = (await connection.execute(self._due, {"consumer": consumer})).all()
                now = (await connection.execute(sa.text("select clock_timestamp()"))).scalar_one()
            for row in heads:
                if not everything and row.next_try_at > now:
                    continue
                event = Event(
                    topic=row.topic, key=bytes(row.key), event_id=row.event_id, type=row.type,
                    payload=bytes(row.payload), traceparent=row.traceparent,
                )  # fmt: skip
                place = {"consumer": consumer, "key": event.key, "n": row.n}
                try:
                    async with self.subscription.transaction() as transaction:
                        removed = (await transaction.connection.execute(self._unpark, place)).rowcount
                        if removed and await self._record(transaction.connection, event):
                            await self._handle(transaction, event)
                except Exception as error:
                    async with self.subscription.database.begin() as connection:
                        await connection.execute(
                            self._postpone,
                            {**place, "error": repr(error)[:2000], "pause": PARKED_RETRY},
                        )
                else:
                    progress = True
                    if removed:  # else another replica was faster
                        healed += 1
                        self._observe(event, "healed")
        async with self.subscription.database.begin() as connection:
            waiting = (await connection.execute(self._count, {"consumer": consumer})).scalar_one()
        events_parked.labels(consumer).set(waiting)
        return healed

    def _observe(self, event: Event, outcome: str) -> None:
        events_handled.labels(self.subscription.consumer, event.type, outcome).inc()
