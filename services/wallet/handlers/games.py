"""What events of tables and the coach do to the ledger. Each may come again or late; none takes effect twice."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from libs.house.platform import Platform
from services.wallet.announcements import announce
from services.wallet.domain.awards import FinishedGame, classic_awards, game_awards
from services.wallet.domain.facts import EntryPaid, EntryReturned, Fact, GiftsReversed, LossBorne, PrizeReversed
from services.wallet.domain.gifts import Award
from services.wallet.domain.holds import GameState, Hold, HoldState, give_back, pay, release
from services.wallet.domain.ledger import AccountId, Reason, TableId, Transfer, gained
from services.wallet.domain.settled import Analysis, Finish, SettledSeat, Undoing, losses, prize_of, take_back
from services.wallet.ports import Ledger

CLASSIC = "classic"  # a day's share of paid classic games


async def start_game(
    table_id: TableId, seated: Collection[AccountId], started_at: datetime | None, *, ledger: Ledger
) -> None:
    """The deal is durable: open holds of the seated become entries (P2), those of others come back."""
    if not await ledger.advance(table_id, GameState.STARTED, started_at=started_at):
        return
    moved, paid, _ = await _resolve_entries(table_id, seated, ledger)
    await ledger.post(moved)
    await announce(_entries(paid), ledger=ledger)


async def finish_game(game: FinishedGame, *, ledger: Ledger, platform: Platform) -> None:
    """Pay prizes (P6), first-game gifts (P12) and what the coach has judged already (P15), all in one transaction.

    Entries are paid first where the start was not heard of. A game that was voided pays nothing.
    """
    if not await ledger.advance(
        game.table_id, GameState.FINISHED, started_at=game.started_at, ended_at=game.finished_at
    ):
        return
    await ledger.keep_finish(game.finish, game.settled, platform.rooms)
    moved, newly_paid, paid = await _resolve_entries(game.table_id, {seat.account_id for seat in game.seats}, ledger)
    awards = list(game_awards(game, paid, platform))
    if game.classic:
        analyses = await ledger.analyses(game.table_id)
        awards += await _within_the_day(game.finish, game.settled, paid, analyses, ledger, platform)
    # One posting of everything: transfers by key, then balances, is the order in which all others lock them too.
    posted = await ledger.post([*moved, *(award.transfer for award in awards)])
    await announce([*_entries(newly_paid), *_given(awards, posted)], ledger=ledger)


async def game_analysed(table_id: TableId, analyses: Sequence[Analysis], *, ledger: Ledger, platform: Platform) -> None:
    """Keep what the coach made of a classic game, and pay for it unless the game's end is still to come (P15).

    Nothing is paid of a game that was voided, or to whom it was refunded.
    """
    # Shared: whichever comes second, this or the game's end, sees what the first has written.
    state = await ledger.share_game(table_id)
    kept = await ledger.keep_analyses(table_id, analyses)
    if state is not GameState.FINISHED or not kept:
        return
    finish = await ledger.finish(table_id)
    if finish is None:
        return
    undone = await ledger.reversals(table_id)
    seats = [seat for seat in await ledger.seats(table_id) if seat.account_id not in undone]
    paid = {hold.account_id: hold for hold in await ledger.holds(table_id) if hold.state is HoldState.PAID}
    awards = await _within_the_day(finish, seats, paid, kept, ledger, platform)
    posted = await ledger.post(award.transfer for award in awards)
    await announce(_given(awards, posted), ledger=ledger)


async def leave_game(table_id: TableId, account_id: AccountId, at: datetime, *, ledger: Ledger) -> None:
    """Keep when somebody left on purpose: from then on they may sit elsewhere while this game runs on (P8, E10)."""
    await ledger.keep_departure(table_id, account_id, at)


async def void_game(table_id: TableId, voided_at: datetime | None, *, had_finished: bool, ledger: Ledger) -> None:
    """Return every entry of a game that was called off; where it `had_finished`, take back all it won too (P82).

    What the player no longer has of that is the house's loss: nobody falls below zero. Whom the game was refunded for
    keeps the refund. The prize is taken back also of a week that is sealed, whose totals stay as they are (E8).
    """
    if await ledger.advance(table_id, GameState.VOIDED, ended_at=None if had_finished else voided_at):
        holds = await ledger.lock_holds(table_id)
        back = await _returned(table_id, [hold.account_id for hold in holds], ledger)
        held = await ledger.resolve(
            table_id, [hold.account_id for hold in holds], source=HoldState.OPEN, target=HoldState.RELEASED
        )
        await ledger.post([*(release(hold) for hold in held), *(give_back(hold) for hold in back)])
        await announce([*_returns(held, unpaid=True), *_returns(back)], ledger=ledger)
    elif had_finished and await ledger.undo(table_id):
        await _undo(table_id, ledger)


async def _undo(table_id: TableId, ledger: Ledger) -> None:
    finish = await ledger.finish(table_id)
    after_seal = finish is not None and await ledger.share_week(finish.week_id)
    undone = await ledger.reversals(table_id)
    holds = await ledger.lock_holds(table_id)
    seated = [seat.account_id for seat in await ledger.seats(table_id)]
    accounts = sorted({*seated, *(hold.account_id for hold in holds if hold.state is HoldState.PAID)} - undone.keys())
    returned = await _returned(table_id, accounts, ledger)
    won = await ledger.won(table_id, accounts)
    await ledger.keep_reversals(table_id, accounts, Undoing.VOID, after_seal=after_seal)
    transfers: list[Transfer] = [
        *(give_back(hold) for hold in returned),
        *(take_back(table_id, each, Undoing.VOID) for each in won),
    ]
    # Balances are locked before the transfers here: nobody else writes these keys, which the game's lock guards.
    borne = losses(table_id, transfers, await ledger.lock_balances(accounts))
    await ledger.post([*transfers, *borne])
    prizes = [
        PrizeReversed(account_id=account_id, table_id=table_id, coins=coins, week_id=finish.week_id)
        for account_id in accounts
        if finish is not None and (coins := prize_of(won, account_id))
    ]
    gifts = [
        GiftsReversed(account_id=each.account_id, table_id=table_id, amounts=each.amounts)
        for each in won
        if each.reason is not Reason.PRIZE
    ]
    lost = [
        LossBorne(account_id=account_id, table_id=table_id, amounts=amounts)
        for account_id in accounts
        for transfer in borne
        if (amounts := gained(transfer, account_id))
    ]
    await announce([*_returns(returned), *prizes, *gifts, *lost], ledger=ledger)


async def _returned(table_id: TableId, accounts: Collection[AccountId], ledger: Ledger) -> Sequence[Hold]:
    return await ledger.resolve(table_id, accounts, source=HoldState.PAID, target=HoldState.RELEASED)


async def _resolve_entries(
    table_id: TableId, seated: Collection[AccountId], ledger: Ledger
) -> tuple[list[Transfer], Sequence[Hold], Mapping[AccountId, Hold]]:
    """(transfers to be posted, holds paid just now, all that are paid)."""
    resolved = await ledger.resolve_entries(table_id, seated)
    just_now = [each.hold for each in resolved if each.was is HoldState.OPEN]
    paid = [hold for hold in just_now if hold.state is HoldState.PAID]
    # Dealt without this player: the matcher gave up on a hold whose answer was lost.
    unseated = [hold for hold in just_now if hold.state is HoldState.RELEASED]
    moved = [*(pay(hold) for hold in paid), *(release(hold) for hold in unseated)]
    return moved, paid, {each.hold.account_id: each.hold for each in resolved if each.hold.state is HoldState.PAID}


async def _within_the_day(
    finish: Finish,
    seats: Sequence[SettledSeat],
    paid: Mapping[AccountId, Hold],
    analyses: Sequence[Analysis],
    ledger: Ledger,
    platform: Platform,
) -> list[Award]:
    """The classic rewards that the day still has room for: the first games of which end and analysis are both here."""
    awards = classic_awards(finish, seats, paid, analyses, platform)
    most = platform.classic_rewards.games_a_day
    return [
        award
        for account_id, award in awards.items()
        if await ledger.use_share(account_id, finish.day_id, CLASSIC, most=most)
    ]


def _entries(paid: Sequence[Hold]) -> list[Fact]:
    return [EntryPaid(account_id=hold.account_id, table_id=hold.table_id, entry=hold.amounts) for hold in paid]


def _returns(returned: Sequence[Hold], *, unpaid: bool = False) -> list[Fact]:
    return [
        EntryReturned(account_id=hold.account_id, table_id=hold.table_id, entry=hold.amounts, unpaid=unpaid)
        for hold in returned
    ]


def _given(awards: Sequence[Award], posted: Collection[str]) -> list[Fact]:
    return [award.fact for award in awards if award.transfer.key in posted]
