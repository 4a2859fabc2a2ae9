"""What an uploaded game is worth (P43)."""

from dataclasses import dataclass
from typing import Annotated

from libs.house.fields import Misfit, Whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Offline:
    """Games played offline and uploaded, by the day of the upload."""

    games_a_day: Annotated[int, Whole(0, 1000, "So many games of a day are worth their share in full.", "P43")]
    divisor: Annotated[int, Whole(1, 1000, "The game's experience is divided by it.", "P43")]
    late_divisor: Annotated[int, Whole(1, 1000, "And after the day's full games by this.", "P43")]

    def check(self) -> None:
        """Raises Misfit."""
        if self.late_divisor < self.divisor:
            raise Misfit("late_divisor", f"must not be below divisor, {self.divisor}")

    def experience(self, whole: int, number: int) -> int:
        """What the day's game `number` (from 1) is worth, of `whole` online; at least 1, nothing of nothing.

        Half of the game's total, after the twentieth game of a day a tenth (P43), rounded down.
        """
        divisor = self.divisor if number <= self.games_a_day else self.late_divisor
        return max(1, whole // divisor) if whole > 0 else 0
