"""Experience and levels (P43)."""

from dataclasses import dataclass
from math import isqrt
from typing import Annotated

from libs.house.fields import Misfit, Whole, Wholes


@dataclass(frozen=True, slots=True, kw_only=True)
class Experience:
    """What earns how much; `platform.toml` may change it."""

    own_bid: Annotated[int, Whole(0, 10_000, "A round that the player bid themself.", "P43")] = 10
    own_made: Annotated[int, Whole(0, 10_000, "More where its contract was made.", "P43")] = 5
    places: Annotated[tuple[int, ...], Wholes(3, 3, 0, 10_000, "First, second, third place.", "P43")] = (50, 30, 20)
    level_step: Annotated[int, Whole(1, 1_000_000, "Level L needs this times L·(L−1) in all.", "P43")] = 50

    def check(self) -> None:
        """Raises Misfit."""
        if list(self.places) != sorted(self.places, reverse=True):
            raise Misfit("places", "a better place must not earn less")


DEFAULT = Experience()


def experience_for(level: int, *, numbers: Experience = DEFAULT) -> int:
    """Experience needed in all to be at `level` (from 1). Raises ValueError below 1."""
    if level < 1:
        raise ValueError(f"no level {level}")
    return numbers.level_step * level * (level - 1)


def level_of(experience: int, *, numbers: Experience = DEFAULT) -> int:
    """The highest level that `experience` reaches, at least 1. Raises ValueError below 0."""
    if experience < 0:
        raise ValueError(f"no experience {experience}")
    return (1 + isqrt(1 + 4 * (experience // numbers.level_step))) // 2


def game_experience(own_bids: int, own_made: int, place: int, counts: bool, *, numbers: Experience = DEFAULT) -> int:
    """What one finished online game gives; 0 for a player for whom it does not count by P16.

    `own_made`: of the rounds bid by oneself, those whose contract was made. `place` is 1-based. Raises ValueError
    for numbers that no game has.
    """
    if not 0 <= own_made <= own_bids or place < 1:
        raise ValueError(f"no game has {own_made} made of {own_bids} bids at place {place}")
    if not counts:
        return 0
    placed = numbers.places[place - 1] if place <= len(numbers.places) else 0
    return own_bids * numbers.own_bid + own_made * numbers.own_made + placed
