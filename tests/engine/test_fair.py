"""P70: shuffles that anyone can recompute, and that favour nothing."""

import hashlib
import hmac
from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

import pytest

from libs.engine import fair
from libs.engine.game import GAMES
from libs.engine.replay import make_draws, recompute

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
    words = iter([2**32 - 1, 2**32 - 4, 5])
    assert fair._below(6, words) == 5
    assert fair._below(6, iter([2**32 - 5])) == 5, "the largest word of which each of the six has its share"


def test_p70_golden_rejection() -> None:
    """The thirteenth word of this deal is 2³² - 15, for 40 places: beyond 2³² - 16 a remainder would favour low ones.

    One deal in some millions has such a word; this one was looked for.
    """
    label = "deal/13646778"
    stream = b"".join(hmac.new(SECRET, label.encode() + bytes([0, 0, 0, n]), hashlib.sha256).digest() for n in range(8))
    words = [int.from_bytes(stream[at : at + 4], "big") for at in range(0, len(stream), 4)]
    assert words[12] == 2**32 - 15

    def shuffled(drawn: list[int]) -> tuple[int, ...]:
        order = list(range(52))
        for i, word in zip(range(51, 0, -1), drawn, strict=False):
            order[i], order[word % (i + 1)] = order[word % (i + 1)], order[i]
        return tuple(order)

    biased, fair_order = shuffled(words), shuffled(words[:12] + words[13:])
    assert biased != fair_order
    assert fair.permutation(SECRET, label, 52) == fair_order


DRAWS = 6_000
SIZES = [2, 3, 4, 5, 6, 7, 32, 40, 48, 52]  # dealers and ties; the packs of 4, 5, 6 players, and of S1
DEVIATIONS_MAX = 4.5  # one place in some 300,000 is further off by chance; there are 400 places and values in all


def unevenness(orders: Iterable[Sequence[int]], size: int) -> float:
    """How far the least even place or value is from what chance makes of it, in standard deviations.

    Pearson's chi-square of each place over the values and of each value over the places, made normal by Wilson and
    Hilferty's cube root (Proc. Natl. Acad. Sci. 17, 1931).
    """
    counts = [[0] * size for _ in range(size)]
    for order in orders:
        for row, value in zip(counts, order, strict=True):
            row[value] += 1
    drawn, spread = sum(counts[0]) / size, 2 / (9 * (size - 1))
    lines = [*counts, *zip(*counts, strict=True)]
    chi_squares = [sum((count - drawn) ** 2 for count in line) / drawn for line in lines]
    return float(max(abs((chi / (size - 1)) ** (1 / 3) - 1 + spread) / spread**0.5 for chi in chi_squares))


@pytest.mark.parametrize("size", SIZES)
def test_p70_every_card_is_as_likely_at_every_place(size: int) -> None:
    assert unevenness((fair.permutation(SECRET, f"deal/{n}", size) for n in range(DRAWS)), size) < DEVIATIONS_MAX


def test_p70_the_measure_finds_shuffles_that_are_not_even() -> None:
    rng = Random(70)

    def swapped_with_any_place() -> list[int]:
        order = list(range(52))
        for i in range(52):
            other = rng.randrange(52)
            order[i], order[other] = order[other], order[i]
        return order

    def never_left_in_place() -> list[int]:  # Sattolo's cycle: one bound off by one
        order = list(range(52))
        for i in range(51, 0, -1):
            other = rng.randrange(i)
            order[i], order[other] = order[other], order[i]
        return order

    assert unevenness((swapped_with_any_place() for _ in range(DRAWS)), 52) > DEVIATIONS_MAX
    assert unevenness((never_left_in_place() for _ in range(DRAWS)), 52) > DEVIATIONS_MAX


TABLES = [
    ("romanian", 6, {"mode": "quick"}),
    ("english", 4, {}),
    ("solo", 4, {"hands": 4}),
    ("knockout", 7, {}),
    ("german", 2, {}),
]


@pytest.mark.parametrize(("name", "players", "options"), TABLES)
def test_p70_a_game_is_recomputed_from_secret_and_moves(name: str, players: int, options: dict[str, Any]) -> None:
    game, rng = GAMES[name], Random(7)
    state, events = make_draws(game, game.new(players, options), SECRET)
    moves, journal = [], list(events)
    while not game.over(state):
        seat = game.to_act(state)
        assert seat is not None
        action = rng.choice(game.legal(state))
        moves.append((seat, action))
        for event in game.decide(state, seat, action):
            state = game.evolve(state, event)
            journal.append(event)
        state, drawn = make_draws(game, state, SECRET)
        journal += drawn
    assert list(recompute(game, players, options, SECRET, moves)) == journal


@pytest.mark.parametrize(("name", "players", "options"), TABLES)
def test_p70_another_secret_is_found_out_by_commitment_and_cards(
    name: str, players: int, options: dict[str, Any]
) -> None:
    """A secret with one bit changed: neither what was published nor what was dealt is its own."""
    game, forged = GAMES[name], bytes([SECRET[0] ^ 1]) + SECRET[1:]
    assert fair.commitment(forged) != fair.commitment(SECRET)
    start = game.new(players, options)
    assert make_draws(game, start, forged) != make_draws(game, start, SECRET)
