"""Differential test against OpenSpiel's bridge for 52-card play: leaders, legal sets, winners.

A hand that d dealt with trump t is the contract 1t by d: the lead is by d's left as here. Solo's misères are 1NT.
Their card is rank·4 + suit in our order of suits, their seats go clockwise.
"""

import re
from random import Random
from typing import Any

import pyspiel
import pytest

from libs.engine.cards import CARDS, Card, parse_card
from libs.engine.game import GAMES
from libs.engine.protocol import Action, Game, State
from tests.engine.family import act

DEALS = 100  # each of the tests below: 800 in all
BIDS_FROM = 52  # pass, double, redouble, then 1C 1D 1H 1S 1NT …
NO_TRUMP = 4
LOW = [card for card in CARDS if card & 15 <= 7]
BRIDGE = pyspiel.load_game("bridge(use_double_dummy_result=false)")


def theirs_of(card: Card) -> int:
    return ((card & 15) - 2) * 4 + (card >> 4)


def their_hand(pack: list[Card], dealer: int, trump: int) -> Any:
    """They deal in turn from seat 0 on; the auction starts with seat 0 and ends with three passes."""
    hand = BRIDGE.new_initial_state()
    for row in range(13):
        for seat in range(4):
            hand.apply_action(theirs_of(pack[row * 4 + (seat - dealer - 1) % 4]))
    for _ in range(dealer):
        hand.apply_action(BIDS_FROM)
    hand.apply_action(BIDS_FROM + 3 + trump)
    for _ in range(3):
        hand.apply_action(BIDS_FROM)
    return hand


def our_hand(game: Game, options: dict[str, Any], pack: list[Card], dealer: int) -> State:
    state = game.new(4, options)
    for order in ([dealer, *(seat for seat in range(4) if seat != dealer)], [CARDS.index(card) for card in pack]):
        for event in game.decide_draw(state, order):
            state = game.evolve(state, event)
    return state


def play_both(game: Game, ours: State, theirs: Any, dealer: int, rng: Random) -> int:
    """To the end of our hand, any card that may be played; how many cards that were, 52 of a whole hand."""
    won = cards = 0
    while game.phase(ours) == "play":
        seat = game.to_act(ours)
        assert seat is not None
        dummy = (dealer + 2) % 4
        assert int(theirs.current_player()) == (dealer if seat == dummy else seat)
        legal = game.legal(ours)
        assert {theirs_of(parse_card(one["play"])) for one in legal} == set(theirs.legal_actions())
        action: Action = rng.choice(legal)
        theirs.apply_action(theirs_of(parse_card(action["play"])))
        for event in game.decide(ours, seat, action):
            ours = game.evolve(ours, event)
            if (told := game.project(event, None) or {})["k"] == "trick":
                won += told["winner"] % 2 == dealer % 2
        cards += 1
    assert theirs.is_terminal() == (cards == 52)
    if cards == 52:
        assert won == declarer_tricks(theirs)
    return cards


def declarer_tricks(theirs: Any) -> int:
    """As their text says at the end."""
    said = re.search(r"Declarer tricks won: (\d+)", str(theirs))
    assert said is not None
    return int(said[1])


@pytest.mark.parametrize("seed", range(4))
def test_w1_w2_agree_with_openspiel(seed: int) -> None:
    game, rng = GAMES["english"], Random(seed)
    for _ in range(DEALS):
        pack, dealer = list(CARDS), rng.randrange(4)
        rng.shuffle(pack)
        theirs = their_hand(pack, dealer, pack[-1] >> 4)
        ours = our_hand(game, {"match": "game"}, pack, dealer)
        assert play_both(game, ours, theirs, dealer, rng) == 52


def called(pack: list[Card], dealer: int, call: str) -> State:
    """A hand of Solo that the dealer plays alone."""
    ours = our_hand(GAMES["solo"], {"hands": 4}, pack, dealer)
    return act("solo", ours, *({"call": one} for one in ("pass", "pass", "pass", call)))


@pytest.mark.parametrize("call", ["solo", "royal_abundance"])
def test_l2_l4_with_trumps_agree_with_openspiel(call: str) -> None:
    rng = Random(call)
    for _ in range(DEALS):
        pack, dealer = list(CARDS), rng.randrange(4)
        rng.shuffle(pack)
        theirs = their_hand(pack, dealer, pack[-1] >> 4)
        assert play_both(GAMES["solo"], called(pack, dealer, call), theirs, dealer, rng) == 52


@pytest.mark.parametrize("call", ["misere", "open_misere"])
def test_l2_l4_without_trumps_agree_with_openspiel(call: str) -> None:
    """The dealer holds low cards alone, so that the misère, which stops when it is lost, lasts."""
    rng, cards, whole = Random(call), 0, 0
    for _ in range(DEALS):
        low, dealer = rng.sample(LOW, 13), rng.randrange(4)
        rest = [card for card in CARDS if card not in low]
        rng.shuffle(rest)
        pack = [low.pop() if at % 4 == 3 else rest.pop() for at in range(52)]
        theirs = their_hand(pack, dealer, NO_TRUMP)
        played = play_both(GAMES["solo"], called(pack, dealer, call), theirs, dealer, rng)
        cards, whole = cards + played, whole + (played == 52)
    assert cards > 20 * DEALS and whole
