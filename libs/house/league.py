"""The weekly league's numbers (P51, P53)."""

from dataclasses import dataclass
from typing import Annotated, Final

from libs.house.fields import COINS_MAX, Misfit, Whole, Wholes

TIERS: Final = 4  # Jack, Queen, King, Ace
PODIUM: Final = 3  # the first three of each group win
TIMES_MAX: Final = 1000
# With the highest multiplier a place still pays no more than a single amount may be.
PODIUM_COINS_MAX: Final = COINS_MAX // TIMES_MAX


@dataclass(frozen=True, slots=True, kw_only=True)
class League:
    """Groups, who moves, what the podium pays. Tiers are counted from 1 (Jack), places from 1."""

    group_size: Annotated[int, Whole(3, 100, "Accounts in a group at most.", "P53")]
    up: Annotated[int, Whole(0, 100, "So many go up at most, of r ranked never more than ⌈r/3⌉.", "P53")]
    down: Annotated[int, Whole(0, 100, "So many go down.", "P53")]
    down_from: Annotated[int, Whole(1, 100, "Of groups with so many ranked, or more.", "P53")]
    podium_coins: Annotated[
        tuple[int, ...], Wholes(PODIUM, PODIUM, 0, PODIUM_COINS_MAX, "Jack's first three, coins.", "P51")
    ]
    podium_bars: Annotated[tuple[int, ...], Wholes(PODIUM, PODIUM, 0, 1_000_000, "Jack's first three, bars.", "P51")]
    multipliers: Annotated[
        tuple[int, ...], Wholes(TIERS, TIERS, 1, TIMES_MAX, "So many times as much: Jack, Queen, King, Ace.", "P51")
    ]

    def check(self) -> None:
        """Who goes up never goes down, a better place or a higher tier never pays less. Raises Misfit."""
        if self.down + min(self.up, -(-self.down_from // 3)) > self.down_from:
            raise Misfit("down", f"must leave room for those who go up among {self.down_from} ranked")
        for field in ("podium_coins", "podium_bars"):
            if list(getattr(self, field)) != sorted(getattr(self, field), reverse=True):
                raise Misfit(field, "a better place must not win less")
        if list(self.multipliers) != sorted(self.multipliers):
            raise Misfit("multipliers", "a higher tier must not pay less")

    def podium_of(self, tier: int, place: int) -> tuple[int, int]:
        """(coins, bars) that the place pays in that tier; nothing behind the podium."""
        if not 1 <= place <= PODIUM:
            return 0, 0
        times = self.multipliers[tier - 1]
        return self.podium_coins[place - 1] * times, self.podium_bars[place - 1] * times
