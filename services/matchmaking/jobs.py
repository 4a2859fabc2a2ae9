"""The matcher's loop: form matches while tickets wait, carry matches to their tables, resume what others left."""

import asyncio
import contextlib
from datetime import timedelta

import structlog

from services.matchmaking.domain.ids import TableId
from services.matchmaking.handlers.matching import TABLES_A_TURN, Matching
from services.matchmaking.handlers.seating import Seating
from services.matchmaking.ports import Store

log = structlog.get_logger()

TURN_SECONDS = 0.1  # between two turns while tickets wait
IDLE_SECONDS = 0.5  # another replica's tickets are seen this late at most; our own wake us at once
MATCHES_AT_ONCE = 8  # matches carried on side by side, six holds each; the rest queue here, on their way by their rows
# No more are formed while so many are on their way: a ticket waits longer sooner than its table comes too late to be
# had, and is taken back. The pool's lease runs out meanwhile, and a replica with less to do forms on.
MATCHES_AHEAD = 120

KEEP_TICKETS = timedelta(days=7)  # long enough to answer a player's question about a drop
FORGET_SECONDS = 3600.0


class Matcher:
    """One a process; replicas share the pools by leases and the matches by their rows."""

    def __init__(self, matching: Matching, seating: Seating, *, ahead: int = MATCHES_AHEAD) -> None:
        self._ahead = ahead
        self._matching = matching
        self._seating = seating
        self._wake = asyncio.Event()
        self._room = asyncio.Semaphore(MATCHES_AT_ONCE)
        self._under_way: set[TableId] = set()
        self._settled = asyncio.Event()
        self._draining = False

    def wake(self) -> None:
        """A ticket was made here."""
        self._wake.set()

    async def run(self) -> None:
        """Match until cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                self._wake.clear()
                if (pause_seconds := await self._turn(group)) is not None:
                    await asyncio.sleep(pause_seconds)
                    continue
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(IDLE_SECONDS):
                        await self._wake.wait()

    async def drain(self) -> None:
        """Form nothing more, see the matches under way to their tables, leave the pools to the others."""
        self._draining = True
        while self._under_way:
            self._settled.clear()
            await self._settled.wait()
        await self._matching.leave()

    async def _turn(self, group: asyncio.TaskGroup) -> float | None:
        """The pause before the next turn; None: nothing to do until somebody comes."""
        if self._draining:
            return None
        waiting = await self._matching.waiting()
        full = False
        for mode in waiting if len(self._under_way) < self._ahead else ():
            made = await self._matching.match(mode)
            full = full or len(made) >= TABLES_A_TURN
            self._start(group, made)
        self._start(group, await self._seating.due())
        if full:
            return 0.0
        return TURN_SECONDS if waiting or self._under_way else None

    def _start(self, group: asyncio.TaskGroup, table_ids: tuple[TableId, ...]) -> None:
        for table_id in table_ids:
            if table_id not in self._under_way:
                self._under_way.add(table_id)
                group.create_task(self._carry_on(table_id))

    async def _carry_on(self, table_id: TableId) -> None:
        try:
            async with self._room:
                await self._seating.carry_on(table_id)
        except Exception:  # the root of a match's task: its row is due again after the step lease
            log.exception("match_interrupted", table_id=str(table_id))
        finally:
            self._under_way.discard(table_id)
            self._settled.set()


async def forget_ended(store: Store) -> int:
    """Delete tickets and matches that ended `KEEP_TICKETS` ago, and names with them. Replicas may do it at once."""
    async with store.transaction() as tx:
        return await tx.forget_ended(await tx.now() - KEEP_TICKETS)
