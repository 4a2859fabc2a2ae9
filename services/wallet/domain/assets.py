"""What the ledger counts; all whole numbers."""

from collections.abc import Mapping
from enum import StrEnum

from libs.house.modes import Coffee


class Asset(StrEnum):
    """Coins, gold bars, and cups of coffee by kind; never sold for money (P10)."""

    COIN = "coin"
    BAR = "bar"
    CUP_X1_5 = "cup_x1_5"
    CUP_X2 = "cup_x2"
    CUP_X3 = "cup_x3"
    CUP_X5 = "cup_x5"


CUPS: Mapping[Coffee, Asset] = {
    Coffee.X1_5: Asset.CUP_X1_5,
    Coffee.X2: Asset.CUP_X2,
    Coffee.X3: Asset.CUP_X3,
    Coffee.X5: Asset.CUP_X5,
}

# How much of each; what is not named is none.
Amounts = Mapping[Asset, int]


def entry_amounts(*, coins: int, bars: int, coffee: Coffee) -> Amounts:
    """What one seat costs: the room's entry and the cup, if any (P7, P11)."""
    amounts = {Asset.COIN: coins, Asset.BAR: bars}
    if coffee is not Coffee.NONE:
        amounts[CUPS[coffee]] = 1
    return {asset: amount for asset, amount in amounts.items() if amount}
