"""Purse and movements."""

from datetime import UTC, datetime
from typing import Literal

from pydantic import BaseModel

from services.gateway.http.models.base import Id
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
