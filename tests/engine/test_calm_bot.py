"""P63: the calm player is always legal, plays from its view alone, and plays sensibly."""

import json
from typing import Any

import pytest

from libs.engine.bots import choose
from libs.engine.bots.knowledge import know
from libs.engine.cards import hand_of
from tests.engine.builders import GAME, TABLES, act, bid, cards, dealt, final, play, run
from tests.engine.test_romanian_properties import swap_hidden


def calm(state: Any) -> Any:
    return choose("romanian", GAME.view(state, GAME.to_act(state)))


@pytest.mark.parametrize(("mode", "players"), TABLES)
def test_always_legal_in_every_mode_and_at_every_table(mode: str, players: int) -> None:
    assert GAME.over(final(mode, players, seed=4, choose=calm))


@pytest.mark.parametrize("players", [4, 5, 6])
def test_p63_the_move_does_not_depend_on_hidden_cards(players: int) -> None:
    for at, (state, _, _) in enumerate(run("8-1-8", players, seed=6)):
        seat = GAME.to_act(state)
        if seat is None or at % 4:
            continue
        assert calm(swap_hidden(state, seat, at)) == calm(state)


def test_the_same_view_gives_the_same_move_and_is_left_alone() -> None:
    for state, _, _ in list(run("quick", 6, seed=6))[::6]:
        seat = GAME.to_act(state)
        if seat is None:
            continue
        view = GAME.view(state, seat)
        kept = json.dumps(view)
        assert choose("romanian", view) == choose("romanian", json.loads(kept))
        assert json.dumps(view) == kept


def test_it_makes_half_of_its_bids() -> None:
    made = rounds = 0
    for seed in range(4):
        for facts in GAME.result(final("8-1-8", 4, seed, calm)).seats:
            made += sum(fact.made for fact in facts)
            rounds += len(facts)
    assert made / rounds >= 0.5


def test_needing_every_trick_it_leads_its_top_trump() -> None:
    hands = ["AH KH AC", "7D 8D 9D", "TD JD QD", "7S 8S 9S"]
    state = bid(dealt(hands, dealer=3, turn_up="9H"), 3, 0, 0, 1)
    assert calm(state) == {"play": "AH"}
    state = play(state, "AH", "7D", "TD", "7S")
    assert calm(state) == {"play": "KH"}


def test_a_barred_bid_does_not_push_a_sure_trick_to_zero() -> None:
    hands = ["7D 8D 9D", "TD JD QD", "7S 8S 9S", "AH 7C 8C"]
    state = bid(dealt(hands, dealer=3, turn_up="9H"), 1, 1, 0)
    assert GAME.view(state, 3)["barred"] == 1
    assert calm(state) == {"bid": 2}


def test_a_barred_bid_of_a_strong_hand_may_go_down() -> None:
    hands = ["7D 8D", "TD JD", "7S 8S", "AH 7C"]
    state = bid(dealt(hands, dealer=3, turn_up="9H"), 0, 0, 0)
    assert GAME.view(state, 3)["barred"] == 2
    assert calm(state) == {"bid": 1}


def test_two_cards_left_and_one_trick_needed_it_keeps_the_trump_that_wins_last() -> None:
    """Void in the suit led it must trump; with the low one it stays under and wins the last trick."""
    hands = ["8C 7D", "TH 8D", "7H AH", "9C TD"]
    state = play(bid(dealt(hands, dealer=3, turn_up="9H"), 0, 0, 1, 0), "8C", "TH")
    assert calm(state) == {"play": "7H"}


def test_with_its_bid_made_it_does_not_lead_its_highest_card() -> None:
    hands = ["AD 7C", "KD TC", "QD JC", "JD QC"]
    state = bid(dealt(hands, dealer=3, turn_up="9H"), 0, 0, 0, 0)
    assert calm(state) == {"play": "7C"}


def test_with_its_bid_made_it_ducks_with_the_highest_loser() -> None:
    hands = ["QC 7D", "7C JC", "8S 9S", "TS JS"]
    state = play(bid(dealt(hands, dealer=3, turn_up="9H"), 1, 0, 0, 0), "QC")
    assert calm(state) == {"play": "JC"}


def test_last_to_play_it_wins_cheaply() -> None:
    hands = ["8C 7D 8D", "7C 9D TD", "9C JD QD", "TC AC AH"]
    state = bid(dealt(hands, dealer=3, turn_up="9H"), 1, 1, 0, 3)
    assert calm(play(state, "8C", "7C", "9C")) == {"play": "TC"}


def test_a_seat_that_did_not_follow_is_known_to_be_void() -> None:
    hands = ["8C 9C 7D", "7H 8D 9D", "7S JD QD", "TC AC KC"]
    state = play(bid(dealt(hands, dealer=3, turn_up="9H"), 0, 0, 0, 0), "8C", "7H", "7S", "TC")
    known = know(GAME.view(state, 1))
    by_seat = {one.seat: one.void for one in known.opponents}
    assert by_seat[2] >> cards("KC")[0] & 1, "no club"
    assert by_seat[2] >> cards("AH")[0] & 1, "nor a trump: it had to play one"
    assert not by_seat[0] and not by_seat[3]
    assert not known.unseen & hand_of(cards("8C 7H 7S TC 9H 8D 9D"))
    assert act(state, calm(state)) is not None
