"""What a table's events do to the ledger. Each may come again or late; none takes effect twice."""

from collections.abc import Collection

from libs.house.platform import Platform
from services.wallet.announcements import announce
from services.wallet.domain.awards import FinishedGame, game_awards
from services.wallet.domain.facts import EntryPaid, EntryReturned
from services.wallet.domain.holds import GameState, HoldState, give_back, pay, release
from services.wallet.domain.ledger import AccountId, TableId
from services.wallet.ports import Ledger


async def start_game(table_id: TableId, seated: Collection[AccountId], *, ledger: Ledger) -> None:
    """The deal is durable: open holds of the seated become entries (P2), those of others come back."""
    if await ledger.advance(table_id, GameState.STARTED):
        await _pay_entries(table_id, seated, ledger)


async def finish_game(game: FinishedGame, *, ledger: Ledger, platform: Platform) -> None:
    """Pay prizes (P6) and first-game gifts (P12), all in one transaction.

    Entries are paid first where the start was not heard of. A game that was voided pays nothing.
    """
    if not await ledger.advance(game.table_id, GameState.FINISHED):
        return
    await _pay_entries(game.table_id, {seat.account_id for seat in game.seats}, ledger)
    holds = await ledger.lock_holds(game.table_id)
    paid = {hold.account_id: hold for hold in holds if hold.state is HoldState.PAID}
    awards = game_awards(game, paid, platform)
    posted = await ledger.post(award.transfer for award in awards)
    for award in awards:
        if award.transfer.key in posted:
            await announce(award.fact, ledger=ledger)


async def void_game(table_id: TableId, *, ledger: Ledger) -> None:
    """Return every entry of a game that ended by our fault. A finished game's entries stay."""
    if not await ledger.advance(table_id, GameState.VOIDED):
        return
    accounts = [hold.account_id for hold in await ledger.lock_holds(table_id)]
    held = await ledger.resolve(table_id, accounts, source=HoldState.OPEN, target=HoldState.RELEASED)
    paid = await ledger.resolve(table_id, accounts, source=HoldState.PAID, target=HoldState.RELEASED)
    await ledger.post([*(release(hold) for hold in held), *(give_back(hold) for hold in paid)])
    for hold in (*held, *paid):
        fact = EntryReturned(account_id=hold.account_id, table_id=table_id, entry=hold.amounts)
        await announce(fact, ledger=ledger)


async def _pay_entries(table_id: TableId, seated: Collection[AccountId], ledger: Ledger) -> None:
    accounts = [hold.account_id for hold in await ledger.lock_holds(table_id)]
    paid = await ledger.resolve(
        table_id, [a for a in accounts if a in seated], source=HoldState.OPEN, target=HoldState.PAID
    )
    # Dealt without this player: the matcher gave up on a hold whose answer was lost.
    unseated = await ledger.resolve(
        table_id, [a for a in accounts if a not in seated], source=HoldState.OPEN, target=HoldState.RELEASED
    )
    await ledger.post([*(pay(hold) for hold in paid), *(release(hold) for hold in unseated)])
    for hold in paid:
        fact = EntryPaid(account_id=hold.account_id, table_id=table_id, entry=hold.amounts)
        await announce(fact, ledger=ledger)
