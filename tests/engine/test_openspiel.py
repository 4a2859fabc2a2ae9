"""Differential test against OpenSpiel's oh_hell, an implementation that shares nothing with ours.

Suits map by position, ranks from the lowest of the pack. Their void hand may play anything; ours must
trump (R6): there our legal set is the trumps of theirs. A bid made scores ten with them, five here.
"""

from random import Random
from typing import Any

import pyspiel
import pytest

from libs.engine.cards import Card, deck, parse_card
from libs.engine.romanian.state import State
from tests.engine.builders import GAME, dealt_from

ROUNDS = 150  # for each of 3 player counts and 7 sizes: 3,150 in all


class Theirs:
    """One round of theirs, spoken to in our cards and seats."""

    def __init__(self, game: Any, players: int, size: int, dealer: int, pack: list[Card]) -> None:
        self.state = game.new_initial_state()
        self.bids_from = 8 * players
        self.lowest = 15 - 2 * players
        self.state.apply_action(size)
        self.state.apply_action(dealer)
        for at in range(size * players):  # they deal from player 0 on, whoever deals
            seat, row = at % players, at // players
            self.play(pack[row * players + (seat - dealer - 1) % players])
        self.play(pack[size * players])

    def play(self, card: Card) -> None:
        self.state.apply_action(((card & 15) - self.lowest) * 4 + (card >> 4))

    def bid(self, bid: int) -> None:
        self.state.apply_action(self.bids_from + bid)

    def seat(self) -> int:
        return int(self.state.current_player())

    def bids(self) -> set[int]:
        return {one - self.bids_from for one in self.state.legal_actions()}

    def cards(self) -> set[Card]:
        return {Card(one % 4 << 4 | one // 4 + self.lowest) for one in self.state.legal_actions()}


def must_trump(ours: State, theirs: set[Card]) -> bool:
    current = ours.round
    assert current is not None
    return bool(current.trick) and all(card >> 4 != current.trick[0] >> 4 for card in theirs)


def bid_round(ours: State, theirs: Theirs, rng: Random) -> State:
    while GAME.phase(ours) == "bid":
        seat = GAME.to_act(ours)
        legal = GAME.legal(ours)
        assert seat == theirs.seat()
        assert {one["bid"] for one in legal} == theirs.bids()
        action = rng.choice(legal)
        theirs.bid(action["bid"])
        (event,) = GAME.decide(ours, seat, action)
        ours = GAME.evolve(ours, event)
    return ours


def play_round(ours: State, theirs: Theirs, rng: Random) -> State:
    while GAME.phase(ours) == "play":
        seat = GAME.to_act(ours)
        legal = GAME.legal(ours)
        assert seat == theirs.seat()
        allowed = theirs.cards()
        assert ours.round is not None
        if must_trump(ours, allowed):
            trumps = {card for card in allowed if ours.round.deal.trumps >> card & 1}
            allowed = trumps or allowed
        assert {parse_card(one["play"]) for one in legal} == allowed
        action = rng.choice(legal)
        theirs.play(parse_card(action["play"]))
        for event in GAME.decide(ours, seat, action):
            ours = GAME.evolve(ours, event)
    return ours


@pytest.mark.parametrize("players", [4, 5, 6])
@pytest.mark.parametrize("size", range(1, 8))
def test_r5_r6_r7_agree_with_openspiel(players: int, size: int) -> None:
    game = pyspiel.load_game(
        f"oh_hell(players={players},num_suits=4,num_cards_per_suit={2 * players},"
        f"num_tricks_fixed={size},off_bid_penalty=true,points_per_trick=1)"
    )
    rng = Random(players * 10 + size)
    for _ in range(ROUNDS):
        dealer, pack = rng.randrange(players), list(deck(players))
        rng.shuffle(pack)
        theirs = Theirs(game, players, size, dealer, pack)
        ours = bid_round(dealt_from(players, size, dealer, pack), theirs, rng)
        ours = play_round(ours, theirs, rng)
        assert theirs.state.is_terminal()
        returns = theirs.state.returns()
        expected = [score - 5 if score > 0 else score for score in returns]
        assert list(ours.sheet[0].scores) == expected
