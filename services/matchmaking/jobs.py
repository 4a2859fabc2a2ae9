"""The matcher's loop: form matches while tickets wait, carry matches to their tables, resume what others left."""

import asyncio
import contextlib
from datetime import timedelta

import structlog

from services.matchmaking.domain.ids import TableId
from services.matchmaking.handlers.matching import Matching
from services.matchmaking.handlers.seating import Seating
from services.matchmaking.ports import Store

log = structlog.get_logger()

TURN_SECONDS = 0.1  # between two turns while tickets wait
IDLE_SECONDS = 0.5  # another replica's tickets are seen this late at most; our own wake us at once
MATCHES_AT_ONCE = 32  # matches carried on side by side; the rest queue here, already on their way by their rows

KEEP_TICKETS = timedelta(days=7)  # long enough to answer a player's question about a drop
FORGET_SECONDS = 3600.0


class Matcher:
    """One a process; replicas share the pools by leases and the matches by their rows."""

    def __init__(self, matching: Matching, seating: Seating) -> None:
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
                if await self._turn(group):
                    await asyncio.sleep(TURN_SECONDS)
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

    async def _turn(self, group: asyncio.TaskGroup) -> bool:
        """Whether there is reason for another turn soon."""
        if self._draining:
            return False
        waiting = await self._matching.waiting()
        for mode in waiting:
            self._start(group, await self._matching.match(mode))
        self._start(group, await self._seating.due())
        return bool(waiting or self._under_way)

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
