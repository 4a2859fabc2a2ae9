"""Coffee for bars (P12)."""

from dataclasses import dataclass
from uuid import UUID

from libs.house.modes import Coffee
from libs.house.platform import Platform
from services.wallet.announcements import announce
from services.wallet.domain.assets import CUPS, Amounts
from services.wallet.domain.errors import GuestsHaveNoCoffee, RequestDiffers
from services.wallet.domain.facts import CoffeeBought
from services.wallet.domain.ledger import AccountId, gained
from services.wallet.domain.purchases import purchase
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
        if await ledger.post([wanted]):
            amounts = gained(wanted, command.account_id)
            await announce([CoffeeBought(account_id=command.account_id, amounts=amounts)], ledger=ledger)
        else:
            # The price may have changed meanwhile; what was bought is what counts.
            bought = await ledger.moved(wanted.key, command.account_id)
            if CUPS[command.coffee] not in bought:
                raise RequestDiffers
        return (await ledger.belongings(command.account_id)).owned
