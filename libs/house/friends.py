"""Friends' tables: what a host may choose, and how long a table waits for its people (P20-P25)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

BID_SECONDS: Final = (10, 15, 30, 60)  # P21
UNOFFERED_MODES: Final = ("quick", "bench")  # quick play's, and the load harness's
ONE_EIGHT_ONE: Final = "1-8-1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Friends:
    """The operator's numbers. All times are milliseconds."""

    # Whether 1-8-1 is offered (R2, P21).
    one_eight_one: bool
    # The least time for a card (P21).
    play_min_ms: int
    # A person who is not heard of for so long gives the seat up, before the deal.
    seat_lease_ms: int
    # A table without people closes after this, waiting or in play (P25).
    deserted_ms: int
    # The most people who may watch one game (P22); 0: none.
    spectators: int

    def play_ms(self, bid_ms: int) -> int:
        """Time for a card: two thirds of the time to bid, and no less than `play_min_ms` (P21)."""
        return max(self.play_min_ms, bid_ms * 2 // 3)

    def offers(self, options: Mapping[str, object]) -> bool:
        """Whether friends may play a game with these options; what a game makes of them is the engine's to say."""
        mode = options.get("mode")
        return mode not in UNOFFERED_MODES and (self.one_eight_one or mode != ONE_EIGHT_ONE)
