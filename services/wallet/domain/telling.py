"""What events tell that moved, so that the ledger can be rebuilt from them (reliability E15).

An entry counts when it is paid: what is only set aside, or came back unpaid, nobody is told of, and an open hold is
still its owner's here.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import assert_never

from services.wallet.domain.assets import Amounts, Asset
from services.wallet.domain.facts import (
    BalanceCorrected,
    CoffeeBought,
    EntryPaid,
    EntryReturned,
    Fact,
    GameRefunded,
    GiftGiven,
    GiftsReversed,
    LossBorne,
    PrizePaid,
    PrizeReversed,
)
from services.wallet.domain.ledger import AccountId, Reason


class Cause(StrEnum):
    """Why something moved, as finely as events tell it."""

    ENTRY = "entry"
    PRIZE = "prize"
    SIGNUP = "signup"
    WEEKLY_CUPS = "weekly_cups"
    FIRST_GAME = "first_game_of_day"
    CLASSIC = "classic"
    PODIUM = "podium"
    REFUND = "refund"
    REFUND_PRIZE = "refund_prize"
    VOID = "void"
    VOID_PRIZE = "void_prize"
    LOSS = "loss"
    COFFEE = "coffee_bought"
    CORRECTION = "correction"


CAUSES: Mapping[Reason, Cause] = {
    Reason.ENTRY_HOLD: Cause.ENTRY,
    Reason.ENTRY_RELEASE: Cause.ENTRY,
    Reason.ENTRY_PAID: Cause.ENTRY,  # between house accounts alone
    Reason.ENTRY_RETURN: Cause.ENTRY,
    Reason.PRIZE: Cause.PRIZE,
    Reason.SIGNUP_GIFT: Cause.SIGNUP,
    Reason.WEEKLY_CUPS: Cause.WEEKLY_CUPS,
    Reason.FIRST_GAME_GIFT: Cause.FIRST_GAME,
    Reason.CLASSIC_REWARD: Cause.CLASSIC,
    Reason.PODIUM: Cause.PODIUM,
    Reason.REFUND: Cause.REFUND,
    Reason.REFUND_PRIZE: Cause.REFUND_PRIZE,
    Reason.REFUND_FIRST_GAME: Cause.REFUND,
    Reason.REFUND_CLASSIC: Cause.REFUND,
    Reason.VOID_PRIZE: Cause.VOID_PRIZE,
    Reason.VOID_FIRST_GAME: Cause.VOID,
    Reason.VOID_CLASSIC: Cause.VOID,
    Reason.OPERATOR_LOSS: Cause.LOSS,
    Reason.COFFEE_BOUGHT: Cause.COFFEE,
    Reason.CORRECTION: Cause.CORRECTION,
}

# What an account has gained, or negative given, of one asset for one cause.
Told = Counter[tuple[AccountId, Cause, Asset]]


def rebuilt(fact: Fact, told: Told) -> None:
    """Add what a fact says to `told`; their order does not matter. Raises ValueError for a gift of no kind."""
    for cause, sign, amounts in _gained(fact):
        for asset, amount in amounts.items():
            told[fact.account_id, cause, asset] += sign * amount


def _gained(fact: Fact) -> Sequence[tuple[Cause, int, Amounts]]:
    lines: list[tuple[Cause, int, Amounts]]
    match fact:
        case EntryPaid(entry=entry):
            lines = [(Cause.ENTRY, -1, entry)]
        case EntryReturned(entry=entry, unpaid=unpaid):
            lines = [] if unpaid else [(Cause.ENTRY, 1, entry)]
        case PrizePaid(coins=coins):
            lines = [(Cause.PRIZE, 1, {Asset.COIN: coins})]
        case GiftGiven(gift=gift, amounts=amounts):
            lines = [(Cause(gift), 1, amounts)]
        case GameRefunded(prize_coins=prize, returned=returned, taken=taken):
            # leagues take the prize off by a field of its own: it must be what the ledger calls the prize.
            lines = [
                (Cause.REFUND, 1, returned),
                (Cause.REFUND, -1, taken),
                (Cause.REFUND, 1, {Asset.COIN: prize}),
                (Cause.REFUND_PRIZE, -1, {Asset.COIN: prize}),
            ]
        case PrizeReversed(coins=coins):
            lines = [(Cause.VOID_PRIZE, -1, {Asset.COIN: coins})]
        case GiftsReversed(amounts=amounts):
            lines = [(Cause.VOID, -1, amounts)]
        case LossBorne(amounts=amounts):
            lines = [(Cause.LOSS, 1, amounts)]
        case CoffeeBought(amounts=amounts):
            lines = [(Cause.COFFEE, 1, amounts)]
        case BalanceCorrected(amounts=amounts):
            lines = [(Cause.CORRECTION, 1, amounts)]
        case _:
            assert_never(fact)
    return lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """Events since `since` are read, those before are taken in.

    None: they did not tell all before; what the ledger has at `opens_at` or later is where they begin.
    `now` is the database's clock; `may_take_in_until` is the moment before which no transaction can be under way.
    """

    now: datetime
    opens_at: datetime
    since: datetime | None
    may_take_in_until: datetime

    @property
    def opens(self) -> bool:
        """It is time to begin."""
        return self.since is None and self.now >= self.opens_at
