"""What others may know of an account."""

from uuid import UUID

from services.auth.domain.accounts import Account, AccountId
from services.auth.domain.errors import AccountUnknown
from services.auth.handlers.desk import Desk


async def get_account(account_id: UUID, *, desk: Desk) -> Account:
    """Public facts of one account. Raises AccountUnknown."""
    async with desk.registry.transaction() as tx:
        account = await tx.account(AccountId(account_id))
    if account is None:
        raise AccountUnknown
    return account
