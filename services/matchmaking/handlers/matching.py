"""Forming matches: one transaction a pool, so that a ticket is matched, cancelled or waiting and never two of these."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from libs.chassis.entropy import Entropy
from libs.house.ids import table_id
from libs.house.modes import Mode
from libs.house.platform import Platform
from services.matchmaking.domain.forming import form
from services.matchmaking.domain.ids import TableId
from services.matchmaking.metrics import tickets_waiting
from services.matchmaking.ports import NewMatch, Store

TICKETS_A_TURN = 2000  # the oldest are looked at: whom nobody fits blocks nobody before so many of them wait
TABLES_A_TURN = 100  # bounds what one transaction writes; the next turn follows at once
POOL_LEASE = timedelta(seconds=3)  # a dead matcher's pool is taken over after it; a live one renews at every turn
STEP_LEASE = timedelta(seconds=5)  # longer than a call to another service; a dead matcher's matches wait this long


@dataclass(frozen=True, slots=True, kw_only=True)
class Matching:
    """One matcher. `owner` is its name in the pools' leases, new at every start."""

    store: Store
    platform: Platform
    entropy: Entropy
    owner: UUID

    async def waiting(self) -> Mapping[Mode, int]:
        """How many wait in each mode; one cheap look, so that an idle queue costs nothing else."""
        async with self.store.transaction() as tx:
            waiting = await tx.waiting_by_mode()
        for mode in Mode:
            tickets_waiting.labels(mode.value).set(waiting.get(mode, 0))
        return waiting

    async def match(self, mode: Mode) -> tuple[TableId, ...]:
        """Put waiting tickets together. Returns the new matches, which this process should carry on.

        Empty also when another matcher holds the pool; as many as `TABLES_A_TURN`: there may be more to do.
        """
        async with self.store.transaction() as tx:
            now = await tx.now()
            if not await tx.hold_pool(mode, self.owner, now, now + POOL_LEASE):
                return ()
            tickets = await tx.waiting(mode, TICKETS_A_TURN)
            groups = form(tickets, now, self.platform.matchmaking, self.platform.free_rooms)
            # Whoever waits longest first: a flood of newcomers who fill their tables at once holds up nobody's time.
            groups = sorted(groups, key=lambda group: (group[0].created_at, group[0].ticket_id))[:TABLES_A_TURN]
            still = await tx.lock_waiting([ticket.ticket_id for group in groups for ticket in group])
            matches = [
                NewMatch(
                    table_id=TableId(table_id(self.entropy.uuid7())),
                    mode=mode,
                    ticket_ids=tuple(ticket.ticket_id for ticket in group),
                )
                for group in groups
                if still.issuperset(ticket.ticket_id for ticket in group)  # else somebody has just cancelled
            ]
            await tx.insert_matches(matches, now, now + STEP_LEASE)
        return tuple(match.table_id for match in matches)

    async def leave(self) -> None:
        """Give the pools to the others at once instead of after the lease."""
        async with self.store.transaction() as tx:
            await tx.leave_pools(self.owner)
