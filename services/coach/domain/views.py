"""Views by game: which games the coach knows, and how each one's view is read."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from services.coach.domain import family
from services.coach.domain.errors import UnknownGame
from services.coach.domain.romanian import read_romanian

READERS: Final[Mapping[str, Callable[[str], dict[str, Any]]]] = MappingProxyType(
    {"romanian": read_romanian, **family.READERS}
)


def read_view(game: str, text: str) -> dict[str, Any]:
    """The view of the seat to move. Raises UnknownGame, BadView or NothingToDecide."""
    if game not in READERS:
        raise UnknownGame(game=game[:40], known=sorted(READERS))
    return READERS[game](text)
