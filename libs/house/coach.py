"""What the coach's grades are given for (P15, P61)."""

from dataclasses import dataclass
from typing import Final

GRADES: Final = ("A+", "A", "B", "C", "D")  # best first; F is what is below
LOWEST_GRADE: Final = "F"


@dataclass(frozen=True, slots=True, kw_only=True)
class Coach:
    """The operator's numbers."""

    # By grade, best first: the most that a round may cost on average for it, in hundredths of a point.
    grade_hundredths: tuple[int, ...]

    @property
    def marks(self) -> tuple[tuple[str, float], ...]:
        """The same in points, beside the grades' names."""
        return tuple((grade, most / 100) for grade, most in zip(GRADES, self.grade_hundredths, strict=True))
