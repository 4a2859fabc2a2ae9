"""Who plays in which group of the week (P53): a row, made once, in the order of first prizes within a tier."""

from collections.abc import Iterable

from libs.house.platform import Platform
from services.leagues.domain.league import Stage, Tier, fill
from services.leagues.domain.results import AccountId, WeekId
from services.leagues.ports import Ledger

# In these stages of its closing a week still takes accounts; in the open week, which has none, too.
TAKING = (None, Stage.SEALING, Stage.GROUPING)


async def seat_one(account_id: AccountId, week: WeekId, *, ledger: Ledger, platform: Platform) -> None:
    """Seat an account that has won a prize in `week`, unless it has a group. The weeks and the account are held.

    Only in the oldest week that is not closed: in a later one the tier is not known yet, and its accounts are seated
    when the week before closes. Guests and whoever auth has not told of have none (P42).
    """
    if await ledger.group_of(account_id, week) is not None or not await ledger.is_ranked(account_id):
        return
    if week != await ledger.open_week() or await ledger.stage(week) not in TAKING:
        return
    tier = await ledger.tier_of(account_id)
    last = await ledger.lock_tier(week, tier)
    await ledger.seat(week, tier, fill([account_id], last, platform.league.group_size))


async def seat_all(week: WeekId, *, sealed: bool, ledger: Ledger, platform: Platform) -> None:
    """Seat everybody who has won a prize in `week` and has no group; `sealed`: by the wallet's totals.

    The weeks are held alone.
    """
    for tier, account_ids in (await ledger.unseated(week, sealed=sealed)).items():
        await _seat(week, tier, account_ids, ledger, platform)


async def _seat(week: WeekId, tier: Tier, account_ids: Iterable[AccountId], ledger: Ledger, platform: Platform) -> None:
    last = await ledger.last_group(week, tier)
    await ledger.seat(week, tier, fill(account_ids, last, platform.league.group_size))
