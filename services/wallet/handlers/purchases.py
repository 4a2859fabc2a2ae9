"""Coffee for bars (P12), and balances that operators correct (P82)."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from libs.chassis.audit import Act, AuditLine
from libs.house.modes import Coffee
from libs.house.platform import Platform
from services.wallet.domain.assets import CUPS, Amounts
from services.wallet.domain.errors import GuestsHaveNoCoffee, RequestDiffers
from services.wallet.domain.ledger import AccountId
from services.wallet.domain.purchases import correction, purchase
from services.wallet.ports import Wallets


@dataclass(frozen=True, slots=True, kw_only=True)
class BuyCoffee:
    """Some cups of one kind."""

    account_id: AccountId
    guest: bool
    coffee: Coffee
    request_id: UUID


async def buy_coffee(command: BuyCoffee, *, wallets: Wallets, platform: Platform) -> Amounts:
    """Cups against bars, once a request however often it is sent. Returns what is there now.

    Raises GuestsHaveNoCoffee, BadCoffee, InsufficientFunds, RequestDiffers (the request bought another kind).
    """
    if command.guest:
        raise GuestsHaveNoCoffee
    wanted = purchase(command.account_id, command.coffee, command.request_id, platform)
    async with wallets.transaction() as ledger:
        if not await ledger.post([wanted]):
            # The price may have changed meanwhile; what was bought is what counts.
            bought = await ledger.moved(wanted.key, command.account_id)
            if CUPS[command.coffee] not in bought:
                raise RequestDiffers
        return (await ledger.belongings(command.account_id)).owned


async def grant(act: Act, account_id: AccountId, amounts: Amounts, *, wallets: Wallets) -> Amounts:
    """Correct a balance by what the account gains or gives, written down beside it, once a request (P82).

    Returns what is there now. Raises NothingToGrant, BadAmount, InsufficientFunds, ActDiffers.
    """
    transfer = correction(account_id, amounts, act.request_id)
    async with wallets.transaction() as ledger:
        if await ledger.record_act(act):
            await ledger.post([transfer])
        return (await ledger.belongings(account_id)).owned


async def audit_log(*, before: int | None, limit: int, wallets: Wallets) -> Sequence[AuditLine]:
    """Operators' acts on the wallet, newest first, older than the line `before`; None: from the newest."""
    async with wallets.transaction() as ledger:
        return await ledger.acts(before=before, limit=limit)
