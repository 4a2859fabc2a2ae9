"""Players that know a seat's view and nothing else (P63). Stronger ones live in `libs.search`."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from libs.engine.bots import calm, english, german, knockout, solo
from libs.engine.protocol import Action, View

Policy = Callable[[View], Action]

POLICIES: Final[Mapping[tuple[str, str], Policy]] = MappingProxyType(
    {
        ("romanian", "calm"): calm.choose,
        ("english", "calm"): english.choose,
        ("solo", "calm"): solo.choose,
        ("knockout", "calm"): knockout.choose,
        ("german", "calm"): german.choose,
    }
)


def choose(game_name: str, view: View, strength: str = "calm") -> Action:
    """A legal move for the seat whose view this is: pure, the same for the same view.

    `view` must have "legal" moves. Raises KeyError for a game or strength without a policy here.
    """
    return POLICIES[game_name, strength](view)
