"""What operators do with purses, each act written down in its transaction (P82)."""

from collections.abc import Sequence

from libs.chassis.audit import Act, AuditLine
from services.wallet.announcements import announce
from services.wallet.domain.assets import Amounts
from services.wallet.domain.facts import BalanceCorrected
from services.wallet.domain.ledger import AccountId, gained
from services.wallet.domain.purchases import correction
from services.wallet.ports import Wallets


async def grant(act: Act, account_id: AccountId, amounts: Amounts, *, wallets: Wallets) -> Amounts:
    """Correct a balance by what the account gains or gives, written down beside it, once a request (P82).

    Returns what is there now. Raises NothingToGrant, BadAmount, InsufficientFunds, ActDiffers.
    """
    transfer = correction(account_id, amounts, act.request_id)
    async with wallets.transaction() as ledger:
        if await ledger.record_act(act) and await ledger.post([transfer]):
            fact = BalanceCorrected(account_id=account_id, amounts=gained(transfer, account_id))
            await announce([fact], ledger=ledger)
        return (await ledger.belongings(account_id)).owned


async def audit_log(*, before: int | None, limit: int, wallets: Wallets) -> Sequence[AuditLine]:
    """Operators' acts on the wallet, newest first, older than the line `before`; None: from the newest."""
    async with wallets.transaction() as ledger:
        return await ledger.acts(before=before, limit=limit)
