"""The running coach, and real views of real games."""

import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from libs.engine.game import GAMES
from services.coach.wiring import MIGRATIONS
from tests.conftest import MakeDatabase
from tests.services.coach.builders import Coach, coach_running

GAME = GAMES["romanian"]


@pytest.fixture(scope="session")
async def database(make_database: MakeDatabase) -> str:
    """One for all coaches of this folder; each test brings tables and accounts of its own."""
    return await make_database(MIGRATIONS)


@pytest.fixture(scope="session")
async def coach(database: str) -> AsyncIterator[Coach]:
    with tempfile.TemporaryDirectory(prefix="whist-coach-") as folder:
        async with coach_running(database, Path(folder)) as service:
            yield service


def views(mode: str, players: int, seed: int, **options: Any) -> Iterator[dict[str, Any]]:
    """`decisions` of Romanian Whist."""
    return decisions("romanian", players, {"mode": mode, **options}, seed)


def decisions(name: str, players: int, options: dict[str, Any], seed: int) -> Iterator[dict[str, Any]]:
    """The view of whoever is to act, decision by decision, in a whole game of any legal moves."""
    game, rng = GAMES[name], Random(seed)
    state = game.new(players, options)
    while not game.over(state):
        if (draw := game.draw(state)) is not None:
            events = game.decide_draw(state, rng.sample(range(draw.size), draw.size))
        else:
            seat = game.to_act(state)
            assert seat is not None
            yield game.view(state, seat)
            events = game.decide(state, seat, rng.choice(game.legal(state)))
        for event in events:
            state = game.evolve(state, event)
