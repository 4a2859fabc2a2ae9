"""Use cases of leagues, one transaction each.

The order between topics is not given: a prize may be heard of before its game, and a game before its account.
"""

import structlog

from libs.house.calendar import week_id
from libs.house.experience import level_of
from libs.house.platform import Platform
from services.leagues.domain.results import AccountId, FinishedGame, Prize, WeekId, results_of
from services.leagues.domain.standing import FORM_GAMES, Profile, Progress, Standing, profile_of, wrong_levels
from services.leagues.ports import Books, Ledger
from whist.leagues.v1.events_pb2 import LeaguesEvent, LevelReached

log = structlog.get_logger()

TOPIC = "whist.leagues.events.v1"
REPAIRS_MAX = 1000  # accounts a run; more is a fault to be looked at, and the next run takes the rest


async def account_created(account_id: AccountId, *, guest: bool, ledger: Ledger) -> None:
    """Learn whether an account is ranked (P42). Idempotent."""
    await ledger.create(account_id, guest=guest)


async def game_finished(game: FinishedGame, *, ledger: Ledger, platform: Platform) -> None:
    """Give each person the game's experience and publish levels reached (P43). Idempotent by (table_id, account_id)."""
    for result in results_of(game, platform.experience):
        before = await ledger.lock(result.account_id)
        if not await ledger.insert_result(result) or not result.counted:
            continue
        after = await ledger.add_progress(result.account_id, experience=result.experience, games=1)
        await ledger.add_points(result.account_id, result.week_id, points=0, games=1)
        await _settle_level(result.account_id, before, after, ledger, platform)


async def prize_paid(prize: Prize, *, ledger: Ledger) -> None:
    """Count the coins as points of the week in which the game finished (P50). Idempotent by (table_id, account_id)."""
    await ledger.lock(prize.account_id)
    if await ledger.insert_prize(prize):
        await ledger.add_points(prize.account_id, prize.week_id, points=prize.coins, games=0)


async def profile(account_id: AccountId, *, books: Books, platform: Platform) -> Profile:
    """Level, experience and form; an account never seen is level 1 with nothing."""
    async with books.transaction() as ledger:
        progress = await ledger.progress(account_id)
        if progress is None:
            return profile_of(Progress(), (), platform.experience)
        return profile_of(progress, await ledger.latest_places(account_id, FORM_GAMES), platform.experience)


async def standing(account_id: AccountId, week: WeekId | None, *, books: Books, platform: Platform) -> Standing:
    """Points of one week; None: the week that runs now by the database's clock."""
    async with books.transaction() as ledger:
        asked = week or WeekId(week_id(await ledger.now(), zone=platform.zone))
        return await ledger.standing(account_id, asked)


async def recompute(account_id: AccountId, *, books: Books, platform: Platform) -> Progress:
    """Write an account's totals anew from its results and prizes. Idempotent; safe beside games that finish."""
    async with books.transaction() as ledger:
        before = await ledger.lock(account_id)
        after = await ledger.rebuild(account_id)
        await _settle_level(account_id, before, after, ledger, platform)
        return after


async def check(*, books: Books, platform: Platform) -> int:
    """Compare stored totals with the sums they stand for, repair what differs, and return how many accounts did."""
    async with books.transaction() as ledger:
        found = {*await ledger.different(REPAIRS_MAX)}
        for level in wrong_levels(await ledger.level_spans(), platform.experience):
            found.update(await ledger.accounts_at(level, REPAIRS_MAX))
    for account_id in sorted(found):
        async with books.transaction() as ledger:
            stored = await ledger.progress(account_id)
        repaired = await recompute(account_id, books=books, platform=platform)
        log.error("totals_differed", account_id=str(account_id), stored=str(stored), rebuilt=str(repaired))
    return len(found)


async def _settle_level(
    account_id: AccountId, before: Progress, after: Progress, ledger: Ledger, platform: Platform
) -> None:
    level = level_of(after.experience, numbers=platform.experience)
    if level != before.level:
        await ledger.set_level(account_id, level)
    if level > before.level:
        reached = LevelReached(account_id=account_id.bytes, level=level)
        await ledger.publish(TOPIC, account_id.bytes, LeaguesEvent(level_reached=reached))
