"""B30 in small: every reason of every game is met, and a rule that lets something through is found."""

from pathlib import Path
from random import Random
from typing import Any

import pytest

from libs.engine import game as registry
from libs.engine.errors import RuleViolation
from tests.chaos.scenario import played
from tests.chaos.scenarios import illegal
from tests.chaos.scenarios.illegal import refused_everywhere


async def test_b30_every_illegal_move_of_every_game_is_refused_and_changes_nothing(folder: Path) -> None:
    run = await played("B30", 1, folder, small=True)
    assert len(run.injected) == 1 and len(run.proven) == 2


class Careless:
    """German Whist that takes a card from whoever plays one."""

    def __init__(self, game: Any) -> None:
        self._game = game

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)

    def decide(self, state: Any, seat: int, action: Any) -> Any:
        try:
            return self._game.decide(state, seat, action)
        except RuleViolation as refusal:
            if refusal.reason != "OUT_OF_TURN":
                raise
            return self._game.decide(state, self._game.to_act(state), self._game.legal(state)[0])


async def test_b30_a_rule_that_lets_a_move_through_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(illegal, "GAMES", {"german": Careless(registry.GAMES["german"])})
    with pytest.raises(AssertionError, match="a refused move changed german"):
        await refused_everywhere("german", Random(1))
