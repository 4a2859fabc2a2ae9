"""The only reader of the system's clocks.

Handlers receive a `Clock`; domains receive values. Days, weeks and leases are read from the database instead.
"""

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Two clocks: one that says when, one that measures how long."""

    def now(self) -> datetime:
        """Aware UTC."""
        ...

    def unix(self) -> float:
        """`now` as Unix seconds."""
        ...

    def monotonic(self) -> float:
        """Seconds since an arbitrary start; never goes back."""
        ...


class SystemClock:
    """The machine's own clocks."""

    # Eight readings a move: the function itself, without one of ours around it.
    monotonic = staticmethod(time.monotonic)
    unix = staticmethod(time.time)

    def now(self) -> datetime:
        return datetime.now(UTC)


class ManualClock:
    """A clock that moves only when told; for tests."""

    def __init__(self, start: datetime) -> None:
        self._now = start
        self._monotonic = 0.0

    def now(self) -> datetime:
        return self._now

    def unix(self) -> float:
        return self._now.timestamp()

    def monotonic(self) -> float:
        return self._monotonic

    def advance(self, seconds: float) -> None:
        """Move both clocks forward."""
        self._now += timedelta(seconds=seconds)
        self._monotonic += seconds
