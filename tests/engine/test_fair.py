"""P70: shuffles that anyone can recompute, and that favour nothing."""

import hashlib
import hmac

import pytest

from libs.engine import fair
from libs.engine.replay import make_draws, recompute
from tests.engine.builders import GAME

SECRET = bytes(range(32))
GOLDEN_DEALER = (0, 2, 1, 4, 3, 5)
GOLDEN_DEAL = (
    21,
    5,
    2,
    17,
    3,
    30,
    1,
    31,
    24,
    6,
    4,
    18,
    19,
    20,
    28,
    10,
    14,
    0,
    11,
    25,
    26,
    13,
    29,
    27,
    22,
    23,
    7,
    15,
    8,
    16,
    12,
    9,
)


def test_the_commitment_is_the_sha256_of_the_secret() -> None:
    assert fair.commitment(SECRET).hex() == hashlib.sha256(SECRET).hexdigest()


def test_p70_golden_permutations() -> None:
    assert fair.permutation(SECRET, "dealer", 6) == GOLDEN_DEALER
    assert fair.permutation(SECRET, "deal/1", 32) == GOLDEN_DEAL
    assert fair.permutation(SECRET, "deal/1", 1) == (0,)
    assert fair.permutation(SECRET, "deal/1", 0) == ()


def test_p70_the_published_recipe_gives_the_same_order() -> None:
    """Written from the docstring's words alone."""
    stream = b"".join(hmac.new(SECRET, b"seats" + bytes([0, 0, 0, n]), hashlib.sha256).digest() for n in range(9))
    words = [int.from_bytes(stream[at : at + 4], "big") for at in range(0, len(stream), 4)]
    order = list(range(48))
    for i in range(47, 0, -1):
        while (word := words.pop(0)) >= 2**32 // (i + 1) * (i + 1):
            pass
        order[i], order[word % (i + 1)] = order[word % (i + 1)], order[i]
    assert fair.permutation(SECRET, "seats", 48) == tuple(order)


def test_p70_rejection_skips_the_words_that_would_favour_low_values() -> None:
    words = iter([2**32 - 1, 2**32 - 2, 5])
    assert fair._below(6, words) == 5


@pytest.mark.parametrize("size", [6, 32])
def test_p70_every_value_is_as_likely_at_every_place(size: int) -> None:
    draws = 6_000
    counts = [[0] * size for _ in range(size)]
    for n in range(draws):
        for place, value in enumerate(fair.permutation(SECRET, f"deal/{n}", size)):
            counts[place][value] += 1
    expected = draws / size
    chi = sum((count - expected) ** 2 / expected for row in counts for count in row)
    freedom = (size - 1) ** 2
    assert abs(chi - freedom) < 4 * (2 * freedom) ** 0.5, "four standard deviations"


def test_p70_a_game_is_recomputed_from_secret_and_moves() -> None:
    state, events = make_draws(GAME, GAME.new(6, {"mode": "quick"}), SECRET)
    moves, journal = [], list(events)
    while not GAME.over(state):
        seat = GAME.to_act(state)
        assert seat is not None
        action = GAME.legal(state)[-1]
        moves.append((seat, action))
        for event in GAME.decide(state, seat, action):
            state = GAME.evolve(state, event)
            journal.append(event)
        state, drawn = make_draws(GAME, state, SECRET)
        journal += drawn
    assert list(recompute(GAME, 6, {"mode": "quick"}, SECRET, moves)) == journal
