"""What the handlers need of the outside."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from libs.search import Advice


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """One decision thought about."""

    action: Mapping[str, Any]  # the move to make, one of the view's legal ones
    advice: tuple[Advice, ...]  # every legal one in the view's order; empty for a game that has no such judge


class Thinker(Protocol):
    """Judges moves without holding up the event loop."""

    async def think(self, game: str, view: Mapping[str, Any]) -> Thought:
        """The same for the same view. Raises CoachBusy, or BadView for a view that no game leads to."""
        ...
