"""Friends' tables: what a host may choose, and how long a table waits for its people (P20-P25)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final

from libs.house.fields import MILLISECONDS_MAX, Flag, Misfit, Whole, Wholes

UNOFFERED_MODES: Final = ("quick", "bench")  # quick play's, and the load harness's
ONE_EIGHT_ONE: Final = "1-8-1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Friends:
    """The operator's numbers. All times are milliseconds."""

    one_eight_one: Annotated[bool, Flag("Whether 1-8-1 is offered too.", "R2, P21")]
    bid_seconds: Annotated[tuple[int, ...], Wholes(1, 8, 1, 600, "Times to bid that a host may choose from.", "P21")]
    play_share: Annotated[
        tuple[int, ...],
        Wholes(2, 2, 1, 100, "Time for a card as a part of the time to bid: [2, 3] is two thirds.", "P21"),
    ]
    play_min_ms: Annotated[int, Whole(1000, MILLISECONDS_MAX, "The least time for a card.", "P21")]
    seat_lease_ms: Annotated[
        int, Whole(1000, MILLISECONDS_MAX, "Who is not heard of for so long gives the seat up, before the deal.", "P20")
    ]
    deserted_ms: Annotated[
        int, Whole(1000, MILLISECONDS_MAX, "A table without people closes after this, waiting or in play.", "P25")
    ]
    spectators: Annotated[int, Whole(0, 1000, "The most people who may watch one game; 0: none.", "P22")]

    def check(self) -> None:
        """Raises Misfit."""
        if list(self.bid_seconds) != sorted(set(self.bid_seconds)):
            raise Misfit("bid_seconds", "must ascend")
        if self.play_share[0] > self.play_share[1]:
            raise Misfit("play_share", "must not be more than the time to bid")

    def play_ms(self, bid_ms: int) -> int:
        """Time for a card: its part of the time to bid, rounded down, and no less than `play_min_ms` (P21)."""
        part, whole = self.play_share
        return max(self.play_min_ms, bid_ms * part // whole)

    def offers(self, options: Mapping[str, object]) -> bool:
        """Whether friends may play a game with these options; what a game makes of them is the engine's to say."""
        mode = options.get("mode")
        return mode not in UNOFFERED_MODES and (self.one_eight_one or mode != ONE_EIGHT_ONE)
