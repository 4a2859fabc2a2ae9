"""What the coach's grades are given for (P15, P61)."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

from libs.house.classic import Grade
from libs.house.fields import Misfit, Wholes

LIMITED = tuple(Grade)[:-1]  # best first; the last one is what is below them all


@dataclass(frozen=True, slots=True, kw_only=True)
class Coach:
    """The operator's numbers."""

    grade_hundredths: Annotated[
        tuple[int, ...],
        Wholes(
            len(LIMITED),
            len(LIMITED),
            0,
            10_000,
            "The most that a round may cost on average for A+, A, B, C, D, in hundredths of an expected point.",
            "P61",
        ),
    ]

    def check(self) -> None:
        """Each grade allows more than the one above it. Raises Misfit."""
        if any(below <= above for above, below in pairwise(self.grade_hundredths)):
            raise Misfit("grade_hundredths", "a lower grade must allow more")

    @property
    def marks(self) -> tuple[tuple[str, float], ...]:
        """The same in points, beside the grades' names."""
        return tuple((grade.value, most / 100) for grade, most in zip(LIMITED, self.grade_hundredths, strict=True))
