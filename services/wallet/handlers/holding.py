"""Holds that are asked for at the same time are committed together: a commit is what a hold costs most.

Nothing lingers for company: while one commit is under way others gather, and the next takes them all. Each is
answered after its own commit, as if it had been alone; whatever is not plain (a twin, a balance that falls short, a
table past its deal) is done alone by `hold_entry`.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from libs.chassis.errors import DomainError
from libs.house.platform import Platform
from services.wallet.domain.holds import Hold, set_aside
from services.wallet.handlers.entries import HoldEntry, asked, hold_entry
from services.wallet.ports import Wallets

TOGETHER_MAX = 64  # ten tables' worth: a longer transaction would make their deals wait


@dataclass(eq=False, slots=True)
class _Waiting:
    command: HoldEntry
    hold: Hold
    # None: to be done alone.
    answer: "asyncio.Future[Hold | None]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class HoldDesk:
    """One a process."""

    def __init__(self, wallets: Wallets, platform: Platform) -> None:
        self._wallets = wallets
        self._platform = platform
        self._waiting: list[_Waiting] = []
        self._turn = asyncio.Lock()

    async def hold(self, command: HoldEntry) -> Hold:
        """As `hold_entry`, and raises as it does."""
        mine = _Waiting(command, asked(command, self._platform))
        self._waiting.append(mine)
        try:
            async with self._turn:
                while not mine.answer.done():
                    await self._commit()
        finally:
            # Who goes away is not held for by the next; what is in a commit already may stand, as a lost answer does.
            if not mine.answer.done():
                mine.answer.cancel()
                self._waiting.remove(mine)
        held = mine.answer.result()
        return held if held is not None else await hold_entry(command, wallets=self._wallets, platform=self._platform)

    async def _commit(self) -> None:
        """Answer the first who wait, in the order in which they came. One at a time."""
        batch = self._waiting[:TOGETHER_MAX]
        try:
            held = await self._together([each.hold for each in batch])
        except DomainError:
            held = []  # nothing was written; each is told its own part of it
        known = {(hold.table_id, hold.account_id): hold for hold in held}
        for each in batch:
            if not each.answer.done():
                self._waiting.remove(each)
                # A twin that asked for something else is told so when it is done alone.
                opened = known.get((each.hold.table_id, each.hold.account_id))
                each.answer.set_result(opened if opened == each.hold else None)

    async def _together(self, holds: Sequence[Hold]) -> Sequence[Hold]:
        """Those that were opened. Raises InsufficientFunds for one whose balance falls short: then none was."""
        async with self._wallets.transaction() as ledger:
            opened = await ledger.open_holds(holds)
            await ledger.post(set_aside(hold) for hold in opened)
            return opened
