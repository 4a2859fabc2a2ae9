"""What follows from others' events: seats end, levels rise, tiers change.

Idempotent; each works inside its consumer's transaction.
"""

from services.matchmaking.domain.ids import AccountId, TableId
from services.matchmaking.domain.tickets import Tier
from services.matchmaking.ports import Records


async def game_over(table_id: TableId, *, tx: Records) -> None:
    """Finished or voided: everybody at the table may queue again. Also before its creation was noted here."""
    await tx.end_table(table_id, await tx.now())


async def seat_vacated(table_id: TableId, account_id: AccountId, *, tx: Records) -> None:
    """Who left on purpose may queue again at once (P8)."""
    await tx.end_seat(table_id, account_id, await tx.now())


async def level_reached(account_id: AccountId, level: int, *, tx: Records) -> None:
    """Rooms open by level (P2)."""
    await tx.raise_level(account_id, level)


async def tier_changed(account_id: AccountId, tier: Tier, *, tx: Records) -> None:
    """Near tiers sit together (P4). A ticket keeps the tier it was made with."""
    await tx.set_tier(account_id, tier)
