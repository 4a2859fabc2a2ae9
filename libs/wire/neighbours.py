"""Gateway and table worker in one process: frames pass by reference, where a gRPC message has a price of its own.

A worker offers itself in `Chassis.neighbours` under its address; a gateway that finds it there joins it instead of
opening a stream. What passes is the same as on the stream (`libs.wire.link`), in both directions a turn of the loop
later, so that neither side is ever called back from within its own call.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from libs.wire.link import Down, Up


class Line(Protocol):
    """The gateway's way to a worker it has joined."""

    def take(self, batch: Sequence[Up]) -> None:
        """The up-frames of one turn of the loop, in order."""
        ...

    def close(self) -> None:
        """Leave; every subscription of this gateway ends. Idempotent."""
        ...


class Neighbour(Protocol):
    """A table worker of this process."""

    def join(self, deliver: Callable[[Sequence[Down]], None], lost: Callable[[], None]) -> Line:
        """`deliver` gets the frames of one turn of the loop, in order; `lost` is called once when the worker leaves."""
        ...
