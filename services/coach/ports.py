"""What the handlers need of the outside."""

from collections.abc import Mapping
from typing import Any, Protocol


class Thinker(Protocol):
    """Chooses moves without holding up the event loop."""

    async def choose(self, game: str, view: Mapping[str, Any]) -> Mapping[str, Any]:
        """One of the view's legal actions. Raises CoachBusy, or BadView for a view that no game leads to."""
        ...
