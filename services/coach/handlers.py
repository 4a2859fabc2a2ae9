"""Use cases of coach."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from services.coach.domain.views import read_view
from services.coach.ports import Thinker


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """The move that the rule bot would make."""

    turn: int  # the decision it answers
    action: Mapping[str, Any]


async def hint(game: str, view_json: str, *, thinker: Thinker) -> Hint:
    """What the rule bot would do with this view and nothing else (P60). Changes nothing; the same view, the same hint.

    Raises UnknownGame, BadView, NothingToDecide, CoachBusy.
    """
    view = read_view(game, view_json)
    action = await thinker.choose(game, view)
    assert action in view["legal"], "a bot answers with a legal action"
    return Hint(turn=view["turn"], action=action)
