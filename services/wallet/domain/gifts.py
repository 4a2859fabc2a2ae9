"""Gifts that no game gives: at the start (P10), on Mondays (P10), on the podium (P51)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from libs.house.calendar import day_id, week_id_of
from libs.house.fields import COINS_MAX
from libs.house.platform import Platform
from services.wallet.domain.assets import CUPS, Amounts, Asset
from services.wallet.domain.facts import Fact, GiftGiven
from services.wallet.domain.ledger import AccountId, House, Reason, TableId, Transfer, move

WEEKS_MAX = 1040  # twenty years: who has been away for longer is a wrong date


@dataclass(frozen=True, slots=True, kw_only=True)
class Award:
    """A transfer and what is told when it takes place."""

    transfer: Transfer
    fact: Fact


def gift_award(
    account_id: AccountId, gift: str, key: str, reason: Reason, amounts: Amounts, table_id: TableId | None = None
) -> Award:
    """From the house of gifts, once under `key`."""
    transfer = move(amounts, source=House.GIFTS, target=account_id, key=key, reason=reason, table_id=table_id)
    return Award(transfer=transfer, fact=GiftGiven(account_id=account_id, gift=gift, amounts=amounts))


def signup_award(account_id: AccountId, platform: Platform) -> Award:
    """Coins and cups of each kind, once an account (P10)."""
    gift = platform.signup_gift
    amounts = {Asset.COIN: gift.coins, **dict.fromkeys(CUPS.values(), gift.cups_each)}
    return gift_award(account_id, "signup", f"signup:{account_id}", Reason.SIGNUP_GIFT, _some(amounts))


def weekly_awards(account_id: AccountId, since: datetime, day: date, platform: Platform) -> Sequence[Award]:
    """Every Monday's cups up to `day`, by week, for an account since that moment (P10).

    Raises ValueError for a moment more than `WEEKS_MAX` weeks before the day.
    """
    amounts = _some(dict.fromkeys(CUPS.values(), platform.weekly_gift.cups_each))
    return [
        gift_award(account_id, "weekly_cups", f"weekly_coffee:{week}:{account_id}", Reason.WEEKLY_CUPS, amounts)
        for week in mondays(since, day, zone=platform.zone)
    ]


def mondays(since: datetime, day: date, *, zone: ZoneInfo) -> Sequence[str]:
    """The weeks whose Monday is after the date of `since` in `zone` and not after `day`, in order."""
    first = date.fromisoformat(day_id(since, zone=zone))
    monday = first + timedelta(days=7 - first.weekday())
    weeks = (day - monday).days // 7 + 1
    if weeks > WEEKS_MAX:
        raise ValueError(f"an account since {first} and a day {day} are too far apart")
    return [week_id_of(monday + timedelta(weeks=number)) for number in range(weeks)]


def podium_award(account_id: AccountId, week_id: str, coins: int, bars: int) -> Award:
    """One of the first three of a group, once an account and week (P51). Raises ValueError for an impossible amount."""
    if not (0 <= coins <= COINS_MAX and 0 <= bars <= COINS_MAX):
        raise ValueError(f"no podium pays {coins} coins and {bars} bars")
    amounts = _some({Asset.COIN: coins, Asset.BAR: bars})
    return gift_award(account_id, "podium", f"league_prize:{week_id}:{account_id}", Reason.PODIUM, amounts)


def _some(amounts: Amounts) -> Amounts:
    return {asset: amount for asset, amount in amounts.items() if amount}
