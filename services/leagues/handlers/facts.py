"""What other services tell: accounts, finished and voided games, prizes and their return.

The order between topics is not given: a prize may be heard of before its game, a refund before its prize, a game
before its account. What is heard is kept as a fact, and totals are sums over the facts that count, so the order leaves
no trace.
"""

from libs.house.platform import Platform
from services.leagues.domain.results import (
    AccountId,
    FinishedGame,
    GameKind,
    GameResult,
    Prize,
    PrizeReturn,
    TableId,
    results_of,
)
from services.leagues.handlers.grouping import seat_one
from services.leagues.handlers.levels import settle_level
from services.leagues.ports import Ledger


async def account_created(account_id: AccountId, *, guest: bool, ledger: Ledger, platform: Platform) -> None:
    """Learn whether an account is ranked (P42), also when a guest became one. Idempotent.

    One that has won a prize in the open week meanwhile gets its group.
    """
    await ledger.hold_weeks()
    await ledger.create(account_id, guest=guest)
    week = await ledger.open_week()
    if week is not None and await ledger.has_prize(account_id, week):
        await seat_one(account_id, week, ledger=ledger, platform=platform)


async def account_deleted(account_id: AccountId, *, ledger: Ledger) -> None:
    """Show and rank the account no more (P45). Idempotent."""
    await ledger.mark_deleted(account_id)


async def game_finished(game: FinishedGame, *, ledger: Ledger, platform: Platform) -> None:
    """Give each person the game's experience and publish levels reached (P43). Idempotent by (table_id, account_id).

    A friends' game counts on the weekly leaderboard (P24). One that was voided before is kept and counts nothing.
    """
    results = results_of(game, platform.experience)
    voided = await ledger.lock_game(game.table_id)
    for result in results:
        await ledger.lock(result.account_id)
        if await ledger.insert_result(result) and result.counted and not voided:
            await _count(result, 1, ledger, platform)


async def game_voided(table_id: TableId, *, ledger: Ledger, platform: Platform) -> None:
    """Take back what a finished game gave (P82): experience, level, form, the leaderboard. Idempotent by table_id.

    Its prize goes back by the wallet's word, PrizeReversed.
    """
    await ledger.lock_game(table_id)
    if not await ledger.void(table_id):
        return
    for result in await ledger.results_of_game(table_id):
        await ledger.lock(result.account_id)
        if result.counted:
            await _count(result, -1, ledger, platform)


async def _count(result: GameResult, sign: int, ledger: Ledger, platform: Platform) -> None:
    after = await ledger.add_progress(result.account_id, experience=sign * result.experience, games=sign * result.games)
    await ledger.sum_week(result.account_id, result.week_id, result.kind)
    await settle_level(result.account_id, after, ledger, platform)


async def prize_paid(prize: Prize, *, ledger: Ledger, platform: Platform) -> None:
    """Count the coins as points of the week in which the game finished (P50). Idempotent by (table_id, account_id).

    The week's first prize puts the account into a group (P53).
    """
    await ledger.hold_weeks()
    await ledger.lock(prize.account_id)
    if await ledger.insert_prize(prize):
        await ledger.sum_week(prize.account_id, prize.week_id, GameKind.QUICK)
        await seat_one(prize.account_id, prize.week_id, ledger=ledger, platform=platform)


async def prize_returned(gone: PrizeReturn, *, ledger: Ledger) -> None:
    """Take the prize's points off again (P14, P82). Idempotent by (table_id, account_id): a prize goes back once."""
    await ledger.lock(gone.account_id)
    if await ledger.insert_return(gone):
        await ledger.sum_week(gone.account_id, gone.week_id, GameKind.QUICK)
