"""A client's memory: keep a view current from the events alone, without asking for it again."""

from collections.abc import Mapping
from typing import Any

from libs.engine.game import GAMES, View


def follow(view: View, projected: Mapping[str, Any]) -> View:
    """The view after an event that was projected for the same observer.

    Equal to `game.view(game.evolve(state, event), observer)`, "legal" and "barred" included; the
    given view is left as it was.
    """
    return GAMES[view["game"]].follow(view, projected)
