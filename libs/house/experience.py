"""Experience and levels (P43)."""

from dataclasses import dataclass
from math import isqrt


@dataclass(frozen=True, slots=True, kw_only=True)
class Experience:
    """What earns how much; `platform.toml` may change it."""

    own_bid: int = 10
    own_made: int = 5
    # First, second, third place.
    places: tuple[int, int, int] = (50, 30, 20)
    # Level L needs level_step · L · (L − 1) in all.
    level_step: int = 50


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
