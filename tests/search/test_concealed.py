"""R11: a bid on a card that its owner does not see is counted out, and agrees with what the engine deals and plays."""

from itertools import product
from math import sqrt
from random import Random
from typing import Any

import pytest

from libs.engine.protocol import Action, State, View
from libs.search import advise, choose
from libs.search.concealed import trick_chance
from tests.engine.builders import GAME, run

KINDS = ("forehead", "hidden")


def one_card(players: int, kind: str, rng: Random, scoring: str = "linear") -> State:
    """A first round of one card, dealt, nobody has bid."""
    state = GAME.new(players, {"mode": "1-8-1", "one_card": kind, "scoring": scoring})
    while (draw := GAME.draw(state)) is not None:
        for event in GAME.decide_draw(state, rng.sample(range(draw.size), draw.size)):
            state = GAME.evolve(state, event)
    return state


def bidders(state: State, rng: Random) -> list[tuple[int, View]]:
    """(tricks taken, view when it was to bid) of each seat, in the order of bidding, the round played by the engine."""
    seen = []
    while GAME.phase(state) == "bid":
        seat = GAME.to_act(state)
        assert seat is not None
        seen.append((seat, GAME.view(state, seat)))
        for event in GAME.decide(state, seat, rng.choice(GAME.legal(state))):
            state = GAME.evolve(state, event)
    while GAME.phase(state) == "play":
        seat = GAME.to_act(state)
        assert seat is not None
        for event in GAME.decide(state, seat, GAME.legal(state)[0]):
            state = GAME.evolve(state, event)
    taken = GAME.view(state, 0)["score_sheet"][-1]["taken"]
    return [(taken[seat], view) for seat, view in seen]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("players", [4, 5, 6])
def test_r11_the_counted_chance_is_how_often_the_engine_gives_the_trick(players: int, kind: str) -> None:
    """Over many deals, for the first to bid and the last; within four standard errors."""
    rng = Random(players)
    off = {True: 0.0, False: 0.0}
    variance = {True: 0.0, False: 0.0}
    for _ in range(1500):
        rows = bidders(one_card(players, kind, rng), rng)
        for first, (won, view) in ((True, rows[0]), (False, rows[-1])):
            chance = trick_chance(view)
            assert 0 <= chance <= 1
            off[first] += won - chance
            variance[first] += chance * (1 - chance)
    for first in (True, False):
        assert variance[first] > 20
        assert abs(off[first]) < 4 * sqrt(variance[first])


@pytest.mark.parametrize("players", [4, 5, 6])
def test_r11_hidden_chances_of_all_seats_add_up_to_the_one_trick(players: int) -> None:
    rng = Random(9)
    rows = bidders(one_card(players, "hidden", rng), rng)
    assert sum(trick_chance(view) for _, view in rows) == pytest.approx(1.0)


def test_r11_aces_on_every_forehead_leave_no_trick_and_low_cards_leave_most() -> None:
    rng = Random(1)
    view = GAME.view(state := one_card(4, "forehead", rng), GAME.to_act(state))
    seat = view["seat"]
    assert (view["dealer"] + 1) % 4 == seat, "the first to bid leads"
    suits = [suit for suit in "CDHS" if suit != view["trump_suit"]]
    trump = view["trump_suit"]

    def seeing(*cards: str) -> View:
        others = iter(cards)
        return {**view, "trump": f"9{trump}", "foreheads": [None if at == seat else next(others) for at in range(4)]}

    # Led, any card wins unless a higher one of its suit, or a trump, lies on another forehead.
    assert trick_chance(seeing(*(f"7{suit}" for suit in suits))) == 1.0
    boss = trick_chance(seeing(f"A{trump}", f"7{suits[0]}", f"8{suits[0]}"))
    assert boss == 0.0


@pytest.mark.parametrize(("kind", "scoring"), list(product(KINDS, ["linear", "triangular"])))
def test_r11_advice_is_exact_and_the_bots_follow_it(kind: str, scoring: str) -> None:
    rng = Random(4)
    for _ in range(20):
        for _, view in bidders(one_card(5, kind, rng, scoring), rng):
            advice = advise(view, samples=50, seed=1)
            assert [each.action for each in advice] == view["legal"]
            assert all(each.error == 0.0 for each in advice)
            chance = trick_chance(view)
            points: dict[int, Any] = {0: 5 * (1 - chance) - chance, 1: 6 * chance - (1 - chance)}
            for each in advice:
                bid = each.action["bid"]
                assert each.points == pytest.approx(points[bid])
                assert each.chance == pytest.approx(chance if bid else 1 - chance)
            best = max(advice, key=lambda each: each.points).action
            assert choose("romanian", view, "keen", 1) == choose("romanian", view, "sharp", 2) == best


@pytest.mark.parametrize("kind", KINDS)
def test_r11_bots_play_whole_games_with_concealed_cards(kind: str) -> None:
    concealed = 0

    def keen(state: State) -> Action:
        nonlocal concealed
        view = GAME.view(state, GAME.to_act(state))
        concealed += not view["hand"]
        action = choose("romanian", view, "keen", view["turn"])
        assert action in view["legal"]
        return action

    *_, (_, _, state) = run("1-8-1", 6, seed=2, choose=keen, one_card=kind)
    assert GAME.over(state)
    assert concealed == 2 * 6 * 6, "six rounds of one card at either end"
