"""Where each candidate's score is read is what the kernel plays by, compiled and interpreted."""

from random import Random
from typing import Any

import pytest

from libs.engine.protocol import Seat
from libs.engine.romanian.state import State
from libs.search import rollouts
from libs.search.habits import habits
from libs.search.seeing import chances, codes, likely, look
from tests.engine.builders import GAME, bid, dealt, play
from tests.search.builders import ROLLOUTS_TWIN, SIZES, lowest, moments, numbers, points


def placed(module: Any, state: State, me: Seat, table: bytes) -> Any:
    """A kernel of the module that plays by the table, set to the seat's view."""
    players, current = state.setup.players, state.round
    assert current is not None
    cards, turn_up = current.deal.cards, current.deal.turn_up
    kernel = module.Rollouts(players, cards, points(), chances(players, cards), likely(cards), table)
    plays = [card for trick in current.tricks for card in trick.cards] + list(current.trick)
    kernel.look(
        me,
        current.deal.dealer,
        -1 if turn_up is None else turn_up - lowest(players),
        numbers(players, current.hands[me]),
        [-1 if one is None else one for one in current.bids],
        bytes(card - lowest(players) for card in plays),
        1,
    )
    return kernel


@pytest.mark.parametrize(("players", "cards"), [size for size in SIZES if size[1] > 1])
def test_the_first_of_the_highest_scores_is_the_card_that_habit_plays(players: int, cards: int) -> None:
    rng = Random(players * 10 + cards)
    tables = [habits(), *(rng.randbytes(len(habits())) for _ in range(3))]
    met = 0
    for seed, table in enumerate(tables):
        scores = [one - 128 for one in table] + [0]
        for state, me in moments(players, cards, seed):
            if GAME.phase(state) != "play":
                continue
            legal = {codes(players)[action["play"]] for action in GAME.legal(state)}
            twin = placed(ROLLOUTS_TWIN, state, me, table)
            read = placed(rollouts, state, me, table).readings()
            assert read == twin.readings()
            played = twin._pick(False)
            assert len(read) != 1
            if read:
                met += 1
                assert max(read, key=lambda one: sum(scores[place] for place in one[1:]))[0] == played
                assert {card for card, *_ in read} <= legal
    assert met >= players


def test_a_single_legal_card_leaves_nothing_to_read() -> None:
    state = play(bid(dealt(["7C 8C", "AC KH", "7D 8D", "7S 8S"], dealer=3, turn_up="9H"), 0, 1, 0, 0), "7C")
    assert look(GAME.view(state, 1), 1).readings() == []


def test_who_is_not_to_play_is_told_so() -> None:
    state = dealt(["7C 8C", "AC KH", "7D 8D", "7S 8S"], dealer=3, turn_up="9H")
    bidding = look(GAME.view(state, 0), 1)
    with pytest.raises(ValueError, match="seat 0 has no card to play"):
        bidding.readings()
    leading = bid(state, 0, 1, 0, 0)
    with pytest.raises(ValueError, match="seat 1 has no card to play"):
        placed(rollouts, leading, 1, habits()).readings()
