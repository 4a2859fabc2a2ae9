"""What classic games pay for playing well, whatever the place (P15)."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from libs.house.fields import Choice, Misfit, Rows, Whole
from libs.house.modes import Coffee

RUN_ROUNDS = 7  # rounds in a row with the contract made, those of one card passed over
CLASSIC_ROUNDS = 30


class Grade(StrEnum):
    """The coach's, of a game's own moves (P61)."""

    A_PLUS = "A+"
    A = "A"
    B = "B"
    C = "C"
    D = "D"
    F = "F"


class Cup(StrEnum):
    """Kinds of coffee that can be given; the values are `Coffee`'s."""

    X1_5 = "x1_5"
    X2 = "x2"
    X3 = "x3"
    X5 = "x5"


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeReward:
    """One cup, and bars, for a grade."""

    grade: Annotated[Grade, Choice(Grade, "The coach's grade of the game.", "P15")]
    cup: Annotated[Cup, Choice(Cup, "One cup of this kind.", "P15")]
    bars: Annotated[int, Whole(0, 1_000_000, "Gold bars.", "P15")]

    @property
    def coffee(self) -> Coffee:
        return Coffee(self.cup)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassicRewards:
    """For players whose own room is the first; a game that earns nothing is not counted."""

    games_a_day: Annotated[int, Whole(0, 1000, "Games that are paid, an account and day.", "P15")]
    run_bars: Annotated[int, Whole(0, 1_000_000, "For each run of seven rounds with the contract made.", "P15")]
    grades: Annotated[tuple[GradeReward, ...], Rows(1, 6, "What each grade earns; those not named earn nothing.")]

    def check(self) -> None:
        """Raises Misfit."""
        seen: set[Grade] = set()
        for index, reward in enumerate(self.grades):
            if reward.grade in seen:
                raise Misfit(f"grades[{index}].grade", f"twice: {reward.grade!r}")
            seen.add(reward.grade)

    def of(self, grade: str) -> GradeReward | None:
        """What a grade earns; None: nothing, as for a game without one."""
        return next((reward for reward in self.grades if reward.grade == grade), None)
