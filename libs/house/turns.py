"""Times of a table and of the queue, in milliseconds (P3, P4, P5, P30, P31, P63)."""

from dataclasses import dataclass
from typing import Annotated

from libs.house.fields import MILLISECONDS_MAX, Misfit, Whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """How long a move may take in quick and classic games, and how bots pace theirs."""

    bid_ms: Annotated[int, Whole(1000, MILLISECONDS_MAX, "Time to bid.", "P30")]
    play_ms: Annotated[int, Whole(1000, MILLISECONDS_MAX, "Time to play a card.", "P30")]
    claim_ms: Annotated[int, Whole(1000, MILLISECONDS_MAX, "Time for a claim after a hand, at every table.", "W7")]
    away_after: Annotated[int, Whole(1, 100, "Time-outs in a row after which the bot plays without waiting.", "P30")]
    network_grace_ms: Annotated[
        int, Whole(0, 10_000, "Added on the server alone: a move sent in time is not lost to its way.", "P31")
    ]
    bot_min_ms: Annotated[int, Whole(0, MILLISECONDS_MAX, "A bot moves after a time between this …", "P63")]
    bot_max_ms: Annotated[int, Whole(0, MILLISECONDS_MAX, "… and this.", "P63")]

    def check(self) -> None:
        """Raises Misfit."""
        if self.bot_min_ms > self.bot_max_ms:
            raise Misfit("bot_max_ms", f"must not be below bot_min_ms, {self.bot_min_ms}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Matchmaking:
    """When a waiting table widens and when it deals, counted from the oldest ticket."""

    deal_after_ms: Annotated[int, Whole(0, MILLISECONDS_MAX, "The table deals, with bots if need be.", "P3")]
    one_tier_apart_after_ms: Annotated[int, Whole(0, MILLISECONDS_MAX, "Tiers one apart sit together.", "P4")]
    any_tier_after_ms: Annotated[int, Whole(0, MILLISECONDS_MAX, "Any tiers sit together.", "P4")]
    cross_room_after_ms: Annotated[int, Whole(0, MILLISECONDS_MAX, "Players from other rooms are taken too.", "P5")]

    def check(self) -> None:
        """Raises Misfit."""
        if self.any_tier_after_ms < self.one_tier_apart_after_ms:
            raise Misfit("any_tier_after_ms", "must not be below one_tier_apart_after_ms")
