"""The journal: group commit, fenced by epoch, certain about every outcome (ARCHITECTURE.md, Life of a move).

Entries of all tables are committed together as soon as the last commit has returned; nothing lingers. One statement
moves each head from `seq` to `seq + 1` where the epoch is still ours, and inserts a row only for the heads it moved.
When an answer is lost or a head did not move, heads are locked (an old backend may still commit) and each command is
looked up by its id: a request that was delayed on its way may have written the row that the next one then misses.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any
from uuid import UUID

import asyncpg
import structlog

from libs.chassis.clock import Clock
from libs.chassis.entropy import Entropy
from libs.chassis.events.outbox import bucket_of
from services.tables.faults import note
from services.tables.metrics import commit_seconds, fenced, journal_batch, slow_commits, unknown_outcomes
from services.tables.ports import COMMITTED, FENCED, Entry, Outcome, Seating

log = structlog.get_logger()

BATCH_MAX = 512  # entries a commit; a cap under 256 costs throughput (measured)
# From a socket to the journal a move takes four turns of the loop. Rounds of four bring in whose frames have arrived
# already, until one brings nothing: nobody is waited for.
GATHER_TURNS = 4
GATHER_ROUNDS_MAX = 16
COMMIT_SECONDS = 10.0  # then the outcome is unknown and is read back
SLOW_SECONDS = 0.020
PAUSE_SECONDS = (0.05, 1.0)  # before a try that follows one without any progress: first, longest
TOPIC = "whist.tables.events.v1"
APPLICATION = "whist-tables-journal"

# Each half unnests anew: an entry's body is then copied into no intermediate row, whatever the plan.
_ENTRIES = """
moved as (
  update tables.table_head h
     set next_seq = e.seq + 1,
         checkpoint_seq = case when e.checkpoint then e.seq else h.checkpoint_seq end
    from unnest($1::uuid[], $3::int[], $4::bigint[], $7::bool[]) as e(table_id, seq, epoch, checkpoint)
   where h.table_id = e.table_id and h.epoch = e.epoch and h.next_seq = e.seq and coalesce(h.status, '') = 'live'
  returning h.table_id
), row as (
  insert into tables.table_log (table_id, born, seq, epoch, command_id, body)
  select e.table_id, e.born, e.seq, e.epoch, e.command_id, e.body
    from unnest($1::uuid[], $2::date[], $3::int[], $4::bigint[], $5::uuid[], $6::bytea[])
      as e(table_id, born, seq, epoch, command_id, body)
   where e.table_id = any(array(select table_id from moved))
  returning table_id
)
"""
# One number: which rows were not written, if any, is read back.
_ACCEPTED = "select count(*) from row"
APPEND = f"with {_ENTRIES} {_ACCEPTED}"
APPEND_WITH_EVENTS = f"""
with {_ENTRIES}, event as (
  select v.* from unnest($8::uuid[], $9::uuid[], $10::text[], $11::bytea[], $12::smallint[], $13::text[])
    as v(table_id, event_id, type, payload, bucket, traceparent)
   where v.table_id = any(array(select table_id from row))
), kept as (
  insert into tables.event (event_id, topic, key, type, payload, traceparent)
  select event_id, '{TOPIC}', uuid_send(table_id), type, payload, traceparent from event
), sent as (
  insert into tables.outbox (bucket, event_id, topic, key, type, payload, traceparent)
  select bucket, event_id, '{TOPIC}', uuid_send(table_id), type, payload, traceparent from event
)
{_ACCEPTED}"""  # noqa: S608 - constants only
# A claim that stands at another table violates its key: the row is refused. The host's successor is the next person
# clockwise (P25).
APPEND_WITH_SEATS = f"""
{APPEND_WITH_EVENTS.removesuffix(_ACCEPTED)}, seating as (
  select s.* from unnest($14::uuid[], $15::bytea[], $16::smallint[], $17::text[], $18::bool[], $19::bool[])
    as s(table_id, account, seat, name, guest, sits) join row using (table_id)
), claimed as (
  insert into tables.seat_claim (account, table_id) select account, table_id from seating where sits order by account
), freed as (
  delete from tables.seat_claim c using seating s
   where not s.sits and c.account = s.account and c.table_id = s.table_id
), stood as (
  delete from tables.friends_seat f using seating s
   where not s.sits and f.table_id = s.table_id and f.seat = s.seat
), sat as (
  insert into tables.friends_seat (table_id, seat, account, name, guest, waiting, lease_until)
  select table_id, seat, account, name, guest, false, clock_timestamp()
    from seating join tables.friends_table using (table_id) where sits
  on conflict (table_id, seat) do update
     set account = excluded.account, name = excluded.name, guest = excluded.guest
), shown as (
  update tables.friends_table t
     set version = t.version + 1,
         host = case
           when s.sits then coalesce(nullif(t.host, ''), s.account)
           when t.host = s.account then coalesce((
             select f.account from tables.friends_seat f where f.table_id = s.table_id and f.seat <> s.seat
              order by f.seat < s.seat, f.seat limit 1), '')
           else t.host end
    from seating s where t.table_id = s.table_id
)
{_ACCEPTED}"""  # noqa: S608 - constants only
# The one good plan goes from each entry to its head by the primary key. The planner knows no better than statistics,
# which a head that every move updates outruns: the other ways are closed to it. `coalesce` hides from it that the
# partial index of live heads would do, which without statistics seems as good as the key and reads all heads for each
# entry: three times the work of a commit at 200 tables (measured).
PLANNER = {
    "plan_cache_mode": "force_generic_plan",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "enable_seqscan": "off",
    "enable_bitmapscan": "off",
}
LOCK_HEADS = """
select table_id, epoch, next_seq, status from tables.table_head
 where table_id = any($1::uuid[]) order by table_id for update
"""
TWINS = """
select l.table_id, l.seq from tables.table_log l
  join unnest($1::uuid[], $2::uuid[], $3::date[]) as e(table_id, command_id, born) using (table_id, command_id, born)
"""
FIND = "select seq from tables.table_log where table_id = $1 and command_id = $2 and born = $3"

_LOST = (
    OSError,
    TimeoutError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # of a statement after the last word of a server that goes down
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.QueryCanceledError,
    asyncpg.ReadOnlySQLTransactionError,
)
# The row itself is what the database refuses; any other error may pass.
_THE_ROWS_OWN = (asyncpg.IntegrityConstraintViolationError, asyncpg.DataError)


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
        self._finder: asyncpg.Connection | None = None
        self._finding = asyncio.Lock()

    def append(self, entry: Entry) -> None:
        self._waiting.append(entry)
        self._idle.clear()
        self._wake.set()

    async def flushed(self) -> None:
        """Return when nothing waits for its commit."""
        await self._idle.wait()

    async def run(self) -> None:
        """Commit until cancelled; what is not certain yet waits with what has come meanwhile."""
        pause = PAUSE_SECONDS[0]
        try:
            while True:
                if not self._waiting:
                    self._idle.set()
                    self._wake.clear()
                    await self._wake.wait()
                await self._gather()
                batch = [self._waiting.popleft() for _ in range(min(BATCH_MAX, len(self._waiting)))]
                batch.sort(key=_in_order)
                again = await self._settle(batch)
                if not again:
                    pause = PAUSE_SECONDS[0]
                    continue
                self._waiting.extend(again)
                pause = PAUSE_SECONDS[0] if len(again) < len(batch) else pause
                await asyncio.sleep(pause)
                pause = min(pause * 2, PAUSE_SECONDS[1])
        finally:
            for connection in (self._connection, self._finder):
                if connection is not None:
                    connection.terminate()

    async def _gather(self) -> None:
        """Let in what is on its way already: while the loop has moves to read, reading them delays nobody."""
        for _ in range(GATHER_ROUNDS_MAX):
            before = len(self._waiting)
            for _ in range(GATHER_TURNS):
                await asyncio.sleep(0)
            if len(self._waiting) == before or before >= BATCH_MAX:
                return

    async def find(self, table_id: UUID, born: date, command_id: UUID) -> int | None:
        """On a connection of its own, one at a time: however many ask, the database has one more to bear."""
        async with self._finding:
            if self._finder is None or self._finder.is_closed():
                self._finder = await self._connect()
            found: int | None = await self._finder.fetchval(FIND, table_id, command_id, born, timeout=COMMIT_SECONDS)
            return found

    async def _settle(self, batch: list[Entry]) -> list[Entry]:
        """Try once; the tables of certain outcomes go on at once. Returns what must be tried again."""
        try:
            certain, again = await self._attempt(batch)
        except Exception:
            # An entry that nobody answers for would freeze its table; trying again is safe whatever has happened.
            log.exception("journal_failed", entries=len(batch))
            self._drop_connection()
            return batch
        for entry, outcome, seq in certain:
            if outcome is FENCED:
                fenced.inc()
            try:
                entry.done(outcome, seq)
            except Exception as error:
                note("entry_done_failed", error, table=entry.table_id.hex)
        return again

    async def _attempt(self, batch: list[Entry]) -> tuple[list[Settled], list[Entry]]:
        """(what is certain, what must be tried again)."""
        started = self._clock.monotonic()
        try:
            written = await self._append(batch)
        except _LOST as error:
            unknown_outcomes.inc()
            log.warning("journal_outcome_unknown", entries=len(batch), error=repr(error))
            self._drop_connection()
            return await self._read_back(batch)
        except asyncpg.UniqueViolationError as error:
            return await self._without_twins(batch, error)
        except asyncpg.PostgresError as error:
            return await self._one_by_one(batch, error)
        took = self._clock.monotonic() - started
        commit_seconds.observe(took)
        journal_batch.observe(len(batch))
        if took > SLOW_SECONDS:
            slow_commits.inc()
            log.info("journal_commit_slow", milliseconds=round(took * 1000, 1), entries=len(batch))
        if written == len(batch):
            return [(entry, COMMITTED, entry.seq) for entry in batch], []
        return await self._read_back(batch)

    async def _without_twins(self, batch: list[Entry], error: Exception) -> tuple[list[Settled], list[Entry]]:
        """Settle the commands that stand in the journal already; their neighbours go on at once."""
        try:
            rows = await (await self._connected()).fetch(
                TWINS,
                [entry.table_id for entry in batch],
                [entry.command_id for entry in batch],
                [entry.born for entry in batch],
                timeout=COMMIT_SECONDS,
            )
        except (*_LOST, asyncpg.PostgresError) as away:
            log.warning("journal_twins_unknown", error=repr(away))
            self._drop_connection()
            return [], batch
        stands = {row["table_id"]: row["seq"] for row in rows}
        if not stands:
            return await self._one_by_one(batch, error)
        certain = [_standing(entry, stands[entry.table_id]) for entry in batch if entry.table_id in stands]
        rest = [entry for entry in batch if entry.table_id not in stands]
        settled, again = await self._attempt(rest) if rest else ([], [])
        return certain + settled, again

    async def _one_by_one(self, batch: list[Entry], error: Exception) -> tuple[list[Settled], list[Entry]]:
        """One bad row must not take its neighbours with it; `error` is what they met together: nothing was written."""
        log.warning("journal_batch_refused", entries=len(batch), error=repr(error))
        if len(batch) == 1:
            return (
                ([(batch[0], Outcome.REFUSED, batch[0].seq)], []) if isinstance(error, _THE_ROWS_OWN) else ([], batch)
            )
        certain: list[Settled] = []
        again: list[Entry] = []
        for position, entry in enumerate(batch):
            settled, waiting = await self._attempt([entry])
            certain += settled
            again += waiting
            if self._connection is None:  # the database has gone meanwhile: do not wait for it once an entry
                again += batch[position + 1 :]
                break
        return certain, again

    async def _read_back(self, batch: list[Entry]) -> tuple[list[Settled], list[Entry]]:
        """What the database says of each command. Nothing is written blindly a second time."""
        certain: list[Settled] = []
        again: list[Entry] = []
        try:
            connection = await self._connected()
            async with asyncio.timeout(COMMIT_SECONDS), connection.transaction():
                rows = await connection.fetch(LOCK_HEADS, [entry.table_id for entry in batch])
                heads = {row["table_id"]: row for row in rows}
                for entry in batch:
                    head = heads.get(entry.table_id)
                    if head is None or head["epoch"] != entry.epoch:
                        # Also when our row stands: whoever has the table now answers for it.
                        certain.append((entry, FENCED, entry.seq))
                        continue
                    found = await connection.fetchval(FIND, entry.table_id, entry.command_id, entry.born)
                    if found is not None:
                        certain.append(_standing(entry, found))
                    elif head["next_seq"] == entry.seq and head["status"] == "live":
                        again.append(entry)
                    else:
                        certain.append((entry, FENCED, entry.seq))
        except (*_LOST, asyncpg.PostgresError) as error:
            log.warning("journal_read_back_failed", error=repr(error))
            self._drop_connection()
            return [], batch
        return certain, again

    async def _append(self, batch: Sequence[Entry]) -> int:
        """How many rows were written: those whose heads are still ours."""
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
        events = [(entry, message) for entry in batch for message in entry.events]
        seatings = [(entry.table_id, entry.seating) for entry in batch if entry.seating is not None]
        written: int
        if seatings:
            # Who left may sit elsewhere from the commit on, and that deal is dated by the database: a worker whose
            # clock is ahead would make the two overlap (E10). Seats change seldom enough for a round trip more.
            moment = await connection.fetchval("select clock_timestamp()", timeout=COMMIT_SECONDS)
            written = await connection.fetchval(
                APPEND_WITH_SEATS,
                *columns,
                *self._event_columns(events, moment),
                *_seating_columns(seatings),
                timeout=COMMIT_SECONDS,
            )
            self._wake_relay()
        elif not events:
            written = await connection.fetchval(APPEND, *columns, timeout=COMMIT_SECONDS)
        else:
            written = await connection.fetchval(
                APPEND_WITH_EVENTS, *columns, *self._event_columns(events, self._clock.now()), timeout=COMMIT_SECONDS
            )
            self._wake_relay()
        return written

    def _event_columns(self, events: Sequence[tuple[Entry, Any]], moment: datetime) -> list[Any]:
        """`moment` dates those that have none yet: a row that is tried again keeps what it says."""
        for _, message in events:
            if not message.event_id:
                message.event_id = self._entropy.uuid7().bytes
                message.occurred_at.FromDatetime(moment)
        return [
            [entry.table_id for entry, _ in events],
            [UUID(bytes=message.event_id) for _, message in events],
            [message.WhichOneof("event") for _, message in events],
            [message.SerializeToString() for _, message in events],
            [bucket_of(entry.table_id.bytes) for entry, _ in events],
            [entry.traceparent for entry, _ in events],
        ]

    async def _connected(self) -> asyncpg.Connection:
        if self._connection is None or self._connection.is_closed():
            self._connection = await self._connect()
        return self._connection

    async def _connect(self) -> asyncpg.Connection:
        # Named, so that operators and fault tests can tell it from the pool's connections.
        return await asyncpg.connect(self._dsn, timeout=5, server_settings={"application_name": APPLICATION, **PLANNER})

    def _drop_connection(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None


def _seating_columns(seatings: Sequence[tuple[UUID, Seating]]) -> list[Any]:
    return [
        [table_id for table_id, _ in seatings],
        [seating.account for _, seating in seatings],
        [seating.seat for _, seating in seatings],
        [seating.name for _, seating in seatings],
        [seating.guest for _, seating in seatings],
        [seating.sits for _, seating in seatings],
    ]


def _in_order(entry: Entry) -> int:
    """Heads are locked in one order by everybody. The number compares faster than the id."""
    return entry.table_id.int


def _standing(entry: Entry, seq: int) -> Settled:
    """The command stands as row `seq`: ours if that is the row we meant, else an earlier one's twin."""
    return entry, COMMITTED if seq == entry.seq else Outcome.REPEATED, seq
