"""Differential test: each game of S1 against a second model that shares nothing with it.

`WHIST_FUZZ=1000000` plays on until so many decisions a game have been compared.
"""

from os import environ
from random import Random
from typing import Any

import pytest

from libs.engine.game import GAMES
from tests.engine.family import TABLES, Table, chance, name_of
from tests.engine.reference.english import English
from tests.engine.reference.german import German
from tests.engine.reference.knockout import Knockout
from tests.engine.reference.solo import Solo

MODELS: dict[str, Any] = {"english": English, "solo": Solo, "knockout": Knockout, "german": German}
DECISIONS = 4_000  # for each game, over all its tables
FUZZ = int(environ.get("WHIST_FUZZ", "0"))


def compare(table: Table, seed: int) -> int:
    """Play one game with both; how many decisions it took."""
    name, players, options = table
    game, rng = GAMES[name], Random(seed)
    choose = chance(rng)
    ours, theirs = game.new(players, options), MODELS[name](players, options)
    decisions = 0
    while not game.over(ours):
        draw = game.draw(ours)
        assert theirs.draw() == (None if draw is None else (draw.label, draw.size))
        assert theirs.to_act() == game.to_act(ours)
        if draw is not None:
            order = rng.sample(range(draw.size), draw.size)
            events = game.decide_draw(ours, order)
            theirs.take_draw(order)
        else:
            assert sorted(map(str, theirs.legal())) == sorted(map(str, game.legal(ours)))
            action = choose(game, ours)
            events = game.decide(ours, theirs.to_act(), action)
            theirs.act(action)
            decisions += 1
        for event in events:
            ours = game.evolve(ours, event)
    assert (theirs.stage, theirs.draw(), theirs.to_act()) == ("over", None, None)
    result = game.result(ours)
    ranking, totals = theirs.outcome()
    assert list(result.ranking) == ranking
    assert list(result.totals) == totals
    return decisions


@pytest.mark.timeout(0 if FUZZ else 180)
@pytest.mark.parametrize("name", MODELS)
def test_both_models_agree_on_every_decision_and_result(name: str) -> None:
    tables = [table for table in TABLES if table[0] == name]
    compared, seed = 0, 0
    while compared < max(DECISIONS, FUZZ):
        compared += compare(tables[seed % len(tables)], seed)
        seed += 1
    assert seed >= len(tables), "every table was played"


def test_every_table_has_a_name_of_its_own() -> None:
    assert len({name_of(table) for table in TABLES}) == len(TABLES)
