"""P63: keen and sharp are legal, deterministic, blind to hidden cards, and spared five public complaints about bots."""

import json
from random import Random
from statistics import fmean
from typing import Any

import pytest

from libs.engine.cards import deck
from libs.engine.protocol import State
from libs.search import STRENGTHS, choose
from tests.engine.builders import GAME, TABLES, bid, dealt, dealt_from, final, play, run
from tests.engine.test_romanian_properties import swap_hidden

THINKERS = ("keen", "sharp")


def move(state: State, strength: str, seed: int = 1) -> Any:
    return choose("romanian", GAME.view(state, GAME.to_act(state)), strength, seed)


@pytest.mark.parametrize(("mode", "players"), TABLES)
def test_always_legal_in_every_mode_and_at_every_table(mode: str, players: int) -> None:
    assert GAME.over(final(mode, players, seed=4, choose=lambda state: move(state, "keen")))


def test_sharp_is_always_legal_too() -> None:
    for players in (4, 5, 6):
        assert GAME.over(final("1-8-1", players, seed=5, choose=lambda state: move(state, "sharp")))


@pytest.mark.parametrize("strength", THINKERS)
@pytest.mark.parametrize("players", [4, 5, 6])
def test_p63_the_move_does_not_depend_on_hidden_cards(players: int, strength: str) -> None:
    compared = 0
    for at, (state, _, _) in enumerate(run("8-1-8", players, seed=6)):
        seat = GAME.to_act(state)
        if seat is None or at % 9:
            continue
        assert move(swap_hidden(state, seat, at), strength) == move(state, strength)
        compared += 1
    assert compared > 40


@pytest.mark.parametrize("strength", THINKERS)
def test_the_same_view_and_seed_give_the_same_move_and_the_view_is_left_alone(strength: str) -> None:
    for state, _, _ in list(run("quick", 6, seed=6))[::6]:
        seat = GAME.to_act(state)
        if seat is None:
            continue
        view = GAME.view(state, seat)
        kept = json.dumps(view)
        first = choose("romanian", view, strength, 3)
        choose("romanian", view, strength, 4)
        assert choose("romanian", json.loads(kept), strength, 3) == first
        assert json.dumps(view) == kept


def test_calm_is_the_engines_own_and_the_unknown_is_refused() -> None:
    view = GAME.view(bid(dealt(["7C 8C", "AH KH", "7D 8D", "7S 8S"], dealer=3, turn_up="9H")), 0)
    assert set(STRENGTHS) == {"calm", "keen", "sharp"}
    assert choose("romanian", view) in view["legal"]
    with pytest.raises(KeyError):
        choose("romanian", view, "wild")
    with pytest.raises(KeyError):
        choose("bridge", view, "keen")


# Five complaints that players of other sites have made in public (TricksterCards/TricksterBots).


@pytest.mark.parametrize("strength", THINKERS)
@pytest.mark.parametrize("seed", range(5))
def test_350_needing_all_three_tricks_it_does_not_lead_its_low_trump(strength: str, seed: int) -> None:
    state = bid(dealt(["KH QH 8H", "7D 8D 9D", "TD JD QD", "7S 8S 9S"], dealer=3, turn_up="9H"), 3, 0, 0, 1)
    assert move(state, strength, seed)["play"] in ("KH", "QH")


@pytest.mark.parametrize("strength", THINKERS)
@pytest.mark.parametrize("seed", range(5))
def test_217_two_trumps_for_two_tricks_the_higher_first(strength: str, seed: int) -> None:
    state = bid(dealt(["AH TH", "7D 8D", "TD JD", "7S 8S"], dealer=3, turn_up="9H"), 2, 0, 0, 1)
    assert move(state, strength, seed) == {"play": "AH"}


@pytest.mark.parametrize("strength", THINKERS)
@pytest.mark.parametrize("seed", range(5))
def test_71_needing_every_trick_it_leads_its_biggest_trump_not_a_side_ace(strength: str, seed: int) -> None:
    state = bid(dealt(["AH JH AC", "7D 8D 9D", "TD JD QD", "7S 8S 9S"], dealer=3, turn_up="9H"), 3, 0, 0, 1)
    assert move(state, strength, seed) == {"play": "AH"}


@pytest.mark.parametrize("strength", THINKERS)
@pytest.mark.parametrize("seed", range(5))
def test_142_two_cards_left_and_one_trick_needed_it_keeps_the_boss_trump(strength: str, seed: int) -> None:
    """Void in the suit led it must trump (R6); with the low one it stays under and wins the last trick."""
    state = play(bid(dealt(["8C 7D", "TH 8D", "7H AH", "9C TD"], dealer=3, turn_up="9H"), 0, 0, 1, 0), "8C", "TH")
    assert move(state, strength, seed) == {"play": "7H"}


@pytest.mark.parametrize("strength", THINKERS)
@pytest.mark.parametrize("seed", range(5))
def test_59_a_barred_bid_does_not_push_the_ace_of_trumps_to_zero(strength: str, seed: int) -> None:
    hands = ["7D 8D 9D", "TD JD QD", "7S 8S 9S", "AH 7C 8C"]
    state = bid(dealt(hands, dealer=3, turn_up="9H"), 1, 1, 0)
    assert GAME.view(state, 3)["barred"] == 1
    assert move(state, strength, seed) == {"bid": 2}


def test_keen_beats_calm_by_more_than_luck() -> None:
    """300 deals of five cards, each played twice with the seats exchanged; the margin is over three errors."""
    gaps = []
    rng = Random(8)
    for number in range(300):
        start = dealt_from(4, 5, number % 4, rng.sample(deck(4), 32))
        for keen_seats in (0, 1):
            state: State = start
            while (seat := GAME.to_act(state)) is not None:
                action = move(state, "keen" if seat % 2 == keen_seats else "calm", number)
                for event in GAME.decide(state, seat, action):
                    state = GAME.evolve(state, event)
            scores = state.sheet[-1].scores
            gaps.append(fmean(scores[keen_seats::2]) - fmean(scores[1 - keen_seats :: 2]))
    assert fmean(gaps) > 0.3
