"""How fast a table plays."""

from dataclasses import dataclass

from libs.house.turns import Turns
from services.tables.domain.entries import FriendsTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How long turns last and how soon bots move; the scales shorten both for demonstrations and tests."""

    turns: Turns
    bot_scale: float = 1.0
    limit_scale: float = 1.0
    # A friends' table without people is called off after this (P25).
    deserted_ms: int = 300_000

    def limit_seconds(self, phase: str, friends: FriendsTable | None) -> float:
        """A person's time for one decision: the platform's (P30) or the host's (P21); a claim has its own (W7)."""
        chosen = self.turns if friends is None else friends
        match phase:
            case "claim":
                milliseconds = self.turns.claim_ms
            case "bid" | "name":
                milliseconds = chosen.bid_ms
            case _:
                milliseconds = chosen.play_ms
        return milliseconds * self.limit_scale / 1000

    def deserted_seconds(self) -> float:
        return self.deserted_ms * self.limit_scale / 1000

    def grace_seconds(self) -> float:
        return self.turns.network_grace_ms * self.limit_scale / 1000

    def bot_seconds(self, share: float) -> float:
        """A human-like time; `share` in 0..1 picks it (P63)."""
        low, high = self.turns.bot_min_ms, self.turns.bot_max_ms
        return (low + (high - low) * share) * self.bot_scale / 1000
