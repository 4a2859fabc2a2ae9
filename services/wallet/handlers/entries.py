"""Entries: held at seating, released when there is no deal. What the deal makes of them is in `games`."""

from dataclasses import dataclass

from libs.house.modes import Coffee
from libs.house.platform import Platform
from libs.house.rooms import UnknownRoom
from services.wallet.domain.errors import HoldResolved, RoomUnknown
from services.wallet.domain.holds import GameState, Hold, HoldState, new_hold, release, set_aside
from services.wallet.domain.ledger import AccountId, TableId
from services.wallet.ports import Ledger, Wallets


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldEntry:
    """One person's seat at a table that is about to be dealt."""

    table_id: TableId
    account_id: AccountId
    room: int
    coffee: Coffee


async def hold_entry(command: HoldEntry, *, wallets: Wallets, platform: Platform) -> Hold:
    """Set one seat's entry aside until the table is dealt or abandoned. Idempotent by (table_id, account_id).

    Raises InsufficientFunds (nothing is held), HoldResolved (paid or released, or the table is past its deal),
    HoldDiffers (another room or cup under the same key), RoomUnknown.
    """
    hold = asked(command, platform)
    async with wallets.transaction() as ledger:
        # The game is shared with the table's other holds; a deal waits for them, and what comes after it sees the deal.
        state, inserted = await ledger.open_hold(hold)
        if state is not GameState.OPEN:
            raise HoldResolved
        if not inserted:
            return (await ledger.hold(command.table_id, command.account_id)).answers(hold)
        await ledger.post([set_aside(hold)])
        return hold


def asked(command: HoldEntry, platform: Platform) -> Hold:
    """The hold that is asked for. Raises RoomUnknown."""
    try:
        room = platform.room(command.room)
    except UnknownRoom as error:
        raise RoomUnknown(room=command.room) from error
    return new_hold(command.table_id, command.account_id, room, command.coffee)


async def release_entry(table_id: TableId, account_id: AccountId, *, wallets: Wallets) -> None:
    """Give the entry back. Idempotent; without a hold it leaves a tombstone, so that a late one is refused.

    Raises HoldResolved when the entry was paid.
    """
    tombstone = Hold(
        table_id=table_id,
        account_id=account_id,
        room=0,
        coffee=Coffee.NONE,
        coins=0,
        bars=0,
        state=HoldState.RELEASED,
    )
    async with wallets.transaction() as ledger:
        if await ledger.insert_hold(tombstone):
            return
        if await _release(ledger, table_id, [account_id]):
            return
        if (await ledger.hold(table_id, account_id)).state is HoldState.PAID:
            raise HoldResolved


async def abandon_table(table_id: TableId, *, wallets: Wallets) -> int:
    """Release every open hold of a table that will never be dealt; later holds are refused. Idempotent.

    Returns how many were released; 0 too when an event of the table came first.
    """
    async with wallets.transaction() as ledger:
        if not await ledger.advance(table_id, GameState.ABANDONED):
            return 0
        holds = await ledger.lock_holds(table_id)
        return await _release(ledger, table_id, [hold.account_id for hold in holds])


async def _release(ledger: Ledger, table_id: TableId, accounts: list[AccountId]) -> int:
    released = await ledger.resolve(table_id, accounts, source=HoldState.OPEN, target=HoldState.RELEASED)
    await ledger.post([release(hold) for hold in released])
    return len(released)
