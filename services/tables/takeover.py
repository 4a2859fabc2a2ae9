"""What a worker has claimed becomes live again: read many at once, folded one by one, voided where that fails."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, TypeVar
from uuid import UUID
from zoneinfo import ZoneInfo

import structlog

from libs.chassis.clock import Clock
from libs.chassis.events.delivery import is_passing
from services.tables.domain.table import Table
from services.tables.faults import note
from services.tables.handlers import games
from services.tables.handlers.games import TablesStore
from services.tables.ports import Claimed, Head, Standing

log = structlog.get_logger()

T = TypeVar("T")

# Tables read in one transaction: one each costs several times what the fold itself does (measured).
READ_AT_ONCE = 25
FOLD_TURN_SECONDS = 0.005  # of folding, then the loop serves the tables that live
TRIES_PAUSE = 1.0  # between tries while the database is away


class Takeover:
    """The tables on their way from a dead worker to this one."""

    def __init__(
        self,
        *,
        store: TablesStore,
        zone: ZoneInfo,
        clock: Clock,
        spawn: Callable[[Coroutine[Any, Any, None]], object],
        begin: Callable[[Claimed, Head, Table], None],
    ) -> None:
        """`begin` gets each table that was folded; `spawn` runs a task that ends with the worker."""
        self._store = store
        self._zone = zone
        self._clock = clock
        self._spawn = spawn
        self._begin = begin
        # Claimed and not yet folded; one that cannot even be voided stays here until somebody has looked at it.
        self.pending: set[UUID] = set()
        self._reading = asyncio.Lock()  # batches side by side only make each of them later

    def take(self, claimed: Sequence[Claimed]) -> None:
        """Go on with these tables, in their order."""
        self.pending.update(each.table_id for each in claimed)
        for first in range(0, len(claimed), READ_AT_ONCE):
            self._spawn(self._recover(claimed[first : first + READ_AT_ONCE]))

    async def _recover(self, claimed: Sequence[Claimed]) -> None:
        async with self._reading:
            try:
                standings = await self._when_possible(
                    lambda: games.standings([each.table_id for each in claimed], store=self._store)
                )
            except Exception as error:
                self._unreadable(claimed, error)
                return
            await self._fold_all(claimed, {each.head.table_id: each for each in standings})

    def _unreadable(self, claimed: Sequence[Claimed], error: Exception) -> None:
        """What keeps a batch from being read is one table's fault, and must not be the others'."""
        if len(claimed) > 1:
            for each in claimed:
                self._spawn(self._recover([each]))
            return
        [alone] = claimed
        note("fold_failed", error, table=alone.table_id.hex)
        self._spawn(self._void_unfoldable(alone))

    async def _fold_all(self, claimed: Sequence[Claimed], standings: dict[UUID, Standing]) -> None:
        began = self._clock.monotonic()
        for each in claimed:
            standing = standings.get(each.table_id)
            if standing is None or standing.head.epoch != each.epoch:
                self.pending.discard(each.table_id)  # closed, or claimed by another since
                continue
            try:
                table = games.folded(standing)
            except Exception as error:
                note("fold_failed", error, table=each.table_id.hex)
                self._spawn(self._void_unfoldable(each))
                continue
            self.pending.discard(each.table_id)
            self._begin(each, standing.head, table)
            if self._clock.monotonic() - began > FOLD_TURN_SECONDS:
                await asyncio.sleep(0)
                began = self._clock.monotonic()

    async def _void_unfoldable(self, claimed: Claimed) -> None:
        async def void() -> None:
            found = await games.opening(claimed.table_id, store=self._store)
            if found is not None:
                _, body = found
                await games.void(
                    claimed.table_id, body, epoch=claimed.epoch, reason="unfoldable_journal", store=self._store,
                    zone=self._zone,
                )  # fmt: skip

        try:
            await self._when_possible(void)
        except Exception as error:
            note("void_failed", error, table=claimed.table_id.hex)
        else:
            self.pending.discard(claimed.table_id)

    @staticmethod
    async def _when_possible(work: Callable[[], Awaitable[T]]) -> T:
        """The result of `work`, tried again for as long as the database is away. Raises whatever will not pass."""
        while True:
            try:
                return await work()
            except Exception as error:
                if not is_passing(error):
                    raise
                log.warning("recovery_waits", error=repr(error))
            await asyncio.sleep(TRIES_PAUSE)
