"""A table worker: the tables it owns, the streams of its gateways, its lease, takeover and drain (ARCHITECTURE.md)."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import structlog

from libs.chassis.clock import Clock
from libs.chassis.entropy import Entropy
from libs.chassis.events.delivery import is_passing
from libs.chassis.telemetry.tracing import span
from libs.wire import link
from services.tables.actor import Pace, TableActor, TakeSeat
from services.tables.bots import BotPlayers
from services.tables.domain.entries import SeatFacts
from services.tables.domain.errors import Draining, TableUnowned
from services.tables.domain.table import Table
from services.tables.domain.waiting import WaitingTable
from services.tables.faults import note
from services.tables.handlers import friends, games
from services.tables.handlers.games import OpenTable, Owner, TablesStore
from services.tables.metrics import recoveries, recovery_seconds, tables_live
from services.tables.ports import Claimed, Head
from services.tables.sessions import GatewaySession, NeighbourSession, Session
from services.tables.storage.journal import GroupJournal
from services.tables.storage.ownership import (
    LEASE_SECONDS,
    RENEW_SECONDS,
    STRAY_SECONDS,
    SWEEP_SECONDS,
    TAKE_MAX,
    Ownership,
)
from services.tables.takeover import Takeover

log = structlog.get_logger()

END_TRIES_PAUSE = 1.0  # between tries to close a finished game while the database is away
END_FAULTS_MAX = 3  # then the fault is ours and not the database's, and the game is voided


class Worker:
    """Keeps actors by table id. `run` is its life; everything else is called from the gRPC side or by actors."""

    def __init__(
        self, *, worker_id: str, ownership: Ownership, journal: GroupJournal, store: TablesStore, clock: Clock,
        entropy: Entropy, pace: Pace, bots: BotPlayers, zone: ZoneInfo,
    ) -> None:  # fmt: skip
        """`zone` is the one in which days and weeks are counted."""
        self._worker_id = worker_id
        self._ownership = ownership
        self._journal = journal
        self._store = store
        self._clock = clock
        self._entropy = entropy
        self._pace = pace
        self._bots = bots
        self.zone = zone
        self._actors: dict[bytes, TableActor] = {}
        self._sessions: set[Session] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._draining = False
        self._registered = False
        self._takeover = Takeover(store=store, zone=zone, clock=clock, spawn=self.spawn, begin=self._go_on)
        self.address = ""

    # ---- life ----

    async def start(self, address: str) -> None:
        """Register under `address`, which gateways will dial."""
        self.address = address
        await self._ownership.register(address)
        self._registered = True

    async def keep_lease(self) -> None:
        """Renew each second, bury the dead and take over what nobody owns."""
        unbroken_since = turn = adopted = self._clock.monotonic()
        renewed = -RENEW_SECONDS
        while True:
            pause = SWEEP_SECONDS
            try:
                now = self._clock.monotonic()
                if now - turn > RENEW_SECONDS:
                    unbroken_since = now  # who was held up himself knows nothing of the others
                turn = now
                if now - renewed >= RENEW_SECONDS:
                    stands = await self._ownership.renew(self._load())
                    if not stands and not self._draining:
                        # Who drains has said good-bye: reborn, it would look like an empty worker to the others.
                        await self._reborn()
                    renewed = now
                if not self._draining:
                    if now - unbroken_since > LEASE_SECONDS:
                        for dead in await self._ownership.bury():
                            log.warning("worker_buried", worker=dead)
                    if now - adopted > STRAY_SECONDS:
                        self._takeover.take(await self._ownership.adopt(self._known()))
                        adopted = now
                    claimed = await self._ownership.claim(self._load())
                    self._takeover.take(claimed)
                    pause = 0 if len(claimed) == TAKE_MAX else pause
            except Exception as error:
                log.warning("lease_unreachable", error=repr(error))
                self._ownership.drop_connection()
                unbroken_since = self._clock.monotonic()
            await asyncio.sleep(pause)

    def _load(self) -> int:
        return len(self._actors) + len(self._takeover.pending)

    def _known(self) -> list[UUID]:
        return [*self._takeover.pending, *(actor.table.table_id for actor in self._actors.values())]

    async def _reborn(self) -> None:
        """Declared dead while away: what we own may be another's; begin anew with nothing."""
        log.warning("incarnation_lost", tables=len(self._actors))
        self._registered = False
        for actor in list(self._actors.values()):
            actor.release()
        self._actors.clear()
        tables_live.set(0)
        self._ownership.incarnation = self._entropy.uuid7()
        await self._ownership.register(self.address)
        self._registered = True

    async def drain(self) -> None:
        """Hand every table over: no new ones, finish what is in flight, flush, release, tell the gateways."""
        self._draining = True
        try:
            await self._ownership.leave("draining")
            actors = list(self._actors.values())
            for actor in actors:
                actor.retire()
            await asyncio.gather(*(actor.quiet() for actor in actors))
            await self._journal.flushed()
            await self._ownership.release()
            for actor in actors:
                actor.release()
            self._actors.clear()
            tables_live.set(0)
            await self._ownership.leave("gone")
            for session in list(self._sessions):
                session.end()
        except Exception:
            log.exception("drain_incomplete")  # the lease runs out and the others take over

    async def close(self) -> None:
        """After the server has stopped."""
        for session in list(self._sessions):
            session.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._ownership.close()

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something off the hot path; it is cancelled with the worker."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # ---- tables ----

    async def create(self, command: OpenTable) -> Head | TableActor:
        """Open a table here. Idempotent: a table that exists is answered by its head.

        Raises Draining, TableUnowned, and what `handlers.games.open_table` raises.
        """
        owner = self._as_owner()
        made = await games.open_table(command, store=self._store, entropy=self._entropy, owner=owner)
        if isinstance(made, Head):
            if made.status == games.LIVE and made.owner_address is None:
                raise TableUnowned
            return made
        return self._begin(*made)

    async def deal(self, table_id: UUID, account: bytes, req: str, *, desk: friends.Desk) -> WaitingTable:
        """Deal a friends' table here. Raises Draining, and what `friends.deal` raises."""
        dealt, made = await friends.deal(table_id, account, req, desk=desk, owner=self._as_owner())
        if made is not None:
            self._begin(*made)
        return dealt

    async def take_seat(self, table_id: UUID, who: SeatFacts, seat: int, req: str) -> int:
        """The row in which a person has taken a seat over.

        Raises TableUnowned (not here, ask the table's owner), AlreadySeated, and what `TableActor.take_seat` raises.
        """
        actor = self.find(table_id.bytes)
        if actor is None:
            raise TableUnowned
        if actor.table.answered_at(who.account, req) is None:
            # The journal would refuse the row, and for it write those of the other tables one by one.
            await games.require_no_other_seat(who.account, table_id, store=self._store)
        return await actor.take_seat(TakeSeat(who, seat, req), self._clock.monotonic())

    async def void(self, table_id: UUID, decide: Callable[[int | None], Awaitable[bool]]) -> bool:
        """Let `decide` void a game while its table stands still; a game that it refuses to void goes on.

        It gets the epoch in which the table is ours, None where it is not, and tells whether the game had finished.
        """
        actor = self.find(table_id.bytes)
        if actor is None:
            return await decide(None)
        try:
            await actor.hold()
            had_finished = await decide(actor.epoch)
        except BaseException:
            actor.go_on()
            raise
        self._tell_over(actor, games.VOIDED)
        return had_finished

    def _as_owner(self) -> Owner:
        """Raises Draining."""
        if self._draining or not self._registered:
            raise Draining
        return Owner(worker_id=self._worker_id, incarnation=self._ownership.incarnation, address=self.address)

    def _begin(self, table: Table, born: date) -> TableActor:
        adopted = self.find(table.table_id.bytes)
        if adopted is not None:
            return adopted  # the commit's answer was so late that the table was taken for a stray
        actor = self._actor(table, epoch=1, born=born)
        self._keep(actor)
        actor.start()
        return actor

    def find(self, table_id: bytes) -> TableActor | None:
        """The actor of a table that is ours."""
        return self._actors.get(table_id)

    def _actor(self, table: Any, *, epoch: int, born: Any) -> TableActor:
        return TableActor(
            table,
            epoch=epoch,
            born=born,
            journal=self._journal,
            clock=self._clock,
            pace=self._pace,
            bots=self._bots,
            keeper=self,
        )

    def _keep(self, actor: TableActor) -> None:
        self._actors[actor.table.table_id.bytes] = actor
        tables_live.set(len(self._actors))

    def _forget(self, actor: TableActor) -> None:
        if self._actors.get(actor.table.table_id.bytes) is actor:
            del self._actors[actor.table.table_id.bytes]
            tables_live.set(len(self._actors))

    def _go_on(self, claimed: Claimed, head: Head, table: Table) -> None:
        """A table taken over is folded: tell the gateways, and play."""
        actor = self._actor(table, epoch=claimed.epoch, born=head.born)
        self._keep(actor)
        recoveries.inc()
        recovery_seconds.observe(claimed.pause_ms / 1000)
        log.info("table_recovered", table=claimed.table_id.hex, epoch=claimed.epoch, pause_ms=claimed.pause_ms)
        for session in self._sessions:
            actor.announce_owner(session, self.address)
        if table.game.over(table.state):
            self.ended(actor)
        else:
            actor.start(claimed.pause_ms)

    # ---- what actors report ----

    def lost(self, actor: TableActor) -> None:
        """The fence refused an entry: another worker owns the table."""
        log.warning("table_lost", table=actor.table.table_id.hex, epoch=actor.epoch)
        self._forget(actor)

    def ended(self, actor: TableActor) -> None:
        self.spawn(self._end(actor, None))

    def failed(self, actor: TableActor, error: Exception) -> None:
        note("game_voided", error, table=actor.table.table_id.hex)
        self.spawn(self._end(actor, "fault"))

    def deserted(self, actor: TableActor) -> None:
        """Nobody is left at a friends' table: it is called off once what is in flight has ended."""
        log.info("table_deserted", table=actor.table.table_id.hex)
        actor.retire()
        self.spawn(self._call_off(actor))

    async def _call_off(self, actor: TableActor) -> None:
        await actor.quiet()
        await self._end(actor, "deserted")

    async def _end(self, actor: TableActor, fault: str | None) -> None:
        """Close the game in the database, then show the secret and forget the table; tried until it is certain."""
        status, faults = None, 0
        while True:
            try:
                status = await self._close(actor, fault)
                break
            except Exception as error:
                note("closing_failed", error, table=actor.table.table_id.hex)
                faults += not is_passing(error)
                if faults >= END_FAULTS_MAX:
                    fault = fault or "fault"
                await asyncio.sleep(END_TRIES_PAUSE)
        if status is None:
            actor.release()
            self._forget(actor)
        else:
            self._tell_over(actor, status)

    def _tell_over(self, actor: TableActor, status: str) -> None:
        """Show the secret and forget the table, once: the end and an operator may both have come."""
        if self.find(actor.table.table_id.bytes) is actor:
            actor.announce_over(status)
            self._forget(actor)

    async def _close(self, actor: TableActor, fault: str | None) -> str | None:
        """How the game stands closed by us, now or by a try whose answer was lost; None: it is another worker's."""
        table = actor.table
        with span("tables.close", actor.traceparent):
            if fault is None:
                if await games.finish(table, epoch=actor.epoch, born=actor.born, store=self._store, zone=self.zone):
                    return games.PLAYED_OUT
            elif await games.void(
                table.table_id, table.opened, epoch=actor.epoch, reason=fault, store=self._store, zone=self.zone
            ):
                return games.VOIDED
            return await games.closed(table.table_id, actor.epoch, store=self._store)

    # ---- gateways ----

    async def play(self, batches: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """One gateway's stream: up-batches in, down-batches out, until either side ends it."""
        session = GatewaySession(self._clock)
        self._sessions.add(session)
        # Who comes from a dead worker has found one of its tables here; the others it need not look for one by one.
        for actor in self._actors.values():
            if actor.epoch > 1:
                actor.announce_owner(session, self.address)
        reader = asyncio.get_running_loop().create_task(self._read(session, batches))
        try:
            async for batch in session.batches():
                yield batch
        finally:
            self._leave(session)
            reader.cancel()

    async def _read(self, session: GatewaySession, batches: AsyncIterator[bytes]) -> None:
        try:
            async for batch in batches:
                self._take(session, link.decode_up(batch))
        except asyncio.CancelledError:
            raise
        except Exception as error:
            log.warning("gateway_stream_broken", error=repr(error))
        finally:
            session.close()

    def join(self, deliver: Callable[[Sequence[link.Down]], None], lost: Callable[[], None]) -> "Line":
        """A gateway of this process joins without a stream (`libs.wire.neighbours`)."""
        session = NeighbourSession(deliver, lost)
        self._sessions.add(session)
        return Line(session, self._take, self._leave)

    def _leave(self, session: Session) -> None:
        session.close()
        self._sessions.discard(session)
        for actor in list(self._actors.values()):
            actor.session_ended(session)

    def _take(self, session: Session, batch: Sequence[link.Up]) -> None:
        arrived = self._clock.monotonic()
        for frame in batch:
            self._route(session, frame, arrived)

    def _route(self, session: Session, frame: link.Up, arrived: float) -> None:
        actor = self._actors.get(frame.table)
        match frame:
            case link.Subscribe():
                if actor is None:
                    session.send(link.NotOwner(frame.table, frame.conn))
                else:
                    actor.subscribe(session, frame)
            case link.Unsubscribe():
                if actor is not None:
                    actor.unsubscribe(session, frame.conn)
            case link.Command() | link.Vacate():
                if actor is None:
                    session.send(link.NotOwner(frame.table, frame.conn, frame.req))
                else:
                    actor.command(session, frame, arrived)


@dataclass(frozen=True, slots=True)
class Line:
    """A joined gateway's end (`libs.wire.neighbours.Line`)."""

    session: Session
    taken: Callable[[Session, Sequence[link.Up]], None]
    left: Callable[[Session], None]

    def take(self, batch: Sequence[link.Up]) -> None:
        """Up-frames of one turn of the loop."""
        self.taken(self.session, batch)

    def close(self) -> None:
        """The gateway is gone with all its sockets."""
        self.left(self.session)


def worker_incarnation(entropy: Entropy) -> UUID:
    """A new life of a worker's name."""
    return entropy.uuid7()
