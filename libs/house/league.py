"""The weekly league's numbers (P51, P53)."""

from dataclasses import dataclass
from typing import Final

TIERS: Final = 4  # Jack, Queen, King, Ace
PODIUM: Final = 3  # the first three of each group win


@dataclass(frozen=True, slots=True, kw_only=True)
class League:
    """The operator's numbers. Tiers are counted from 1 (Jack), places from 1."""

    # Accounts in a group at most.
    group_size: int
    # So many go up at most, never more than a third of the ranked, rounded up.
    up: int
    # So many go down, of groups with at least `down_from` ranked.
    down: int
    down_from: int
    # Jack's podium, by place.
    podium_coins: tuple[int, int, int]
    podium_bars: tuple[int, int, int]
    # How many times as much each tier pays.
    multipliers: tuple[int, int, int, int]

    def podium_of(self, tier: int, place: int) -> tuple[int, int]:
        """(coins, bars) that the place pays in that tier; nothing behind the podium."""
        if not 1 <= place <= PODIUM:
            return 0, 0
        times = self.multipliers[tier - 1]
        return self.podium_coins[place - 1] * times, self.podium_bars[place - 1] * times
