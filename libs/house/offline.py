"""What an uploaded game is worth (P43)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Offline:
    """The operator's numbers."""

    # So many games of a day are worth their share in full.
    games_a_day: int
    # The game's experience is divided by this, and by `late_divisor` after the day's full games.
    divisor: int
    late_divisor: int

    def experience(self, whole: int, number: int) -> int:
        """What the day's game `number` (from 1) is worth, of `whole` online; at least 1, nothing of nothing.

        Half of the game's total, after the twentieth game of a day a tenth (P43), rounded down.
        """
        divisor = self.divisor if number <= self.games_a_day else self.late_divisor
        return max(1, whole // divisor) if whole > 0 else 0
