"""Use cases of coach."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from libs.search import Advice
from services.coach.domain.views import read_view
from services.coach.ports import Thinker


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """The move to make, and what every legal one promises."""

    turn: int  # the decision it answers
    action: Mapping[str, Any]
    advice: tuple[Advice, ...]


async def hint(game: str, view_json: str, *, thinker: Thinker) -> Hint:
    """What this view and nothing else says about the seat's legal moves (P60). Changes nothing; the same view, the
    same hint.

    Raises UnknownGame, BadView, NothingToDecide, CoachBusy.
    """
    view = read_view(game, view_json)
    thought = await thinker.think(game, view)
    return Hint(turn=view["turn"], action=thought.action, advice=thought.advice)
