"""Telling thousands of watchers where they stand: one look at the database for all of them, five times a second."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from itertools import islice

from libs.chassis.clock import Clock
from services.matchmaking.domain.ids import AccountId
from services.matchmaking.domain.tickets import Place, TicketState

POLL_SECONDS = 0.2  # a seat is told this late at most; any replica's commits are seen
TELL_SECONDS = 1.0  # a waiting player is told at least this often how the table fills
ACCOUNTS_A_LOOK = 1000  # bounds one query

LookUp = Callable[[Sequence[AccountId]], Awaitable[Mapping[AccountId, Place]]]


class Slot:
    """The newest place of one watcher; an older one that was not fetched is overwritten."""

    def __init__(self) -> None:
        self._fresh = asyncio.Event()
        self._place = Place()

    def put(self, place: Place) -> None:
        self._place = place
        self._fresh.set()

    async def get(self) -> Place:
        """Wait for the next one."""
        await self._fresh.wait()
        self._fresh.clear()
        return self._place


class Watching:
    """One a process. `run` must be running for `follow` to go on."""

    def __init__(self, look_up: LookUp, clock: Clock) -> None:
        self._look_up = look_up
        self._clock = clock
        self._slots: dict[AccountId, set[Slot]] = defaultdict(set)
        self._wanted = asyncio.Event()

    async def run(self) -> None:
        """Look for as long as anybody watches."""
        while True:
            await self._wanted.wait()
            await self.look()
            await asyncio.sleep(POLL_SECONDS)

    async def look(self) -> None:
        """Look once and tell every watcher."""
        accounts = iter(list(self._slots))
        while some := tuple(islice(accounts, ACCOUNTS_A_LOOK)):
            for account_id, place in (await self._look_up(some)).items():
                for slot in self._slots.get(account_id, ()):
                    slot.put(place)

    async def follow(self, account_id: AccountId) -> AsyncIterator[Place]:
        """The place now, at each change, and each second while waiting; ends when seated, dropped or idle."""
        slot = Slot()
        self._slots[account_id].add(slot)
        self._wanted.set()
        try:
            place = (await self._look_up((account_id,)))[account_id]
            told_at = self._clock.monotonic()
            yield place
            while not _ends(place):
                told, place = place, await slot.get()
                if place == told and self._clock.monotonic() - told_at < TELL_SECONDS:
                    continue
                told_at = self._clock.monotonic()
                yield place
        finally:
            self._forget(account_id, slot)

    def _forget(self, account_id: AccountId, slot: Slot) -> None:
        self._slots[account_id].discard(slot)
        if not self._slots[account_id]:
            del self._slots[account_id]
        if not self._slots:
            self._wanted.clear()


def _ends(place: Place) -> bool:
    return place.ticket is None or place.ticket.state not in (TicketState.WAITING, TicketState.MATCHED)
