"""A table worker: the tables it owns, the streams of its gateways, its lease, takeover and drain (architecture §4)."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from typing import Any
from uuid import UUID

import structlog

from libs.chassis.clock import Clock
from libs.chassis.entropy import Entropy
from libs.wire import link
from services.tables import handlers
from services.tables.actor import Pace, TableActor
from services.tables.domain.errors import Draining, TableUnowned
from services.tables.handlers import OpenTable, Owner, TablesStore
from services.tables.metrics import recoveries, recovery_seconds, tables_live
from services.tables.ports import Claimed, Head
from services.tables.sessions import GatewaySession
from services.tables.storage.journal import GroupJournal
from services.tables.storage.ownership import LEASE_SECONDS, RENEW_SECONDS, SWEEP_SECONDS, Ownership

log = structlog.get_logger()

END_TRIES_PAUSE = 1.0  # between tries to close a finished game while the database is away
FOLDS_AT_ONCE = 8  # recoveries side by side; more only makes each of them later


class Worker:
    """Keeps actors by table id. `run` is its life; everything else is called from the gRPC side or by actors."""

    def __init__(
        self, *, worker_id: str, ownership: Ownership, journal: GroupJournal, store: TablesStore, clock: Clock,
        entropy: Entropy, pace: Pace,
    ) -> None:  # fmt: skip
        self._worker_id = worker_id
        self._ownership = ownership
        self._journal = journal
        self._store = store
        self._clock = clock
        self._entropy = entropy
        self._pace = pace
        self._actors: dict[bytes, TableActor] = {}
        self._sessions: set[GatewaySession] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._draining = False
        self._registered = False
        self._folding = asyncio.Semaphore(FOLDS_AT_ONCE)
        self.address = ""

    # ---- life ----

    async def start(self, address: str) -> None:
        """Register under `address`, which gateways will dial."""
        self.address = address
        await self._ownership.register(address)
        self._registered = True

    async def keep_lease(self) -> None:
        """Renew each second, bury the dead and take over what nobody owns."""
        unbroken_since = self._clock.monotonic()
        renewed = -RENEW_SECONDS
        while True:
            try:
                now = self._clock.monotonic()
                if now - renewed >= RENEW_SECONDS:
                    if not await self._ownership.renew(len(self._actors)):
                        await self._reborn()
                    renewed = now
                if not self._draining:
                    if now - unbroken_since > LEASE_SECONDS:
                        for dead in await self._ownership.bury():
                            log.warning("worker_buried", worker=dead)
                    await self._take_over()
            except Exception as error:
                log.warning("lease_unreachable", error=repr(error))
                self._ownership.drop_connection()
                unbroken_since = self._clock.monotonic()
            await asyncio.sleep(SWEEP_SECONDS)

    async def _reborn(self) -> None:
        """Declared dead while away: what we own may be another's; begin anew with nothing."""
        log.warning("incarnation_lost", tables=len(self._actors))
        for actor in list(self._actors.values()):
            actor.release()
        self._actors.clear()
        tables_live.set(0)
        self._ownership.incarnation = self._entropy.uuid7()
        await self._ownership.register(self.address)

    async def drain(self) -> None:
        """Hand every table over: no new ones, finish what is in flight, flush, release, tell the gateways."""
        self._draining = True
        try:
            await self._ownership.leave("draining")
            actors = list(self._actors.values())
            await asyncio.gather(*(actor.quiet() for actor in actors))
            await self._journal.flushed()
            await self._ownership.release()
            for actor in actors:
                actor.release()
            self._actors.clear()
            tables_live.set(0)
            await self._ownership.leave("gone")
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

        Raises Draining, TableUnowned, and what `handlers.open_table` raises.
        """
        if self._draining or not self._registered:
            raise Draining
        owner = Owner(worker_id=self._worker_id, incarnation=self._ownership.incarnation, address=self.address)
        made = await handlers.open_table(command, store=self._store, entropy=self._entropy, owner=owner)
        if isinstance(made, Head):
            if made.status == handlers.LIVE and made.owner_address is None:
                raise TableUnowned
            return made
        table, born = made
        actor = self._actor(table, epoch=1, born=born)
        self._keep(actor)
        actor.start()
        return actor

    def find(self, table_id: bytes) -> TableActor | None:
        """The actor of a table that is ours."""
        return self._actors.get(table_id)

    def _actor(self, table: Any, *, epoch: int, born: Any) -> TableActor:
        return TableActor(
            table, epoch=epoch, born=born, journal=self._journal, clock=self._clock, pace=self._pace, keeper=self
        )

    def _keep(self, actor: TableActor) -> None:
        self._actors[actor.table.table_id.bytes] = actor
        tables_live.set(len(self._actors))

    def _forget(self, actor: TableActor) -> None:
        if self._actors.get(actor.table.table_id.bytes) is actor:
            del self._actors[actor.table.table_id.bytes]
            tables_live.set(len(self._actors))

    async def _take_over(self) -> None:
        claimed = await self._ownership.claim(len(self._actors))
        for each in claimed:
            self.spawn(self._recover(each))

    async def _recover(self, claimed: Claimed) -> None:
        """Fold a table that was claimed and go on with it; one that cannot be folded is voided."""
        async with self._folding:
            while True:
                try:
                    head, table = await handlers.load(claimed.table_id, store=self._store)
                    break
                except OSError as error:
                    log.warning("recovery_waits", error=repr(error))
                    await asyncio.sleep(END_TRIES_PAUSE)
                except Exception:
                    log.exception("fold_failed", table=claimed.table_id.hex)
                    await self._void_unfoldable(claimed)
                    return
        if head.epoch != claimed.epoch or head.status != handlers.LIVE:
            return
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

    async def _void_unfoldable(self, claimed: Claimed) -> None:
        found = await handlers.opening(claimed.table_id, store=self._store)
        if found is not None:
            _, body = found
            await handlers.void(
                claimed.table_id, body, epoch=claimed.epoch, reason="unfoldable_journal", store=self._store
            )

    # ---- what actors report ----

    def lost(self, actor: TableActor) -> None:
        """The fence refused an entry: another worker owns the table."""
        log.warning("table_lost", table=actor.table.table_id.hex, epoch=actor.epoch)
        self._forget(actor)

    def ended(self, actor: TableActor) -> None:
        self.spawn(self._end(actor, None))

    def failed(self, actor: TableActor, error: Exception) -> None:
        log.error("game_voided", table=actor.table.table_id.hex, error=repr(error))
        self.spawn(self._end(actor, "fault"))

    async def _end(self, actor: TableActor, fault: str | None) -> None:
        """Close the game in the database, then show the secret and forget the table; tried until it is certain."""
        while True:
            try:
                if fault is None:
                    closed = await handlers.finish(actor.table, epoch=actor.epoch, born=actor.born, store=self._store)
                else:
                    closed = await handlers.void(
                        actor.table.table_id, actor.table.opened, epoch=actor.epoch, reason=fault, store=self._store
                    )
            except Exception:
                log.exception("closing_failed", table=actor.table.table_id.hex)
                await asyncio.sleep(END_TRIES_PAUSE)
                continue
            break
        if closed:
            actor.announce_over(handlers.PLAYED_OUT if fault is None else handlers.VOIDED)
        else:
            actor.release()
        self._forget(actor)

    # ---- gateways ----

    async def play(self, batches: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """One gateway's stream: up-batches in, down-batches out, until either side ends it."""
        session = GatewaySession(self._clock)
        self._sessions.add(session)
        reader = asyncio.get_running_loop().create_task(self._read(session, batches))
        try:
            async for batch in session.batches():
                yield batch
        finally:
            session.close()
            self._sessions.discard(session)
            reader.cancel()
            for actor in list(self._actors.values()):
                actor.session_ended(session)

    async def _read(self, session: GatewaySession, batches: AsyncIterator[bytes]) -> None:
        try:
            async for batch in batches:
                arrived = self._clock.monotonic()
                for frame in link.decode_up(batch):
                    self._route(session, frame, arrived)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            log.warning("gateway_stream_broken", error=repr(error))
        finally:
            session.close()

    def _route(self, session: GatewaySession, frame: link.Up, arrived: float) -> None:
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


def worker_incarnation(entropy: Entropy) -> UUID:
    """A new life of a worker's name."""
    return entropy.uuid7()
