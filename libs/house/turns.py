"""Times of a table and of the queue, in milliseconds (P3, P4, P5, P30, P31, P63)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """How long a move may take in quick and classic games, and how bots pace theirs."""

    bid_ms: int
    play_ms: int
    # Time-outs in a row after which the seat is away and the bot plays without waiting (P30).
    away_after: int
    # Added to the limit on the server alone, so that a move sent in time is not lost to its way (P31).
    network_grace_ms: int
    # A bot moves after a time between these (P63).
    bot_min_ms: int
    bot_max_ms: int
    # For a claim after a hand (W7), the same at every table.
    claim_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Matchmaking:
    """When a waiting table widens and when it deals, counted from the oldest ticket."""

    deal_after_ms: int
    one_tier_apart_after_ms: int
    any_tier_after_ms: int
    cross_room_after_ms: int
