"""Differential test against OpenSpiel's bridge for 52-card play: leaders, legal sets, winners.

A hand that d dealt with trump t is the contract 1t by d: the lead is by d's left as here. Their card is rank·4 + suit
in our order of suits, their seats go clockwise. `WHIST_FUZZ` plays more than the default.
"""

import re
from os import environ
from random import Random
from typing import Any

import pyspiel

from libs.engine.cards import CARDS, Card, parse_card
from libs.engine.game import GAMES
from libs.engine.protocol import State

DEALS = 400 if "WHIST_FUZZ" in environ else 40
BIDS_FROM = 52  # pass, double, redouble, then 1C 1D 1H 1S 1NT …
GAME = GAMES["english"]


def theirs_of(card: Card) -> int:
    return ((card & 15) - 2) * 4 + (card >> 4)


def their_hand(pack: list[Card], dealer: int) -> Any:
    """They deal in turn from seat 0 on; the auction starts with seat 0 and ends with three passes."""
    hand = pyspiel.load_game("bridge(use_double_dummy_result=false)").new_initial_state()
    for row in range(13):
        for seat in range(4):
            hand.apply_action(theirs_of(pack[row * 4 + (seat - dealer - 1) % 4]))
    for _ in range(dealer):
        hand.apply_action(BIDS_FROM)
    hand.apply_action(BIDS_FROM + 3 + (pack[-1] >> 4))
    for _ in range(3):
        hand.apply_action(BIDS_FROM)
    return hand


def our_hand(pack: list[Card], dealer: int) -> State:
    state = GAME.new(4, {"match": "game"})
    for order in ([dealer, *(seat for seat in range(4) if seat != dealer)], [CARDS.index(card) for card in pack]):
        for event in GAME.decide_draw(state, order):
            state = GAME.evolve(state, event)
    return state


def test_w2_agrees_with_openspiel() -> None:
    rng = Random(52)
    for _ in range(DEALS):
        pack, dealer = list(CARDS), rng.randrange(4)
        rng.shuffle(pack)
        theirs, ours = their_hand(pack, dealer), our_hand(pack, dealer)
        while not theirs.is_terminal():
            seat = GAME.to_act(ours)
            dummy = (dealer + 2) % 4
            assert int(theirs.current_player()) == (dealer if seat == dummy else seat)
            legal = GAME.legal(ours)
            assert {theirs_of(parse_card(one["play"])) for one in legal} == set(theirs.legal_actions())
            action = rng.choice(legal)
            theirs.apply_action(theirs_of(parse_card(action["play"])))
            for event in GAME.decide(ours, seat or 0, action):
                ours = GAME.evolve(ours, event)
        assert GAME.phase(ours) in ("draw", "over")
        assert ours.sheet[0].tricks[dealer % 2] == declarer_tricks(theirs)


def declarer_tricks(theirs: Any) -> int:
    """As their text says at the end."""
    said = re.search(r"Declarer tricks won: (\d+)", str(theirs))
    assert said is not None
    return int(said[1])
