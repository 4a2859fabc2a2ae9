"""A game that has finished, as it is kept: when, by whom, what it won, and what takes it back (P14, P82)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from services.wallet.domain.assets import Amounts, Asset
from services.wallet.domain.ledger import AccountId, House, Reason, TableId, Transfer, changes, move


class Undoing(StrEnum):
    """Why a game is over for good for an account; at most one of the two."""

    REFUND = "refund"
    VOID = "void"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """When a game finished, as its table stamped it: day and week in the platform's zone."""

    table_id: TableId
    week_id: str
    day_id: str
    finished_at: datetime
    classic: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledSeat:
    """A person at a finished game. `room` is what the table says; the paid entry's is what counts where there is one.

    `counts`: did not leave and bid themself (P8, P16); `vacated`: left on purpose. `place` is 1-based.
    """

    account_id: AccountId
    guest: bool
    room: int
    place: int
    counts: bool
    vacated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """What the coach made of one person's classic game (P15). `runs` are of seven rounds, 0..4."""

    account_id: AccountId
    grade: str
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Won:
    """One transfer by which a game gave an account something, as it is recorded."""

    account_id: AccountId
    reason: Reason
    amounts: Amounts


_PAID_BY: Mapping[Reason, House] = {
    Reason.PRIZE: House.PRIZES,
    Reason.FIRST_GAME_GIFT: House.GIFTS,
    Reason.CLASSIC_REWARD: House.GIFTS,
}
_TAKEN_AS: Mapping[Undoing, Mapping[Reason, Reason]] = {
    Undoing.REFUND: {
        Reason.PRIZE: Reason.REFUND_PRIZE,
        Reason.FIRST_GAME_GIFT: Reason.REFUND_FIRST_GAME,
        Reason.CLASSIC_REWARD: Reason.REFUND_CLASSIC,
    },
    Undoing.VOID: {
        Reason.PRIZE: Reason.VOID_PRIZE,
        Reason.FIRST_GAME_GIFT: Reason.VOID_FIRST_GAME,
        Reason.CLASSIC_REWARD: Reason.VOID_CLASSIC,
    },
}
# What a game can win; all of it goes back with the game.
WINNINGS = tuple(_PAID_BY)


def take_back(table_id: TableId, won: Won, undoing: Undoing) -> Transfer:
    """Exactly what was given, to the house that gave it."""
    reason = _TAKEN_AS[undoing][won.reason]
    return move(
        won.amounts,
        source=won.account_id,
        target=_PAID_BY[won.reason],
        key=f"{reason}:{table_id}:{won.account_id}",
        reason=reason,
        table_id=table_id,
    )


def losses(table_id: TableId, transfers: Sequence[Transfer], owned: Mapping[AccountId, Amounts]) -> Sequence[Transfer]:
    """What the house bears so that `transfers` leave nobody below zero, asset by asset on the net (P82)."""
    missing: dict[AccountId, dict[Asset, int]] = {}
    for account_id, asset, amount in changes(transfers):
        left = owned.get(account_id, {}).get(asset, 0) + amount
        if left < 0:
            missing.setdefault(account_id, {})[asset] = -left
    return [
        move(
            amounts,
            source=House.LOSSES,
            target=account_id,
            key=f"loss:{table_id}:{account_id}",
            reason=Reason.OPERATOR_LOSS,
            table_id=table_id,
        )
        for account_id, amounts in missing.items()
    ]


def prize_of(won: Sequence[Won], account_id: AccountId) -> int:
    """The coins of the game's prize, 0 where there was none."""
    return sum(each.amounts[Asset.COIN] for each in won if (each.account_id, each.reason) == (account_id, Reason.PRIZE))


def total(all_of: Sequence[Amounts]) -> Amounts:
    """Amounts added up."""
    sums: dict[Asset, int] = {}
    for amounts in all_of:
        for asset, amount in amounts.items():
            sums[asset] = sums.get(asset, 0) + amount
    return sums
