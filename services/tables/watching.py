"""Telling those who are at a friends' table of its changes and its chat: one look at the database for all of them."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from uuid import UUID

from libs.chassis.clock import Clock
from services.tables.domain.errors import Barred, TableUnknown
from services.tables.domain.waiting import Stage, WaitingTable
from services.tables.handlers.friends import Desk
from services.tables.storage.friends import Line

POLL_SECONDS = 0.5  # what another worker has changed is told this late at most
RENEW_SHARE = 4  # so many renewals a seat's lease: it outlives a lost one and a slow one


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What is new: the table where it has changed, and chat."""

    table: WaitingTable | None
    lines: list[Line]


@dataclass(eq=False, slots=True)
class _Watcher:
    account: bytes
    fresh: asyncio.Event = field(default_factory=asyncio.Event)


class Watching:
    """One a process. `run` must be running for `follow` to go on."""

    def __init__(self, desk: Desk, clock: Clock) -> None:
        self._desk = desk
        self._clock = clock
        self._watchers: dict[UUID, set[_Watcher]] = defaultdict(set)
        self._seen: dict[UUID, tuple[int, int]] = {}
        self._wanted = asyncio.Event()
        self._ending = False

    async def run(self) -> None:
        """Look for changes, and keep the seats of those who watch, for as long as anybody does."""
        renewed = self._clock.monotonic()
        while True:
            if not self._watchers:
                self._wanted.clear()
                await self._wanted.wait()
            await self._look()
            if self._clock.monotonic() - renewed > self._desk.friends.seat_lease_ms / 1000 / RENEW_SHARE:
                await self._renew()
                renewed = self._clock.monotonic()
            await asyncio.sleep(POLL_SECONDS)

    def changed(self, table_id: UUID) -> None:
        """Something was changed here: its watchers need not wait for the next look."""
        for watcher in self._watchers.get(table_id, ()):
            watcher.fresh.set()

    def close(self) -> None:
        """End every stream: the watchers go to another worker."""
        self._ending = True
        for table_id in list(self._watchers):
            self.changed(table_id)

    async def follow(self, table_id: UUID, account: bytes, since_line: int) -> AsyncIterator[Told]:
        """The table now and at each change, with the lines after `since_line`; ends when the table is closed.

        Lines of people whom the account has muted, or an operator has silenced, are left out. Raises TableUnknown,
        Barred.
        """
        watcher = _Watcher(account)
        self._watchers[table_id].add(watcher)
        self._wanted.set()
        version, line = 0, since_line
        try:
            while not self._ending:
                watcher.fresh.clear()
                table, lines, muted = await self._read(table_id, account, line)
                if account in table.barred:
                    raise Barred
                fresh = table if table.version != version else None
                heard = [each for each in lines if each.account not in muted]
                if fresh is not None or heard:
                    yield Told(table=fresh, lines=heard)
                version = table.version
                line = max([line, *(each.line for each in lines)])
                if table.stage is Stage.CLOSED:
                    return
                await watcher.fresh.wait()
        finally:
            self._watchers[table_id].discard(watcher)
            if not self._watchers[table_id]:
                del self._watchers[table_id]
                self._seen.pop(table_id, None)

    async def _read(
        self, table_id: UUID, account: bytes, since: int
    ) -> tuple[WaitingTable, list[Line], frozenset[bytes]]:
        """The table, what was said since, and whose lines are left out; reading keeps the reader's seat."""
        async with self._desk.store.transaction() as tx:
            table = await tx.waiting(table_id)
            if table is None:
                raise TableUnknown
            await tx.renew([(table_id, account)], self._desk.lease)
            lines = await tx.lines(table_id, since) if table.spoken > since else []
            if not lines:
                return table, lines, frozenset()
            silenced = await tx.silenced([each.account for each in lines])
            return table, lines, await tx.muted(account) | silenced.keys()

    async def _look(self) -> None:
        async with self._desk.store.transaction() as tx:
            now = await tx.versions(list(self._watchers))
        for table_id, seen in now.items():
            if self._seen.get(table_id) != seen and table_id in self._watchers:
                self._seen[table_id] = seen
                self.changed(table_id)
        for table_id in set(self._watchers) - set(now):
            self.changed(table_id)  # it is gone: its watchers find out

    async def _renew(self) -> None:
        present = [(table_id, watcher.account) for table_id, all_ in self._watchers.items() for watcher in all_]
        async with self._desk.store.transaction() as tx:
            await tx.renew(present, self._desk.lease)
