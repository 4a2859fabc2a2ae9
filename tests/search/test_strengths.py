"""P63: what a game lacks is answered by its strongest player below; the house's names are those of search."""

from random import Random
from typing import Any

import pytest

from libs.engine.game import GAMES
from libs.engine.protocol import View
from libs.house.bots import Strength
from libs.search import STRENGTHS, choose, strongest

ORDER = list(STRENGTHS)
TABLES: dict[str, tuple[int, dict[str, Any]]] = {
    "romanian": (6, {"mode": "quick"}),
    "english": (4, {}),
    "solo": (4, {}),
    "knockout": (4, {}),
    "german": (2, {}),
}


def first_decision(name: str) -> View:
    game, rng = GAMES[name], Random(1)
    players, options = TABLES[name]
    state = game.new(players, options)
    while (draw := game.draw(state)) is not None:
        for event in game.decide_draw(state, rng.sample(range(draw.size), draw.size)):
            state = game.evolve(state, event)
    return game.view(state, game.to_act(state))


@pytest.mark.parametrize("asked", ORDER)
@pytest.mark.parametrize("name", sorted(GAMES))
def test_p63_the_strongest_is_played_and_what_lies_between_it_and_the_one_asked_for_is_not(
    name: str, asked: str
) -> None:
    found, view = strongest(name, asked), first_decision(name)
    assert choose(name, view, found, seed=1) in view["legal"]
    missing = ORDER[ORDER.index(found) + 1 : ORDER.index(asked) + 1]
    for strength in missing:
        with pytest.raises(KeyError):
            choose(name, view, strength, seed=1)
    assert ORDER.index(found) <= ORDER.index(asked)


def test_romanian_whist_has_all_three_and_a_strength_that_nobody_has_is_refused() -> None:
    assert [strongest("romanian", strength) for strength in ORDER] == ORDER == ["calm", "keen", "sharp"]
    with pytest.raises(KeyError):
        strongest("romanian", "wild")


def test_the_house_and_search_name_the_same_strengths_weakest_first() -> None:
    assert [*Strength] == ORDER
