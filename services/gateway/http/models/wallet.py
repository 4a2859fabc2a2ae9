"""Purse and movements."""

from datetime import UTC, datetime
from typing import Literal

from pydantic import BaseModel

from services.gateway.http.models.base import Id, Request
from whist.types.v1 import types_pb2
from whist.wallet.v1 import wallet_pb2

CoffeeName = Literal["x1.5", "x2", "x3", "x5"]


COFFEES: dict["types_pb2.Coffee.ValueType", CoffeeName] = {
    types_pb2.COFFEE_X1_5: "x1.5",
    types_pb2.COFFEE_X2: "x2",
    types_pb2.COFFEE_X3: "x3",
    types_pb2.COFFEE_X5: "x5",
}


COFFEE_OF = {name: coffee for coffee, name in COFFEES.items()}


class Assets(BaseModel):
    """Amounts of everything the ledger counts."""

    coins: int
    bars: int
    cups: dict[CoffeeName, int]

    @classmethod
    def of(cls, assets: types_pb2.Assets) -> "Assets":
        cups: dict[CoffeeName, int] = {
            "x1.5": assets.cups_x1_5,
            "x2": assets.cups_x2,
            "x3": assets.cups_x3,
            "x5": assets.cups_x5,
        }
        return cls(coins=assets.coins, bars=assets.bars, cups=cups)


class Wallet(Assets):
    """What one may spend; `held` is set aside for a table that is not dealt yet."""

    held: Assets

    @classmethod
    def of_balances(cls, balances: wallet_pb2.BalancesResponse) -> "Wallet":
        return cls(**dict(Assets.of(balances.assets)), held=Assets.of(balances.held))


class Movement(BaseModel):
    """One line of the ledger as its owner sees it; `amount` is what the account gained."""

    transfer_id: Id
    at: datetime
    reason: str
    asset: str
    amount: int
    table: Id | None

    @classmethod
    def of(cls, movement: wallet_pb2.Movement) -> "Movement":
        return cls(
            transfer_id=movement.transfer_id.hex(),
            at=movement.at.ToDatetime(UTC),
            reason=movement.reason,
            asset=movement.asset,
            amount=movement.amount,
            table=movement.table_id.hex() or None,
        )


class History(BaseModel):
    """Newest first; `next_before` leads to older ones and is null at the end."""

    movements: list[Movement]
    next_before: str | None

    @classmethod
    def of(cls, answer: wallet_pb2.HistoryResponse) -> "History":
        return cls(
            movements=[Movement.of(each) for each in answer.movements],
            next_before=answer.next_before or None,
        )


class CoffeeOrder(Request):
    """Which kind is bought; how many at a time, and for how much, is the house's (P12)."""

    coffee: CoffeeName


class RefundOffer(BaseModel):
    """`refused` is null where a refund is open, else why there is none (P14)."""

    refused: str | None
    returns: Assets
    takes: Assets
    until: datetime | None
    left_today: int
    loses_first_game: bool

    @classmethod
    def of(cls, offer: wallet_pb2.RefundOfferResponse) -> "RefundOffer":
        return cls(
            refused=offer.refused or None,
            returns=Assets.of(offer.returns),
            takes=Assets.of(offer.takes),
            until=offer.until.ToDatetime(UTC) if offer.HasField("until") else None,
            left_today=offer.left_today,
            loses_first_game=offer.loses_first_game,
        )


class Refunded(BaseModel):
    """What came back, what went back, and what is there now."""

    returned: Assets
    taken: Assets
    assets: Assets

    @classmethod
    def of(cls, refunded: wallet_pb2.RefundResponse) -> "Refunded":
        return cls(
            returned=Assets.of(refunded.returned),
            taken=Assets.of(refunded.taken),
            assets=Assets.of(refunded.assets),
        )
