"""Gifts that no game gives: to new accounts and on Mondays (P10), on the podium (P51)."""

from collections.abc import Sequence
from datetime import date, datetime

from libs.house.platform import Platform
from services.wallet.announcements import announce
from services.wallet.domain.gifts import Award, podium_award, signup_award, weekly_awards
from services.wallet.domain.ledger import AccountId
from services.wallet.ports import Ledger


async def welcome(account_id: AccountId, *, ledger: Ledger, platform: Platform) -> None:
    """Give a new account its coins and cups, once however often it is announced (P10)."""
    await _give([signup_award(account_id, platform)], ledger)


async def weekly_cups(account_id: AccountId, since: datetime, day: date, *, ledger: Ledger, platform: Platform) -> None:
    """Make up every Monday's cups until `day` that the account, one since that moment, has not been given (P10).

    Raises ValueError for a moment that can only be wrong.
    """
    due = weekly_awards(account_id, since, day, platform)
    # Once a day for years: what stands is looked up at once instead of being tried again one by one.
    known = await ledger.known([award.transfer.key for award in due])
    await _give([award for award in due if award.transfer.key not in known], ledger)


async def podium(account_id: AccountId, week_id: str, coins: int, bars: int, *, ledger: Ledger) -> None:
    """Pay one of the first three of a group, once an account and week (P51). Raises ValueError for a wrong amount."""
    await _give([podium_award(account_id, week_id, coins, bars)], ledger)


async def _give(awards: Sequence[Award], ledger: Ledger) -> None:
    posted = await ledger.post(award.transfer for award in awards)
    await announce((award.fact for award in awards if award.transfer.key in posted), ledger=ledger)
