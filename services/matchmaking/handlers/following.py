"""What follows from others' events: seats end, levels and tiers change, accounts come and go.

Idempotent; each works inside its consumer's transaction.
"""

from datetime import datetime

from services.matchmaking.domain.errors import AccountDeleted, AccountSuspended
from services.matchmaking.domain.ids import AccountId, TableId
from services.matchmaking.domain.tickets import Tier
from services.matchmaking.handlers.telling import publish_drops
from services.matchmaking.ports import Records


async def game_over(table_id: TableId, *, tx: Records) -> None:
    """Finished or voided: everybody at the table may queue again. Also before its creation was noted here."""
    await tx.end_table(table_id, await tx.now())


async def seat_vacated(table_id: TableId, account_id: AccountId, *, tx: Records) -> None:
    """Who left on purpose may queue again at once (P8)."""
    await tx.end_seat(table_id, account_id, await tx.now())


async def level_reached(account_id: AccountId, level: int, told_at: datetime, *, tx: Records) -> None:
    """Rooms open by level (P2), and close again where a voided game took experience back (P82)."""
    if not await _is_deleted(account_id, tx=tx):
        await tx.set_level(account_id, level, told_at)


async def tier_changed(account_id: AccountId, tier: Tier, told_at: datetime, *, tx: Records) -> None:
    """Near tiers sit together (P4). A ticket keeps the tier it was made with."""
    if not await _is_deleted(account_id, tx=tx):
        await tx.set_tier(account_id, tier, told_at)


async def account_suspended(account_id: AccountId, told_at: datetime, *, tx: Records) -> None:
    """No ticket any more (P82). Who is matched is dropped at the deal; a seat is the tables' to end."""
    await _shut_out(account_id, AccountSuspended.reason, told_at, tx=tx)


async def account_reinstated(account_id: AccountId, told_at: datetime, *, tx: Records) -> None:
    """May queue again."""
    await tx.set_closed_reason(account_id, "", told_at)


async def account_deleted(account_id: AccountId, told_at: datetime, *, tx: Records) -> None:
    """No ticket, and nothing of the account but that it is gone (P45)."""
    await _shut_out(account_id, AccountDeleted.reason, told_at, tx=tx)
    await tx.erase_names(account_id)
    await tx.forget_standing(account_id)


async def guest_upgraded(account_id: AccountId, name: str, *, tx: Records) -> None:
    """Who waits, or is on the way to a table, sits down as an account (P42)."""
    await tx.rename(account_id, name, guest=False)


async def name_changed(account_id: AccountId, name: str, *, tx: Records) -> None:
    """Who waits, or is on the way to a table, sits down under it (P41)."""
    await tx.rename(account_id, name)


async def _is_deleted(account_id: AccountId, *, tx: Records) -> bool:
    """Games that an account sat at, and weeks that it played in, may end after it."""
    return (await tx.closed_reasons((account_id,))).get(account_id) == AccountDeleted.reason


async def _shut_out(account_id: AccountId, reason: str, told_at: datetime, *, tx: Records) -> None:
    if not await tx.set_closed_reason(account_id, reason, told_at):
        return
    ticket = await tx.shut_out_ticket(account_id, reason, await tx.now())
    if ticket is not None:
        await publish_drops(tx, (ticket,))
