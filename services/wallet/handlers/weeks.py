"""A week is sealed once, when all its games are settled; its totals then stand for ever (P55, E8, X6)."""

from collections.abc import Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from libs.house.calendar import week_bounds
from services.wallet.domain.errors import BadLimit, BadWeek
from services.wallet.domain.ledger import AccountId, TableId
from services.wallet.domain.weeks import WeekTotal
from services.wallet.ports import Tables, Wallets

TOTALS_MAX = 5000  # about 30 bytes each: half of what one message may carry


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedWeek:
    """A page of a sealed week's totals, by account."""

    totals: Sequence[WeekTotal]
    more: bool


async def seal_week(
    week_id: str, *, after: AccountId | None, limit: int, wallets: Wallets, tables: Tables, zone: ZoneInfo
) -> SealedWeek | None:
    """Lock a week that is over and tell its totals from the first account beyond `after`; `limit` 1..5000, 0: 5000.

    None: not yet; the week runs, or a game of it is not settled here. From the seal on refunds of the week are refused.
    Idempotent, and safe from several processes at once. Raises BadWeek, BadLimit, Unavailable.
    """
    try:
        _, end = week_bounds(week_id, zone=zone)
    except (ValueError, OverflowError) as error:
        raise BadWeek(week_id=week_id[:20]) from error
    if not 0 <= limit <= TOTALS_MAX:
        raise BadLimit(limit=limit, most=TOTALS_MAX)
    size = limit or TOTALS_MAX
    async with wallets.transaction() as ledger:
        sealed = await ledger.is_sealed(week_id)
        over = sealed or await ledger.now() >= end
    if not sealed:
        if not over or not await _all_settled(week_id, wallets, tables):
            return None
        async with wallets.transaction() as ledger:
            await ledger.seal(week_id)
    async with wallets.transaction() as ledger:
        found = await ledger.week_totals(week_id, after=after, limit=size + 1)
    return SealedWeek(totals=found[:size], more=len(found) > size)


async def _all_settled(week_id: str, wallets: Wallets, tables: Tables) -> bool:
    """Every quick game that tables have stamped with the week has been settled, or was voided, here."""
    after: TableId | None = None
    while True:
        page = await tables.finished_games(week_id, after=after)
        if not page.complete:
            return False
        async with wallets.transaction() as ledger:
            if await ledger.settled(page.tables) < len(page.tables):
                return False
        if not page.more:
            return True
        after = page.tables[-1]
