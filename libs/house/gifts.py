"""What the house gives, whatever is played (P10), and for a first game (P12)."""

from dataclasses import dataclass
from typing import Annotated

from libs.house.fields import COINS_MAX, Whole


@dataclass(frozen=True, slots=True, kw_only=True)
class SignupGift:
    """What a new account starts with."""

    coins: Annotated[int, Whole(0, COINS_MAX, "Coins.", "P10")]
    cups_each: Annotated[int, Whole(0, 1000, "Cups of each kind of coffee.", "P10")]


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstGameGift:
    """For the first quick-play game of a day that counts, to players who are signed in."""

    bars: Annotated[int, Whole(0, 1000, "Gold bars.", "P12")]


@dataclass(frozen=True, slots=True, kw_only=True)
class WeeklyGift:
    """Every Monday, the first on the first Monday after the account was made."""

    cups_each: Annotated[int, Whole(0, 1000, "Cups of each kind of coffee.", "P10")]
