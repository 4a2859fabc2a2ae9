"""The journal: group commit, fenced by epoch, certain about every outcome (architecture §3).

Entries of all tables are committed together as soon as the last commit has returned; nothing lingers. One statement
moves each head from `seq` to `seq + 1` where the epoch is still ours, and inserts a row only for the heads it moved.
When an answer is lost, heads are locked (the old backend may still commit) and each command is looked up by its id.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from datetime import date
from typing import Any
from uuid import UUID

import asyncpg
import structlog

from libs.chassis.clock import Clock
from libs.chassis.entropy import Entropy
from libs.chassis.events.outbox import bucket_of
from services.tables.metrics import commit_seconds, fenced, journal_batch, slow_commits, unknown_outcomes
from services.tables.ports import Entry, Outcome

log = structlog.get_logger()

BATCH_MAX = 512  # entries a commit; a cap under 256 costs throughput (measured)
COMMIT_SECONDS = 10.0  # then the outcome is unknown and is read back
SLOW_SECONDS = 0.020
RECONNECT_SECONDS = (0.05, 1.0)
TOPIC = "whist.tables.events.v1"

_ENTRIES = """
entry as (
  select * from unnest($1::uuid[], $2::date[], $3::int[], $4::bigint[], $5::uuid[], $6::bytea[], $7::bool[])
    as e(table_id, born, seq, epoch, command_id, body, checkpoint)
), head as (
  update tables.table_head h
     set next_seq = e.seq + 1,
         checkpoint_seq = case when e.checkpoint then e.seq else h.checkpoint_seq end
    from entry e
   where h.table_id = e.table_id and h.epoch = e.epoch and h.next_seq = e.seq and h.status = 'live'
  returning h.table_id
), row as (
  insert into tables.table_log (table_id, born, seq, epoch, command_id, body)
  select e.table_id, e.born, e.seq, e.epoch, e.command_id, e.body from entry e join head using (table_id)
  returning table_id
)
"""
APPEND = f"with {_ENTRIES} select table_id from row"  # noqa: S608 - constants only
APPEND_WITH_EVENTS = f"""
with {_ENTRIES}, event as (
  select v.* from unnest($8::uuid[], $9::uuid[], $10::text[], $11::bytea[], $12::smallint[])
    as v(table_id, event_id, type, payload, bucket) join row using (table_id)
), kept as (
  insert into tables.event (event_id, topic, key, type, payload, traceparent)
  select event_id, '{TOPIC}', uuid_send(table_id), type, payload, '' from event
), sent as (
  insert into tables.outbox (bucket, event_id, topic, key, type, payload, traceparent)
  select bucket, event_id, '{TOPIC}', uuid_send(table_id), type, payload, '' from event
)
select table_id from row
"""  # noqa: S608 - constants only
LOCK_HEADS = """
select table_id, epoch, next_seq, status from tables.table_head
 where table_id = any($1::uuid[]) order by table_id for update
"""
FIND = "select seq from tables.table_log where table_id = $1 and command_id = $2 and born = $3"

_LOST = (
    OSError,
    TimeoutError,
    asyncpg.InterfaceError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.QueryCanceledError,
    asyncpg.ReadOnlySQLTransactionError,
)


Settled = tuple[Entry, Outcome, int]


class GroupJournal:
    """One a worker. `run` must be running; `append` may be called from callbacks at any time."""

    def __init__(self, dsn: str, clock: Clock, entropy: Entropy, wake_relay: Any) -> None:
        self._dsn = dsn
        self._clock = clock
        self._entropy = entropy
        self._wake_relay = wake_relay
        self._waiting: deque[Entry] = deque()
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._connection: asyncpg.Connection | None = None

    def append(self, entry: Entry) -> None:
        self._waiting.append(entry)
        self._idle.clear()
        self._wake.set()

    async def flushed(self) -> None:
        """Return when nothing waits for its commit."""
        await self._idle.wait()

    async def run(self) -> None:
        """Commit until cancelled."""
        try:
            while True:
                if not self._waiting:
                    self._idle.set()
                    self._wake.clear()
                    await self._wake.wait()
                batch = [self._waiting.popleft() for _ in range(min(BATCH_MAX, len(self._waiting)))]
                batch.sort(key=lambda entry: entry.table_id)
                await self._settle(batch)
        finally:
            if self._connection is not None:
                self._connection.terminate()

    async def find(self, table_id: UUID, born: date, command_id: UUID) -> int | None:
        connection = await asyncpg.connect(self._dsn, timeout=5)
        try:
            found: int | None = await connection.fetchval(FIND, table_id, command_id, born)
            return found
        finally:
            await connection.close()

    async def _settle(self, batch: list[Entry]) -> None:
        """Try until every entry's outcome is certain; the tables of certain ones go on at once."""
        pause = RECONNECT_SECONDS[0]
        while batch:
            certain, batch = await self._attempt(batch)
            for entry, outcome, seq in certain:
                if outcome is Outcome.FENCED:
                    fenced.inc()
                try:
                    entry.done(outcome, seq)
                except Exception:
                    log.exception("entry_done_failed", table=entry.table_id.hex)
            if batch:
                await asyncio.sleep(pause)
                pause = min(pause * 2, RECONNECT_SECONDS[1])

    async def _attempt(self, batch: list[Entry]) -> tuple[list[Settled], list[Entry]]:
        """(what is certain, what must be tried again)."""
        started = self._clock.monotonic()
        try:
            accepted = await self._append(batch)
        except _LOST as error:
            unknown_outcomes.inc()
            log.warning("journal_outcome_unknown", entries=len(batch), error=repr(error))
            return await self._read_back(batch)
        except asyncpg.PostgresError as error:
            log.warning("journal_batch_refused", entries=len(batch), error=repr(error))
            return await self._one_by_one(batch)
        took = self._clock.monotonic() - started
        commit_seconds.observe(took)
        journal_batch.observe(len(batch))
        if took > SLOW_SECONDS:
            slow_commits.inc()
            log.info("journal_commit_slow", milliseconds=round(took * 1000, 1), entries=len(batch))
        return [
            (entry, Outcome.COMMITTED if entry.table_id in accepted else Outcome.FENCED, entry.seq) for entry in batch
        ], []

    async def _one_by_one(self, batch: list[Entry]) -> tuple[list[Settled], list[Entry]]:
        """One bad row must not take its neighbours with it."""
        if len(batch) == 1:
            return await self._read_back(batch)
        certain: list[Settled] = []
        again: list[Entry] = []
        for entry in batch:
            settled, waiting = await self._attempt([entry])
            certain += settled
            again += waiting
        return certain, again

    async def _read_back(self, batch: list[Entry]) -> tuple[list[Settled], list[Entry]]:
        """What the database says of each command. Nothing is written blindly a second time."""
        certain: list[Settled] = []
        again: list[Entry] = []
        self._drop_connection()
        try:
            connection = await self._connected()
            async with asyncio.timeout(COMMIT_SECONDS), connection.transaction():
                rows = await connection.fetch(LOCK_HEADS, [entry.table_id for entry in batch])
                heads = {row["table_id"]: row for row in rows}
                for entry in batch:
                    found = await connection.fetchval(FIND, entry.table_id, entry.command_id, entry.born)
                    head = heads.get(entry.table_id)
                    if found is not None:
                        outcome = Outcome.COMMITTED if found == entry.seq else Outcome.REPEATED
                        certain.append((entry, outcome, found))
                    elif head is not None and self._still_ours(head, entry):
                        again.append(entry)
                    else:
                        certain.append((entry, Outcome.FENCED, entry.seq))
        except (*_LOST, asyncpg.PostgresError) as error:
            log.warning("journal_read_back_failed", error=repr(error))
            return [], batch
        return certain, again

    @staticmethod
    def _still_ours(head: Any, entry: Entry) -> bool:
        return bool(head["epoch"] == entry.epoch and head["next_seq"] == entry.seq and head["status"] == "live")

    async def _append(self, batch: Sequence[Entry]) -> set[UUID]:
        connection = await self._connected()
        columns: list[Any] = [
            [entry.table_id for entry in batch],
            [entry.born for entry in batch],
            [entry.seq for entry in batch],
            [entry.epoch for entry in batch],
            [entry.command_id for entry in batch],
            [entry.body for entry in batch],
            [entry.checkpoint for entry in batch],
        ]
        events = [(entry.table_id, message) for entry in batch for message in entry.events]
        if not events:
            rows = await connection.fetch(APPEND, *columns, timeout=COMMIT_SECONDS)
        else:
            rows = await connection.fetch(
                APPEND_WITH_EVENTS, *columns, *self._event_columns(events), timeout=COMMIT_SECONDS
            )
            self._wake_relay()
        return {row[0] for row in rows}

    def _event_columns(self, events: Sequence[tuple[UUID, Any]]) -> list[Any]:
        now = self._clock.now()
        for _, message in events:
            if not message.event_id:
                message.event_id = self._entropy.uuid7().bytes
                message.occurred_at.FromDatetime(now)
        return [
            [table_id for table_id, _ in events],
            [UUID(bytes=message.event_id) for _, message in events],
            [message.WhichOneof("event") for _, message in events],
            [message.SerializeToString() for _, message in events],
            [bucket_of(table_id.bytes) for table_id, _ in events],
        ]

    async def _connected(self) -> asyncpg.Connection:
        if self._connection is None or self._connection.is_closed():
            self._connection = await asyncpg.connect(self._dsn, timeout=5)
        return self._connection

    def _drop_connection(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None
