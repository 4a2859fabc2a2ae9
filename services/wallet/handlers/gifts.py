"""Gifts that no game gives."""

from libs.house.platform import Platform
from services.wallet.announcements import announce
from services.wallet.domain.awards import signup_award
from services.wallet.domain.ledger import AccountId
from services.wallet.ports import Ledger


async def welcome(account_id: AccountId, *, ledger: Ledger, platform: Platform) -> None:
    """Give a new account its coins and cups, once however often it is announced (P10)."""
    award = signup_award(account_id, platform)
    if await ledger.post([award.transfer]):
        await announce(award.fact, ledger=ledger)
