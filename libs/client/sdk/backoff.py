"""How long to wait before trying again: longer each time, never in step with other clients."""

import random

FIRST_S = 0.25
MOST_S = 8.0


class Backoff:
    """Waits of `first_s`, doubled up to `most_s`, each cut at random by up to a half. Starts over with `reset`."""

    def __init__(self, first_s: float = FIRST_S, most_s: float = MOST_S) -> None:
        self.first_s = first_s
        self.most_s = most_s
        self._next_s = first_s

    def next_s(self) -> float:
        """Seconds until the next try."""
        wait_s = self._next_s
        self._next_s = min(self.most_s, wait_s * 2)
        return wait_s * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, guards nothing

    def reset(self) -> None:
        self._next_s = self.first_s

    def fresh(self) -> "Backoff":
        """A new one with the same limits."""
        return Backoff(self.first_s, self.most_s)
