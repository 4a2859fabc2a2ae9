"""What an account buys, and what operators correct (P12, P82)."""

from uuid import UUID

from libs.house.fields import COINS_MAX
from libs.house.modes import Coffee
from libs.house.platform import Platform
from services.wallet.domain.assets import CUPS, Amounts, Asset
from services.wallet.domain.errors import BadAmount, BadCoffee, NothingToGrant
from services.wallet.domain.ledger import AccountId, House, Posting, Reason, Transfer


def purchase(account_id: AccountId, coffee: Coffee, request_id: UUID, platform: Platform) -> Transfer:
    """Some cups of one kind for bars, once a request (P12). Raises BadCoffee."""
    if coffee not in CUPS:
        raise BadCoffee(coffee=str(coffee))
    shop = platform.coffee_shop
    return _exchange(
        account_id,
        House.SHOP,
        {CUPS[coffee]: shop.cups, Asset.BAR: -shop.price_bars(coffee)},
        key=f"coffee:{account_id}:{request_id}",
        reason=Reason.COFFEE_BOUGHT,
    )


def correction(account_id: AccountId, amounts: Amounts, request_id: UUID) -> Transfer:
    """What the account gains or, negative, gives (P82). Raises NothingToGrant, BadAmount."""
    some = {asset: amount for asset, amount in amounts.items() if amount}
    if not some:
        raise NothingToGrant
    for asset, amount in some.items():
        if abs(amount) > COINS_MAX:
            raise BadAmount(asset=asset)
    return _exchange(account_id, House.CORRECTIONS, some, key=f"grant:{request_id}", reason=Reason.CORRECTION)


def _exchange(account_id: AccountId, house: House, gains: Amounts, *, key: str, reason: Reason) -> Transfer:
    """One transfer in both directions: `gains` are the account's, signed."""
    postings = tuple(
        Posting(owner=owner, asset=asset, amount=sign * amount)
        for asset, amount in gains.items()
        for owner, sign in ((account_id, 1), (house, -1))
    )
    return Transfer(key=key, reason=reason, table_id=None, postings=postings)
