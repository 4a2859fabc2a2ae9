"""The clock of the running turn: stopped and set again at every move, so that both cost next to nothing."""

import asyncio
from collections.abc import Callable
from math import inf


class TurnClock:
    """Rings once for the turn it was last set for. All methods run on the event loop.

    Turns last seconds and moves come in milliseconds: the loop's timer is left where it is when the deadline moves
    back, and looks again when it goes off. It is set anew only where it would go off too late.
    """

    __slots__ = ("_due", "_handle", "_handle_at", "_loop", "_ring", "_turn")

    def __init__(self, ring: Callable[[int], None]) -> None:
        """`ring` gets the number of the turn whose time is up."""
        self._ring = ring
        self._loop = asyncio.get_running_loop()
        self._due = inf  # of the loop's time; infinite: stopped
        self._turn = 0
        self._handle: asyncio.TimerHandle | None = None
        self._handle_at = inf

    @property
    def running(self) -> bool:
        return self._due != inf

    def set(self, seconds: float, turn: int) -> None:
        """Ring `seconds` from now for this turn, and for no other any more."""
        self._due, self._turn = self._loop.time() + seconds, turn
        if self._due < self._handle_at:
            self._wind(self._due)

    def stop(self) -> None:
        """Ring for no turn."""
        self._due = inf

    def close(self) -> None:
        """Stop, and leave nothing in the loop."""
        self._due = inf
        if self._handle is not None:
            self._handle.cancel()
            self._handle, self._handle_at = None, inf

    def _wind(self, at: float) -> None:
        if self._handle is not None:
            self._handle.cancel()
        self._handle, self._handle_at = self._loop.call_at(at, self._look), at

    def _look(self) -> None:
        self._handle, self._handle_at = None, inf
        if self._due == inf:
            return
        # uvloop's timers go off up to a millisecond early.
        if self._loop.time() < self._due - 0.001:
            self._wind(self._due)
            return
        self._due = inf
        self._ring(self._turn)
