"""Sampling, exact endings, and that the twin answers as the compiled kernel does."""

from collections import Counter
from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libs.engine.cards import Hand, cards_in
from libs.engine.protocol import Seat, State
from libs.engine.romanian.scoring import points as engine_points
from libs.search import rollouts
from libs.search.seeing import chances, likely, look
from tests.engine.builders import GAME, bid, dealt, play
from tests.search.builders import (
    ROLLOUTS_TWIN,
    SIZES,
    card_of,
    kernel,
    lowest,
    moments,
    numbers,
    played_by,
    points,
)


def shown_voids(state: State, seat: Seat) -> int:
    """Every card that the seat cannot hold (R6), by a second reading of the rule."""
    assert state.round is not None
    trumps = int(state.round.deal.trumps)
    missing = 0
    for card, led in played_by(state, seat):
        if card >> 4 != led >> 4:
            missing |= 0xFFFF << (led & ~15)
            if not trumps >> card & 1:
                missing |= trumps
    return missing


@settings(max_examples=60, deadline=None)
@given(table=st.sampled_from(SIZES), seed=st.integers(0, 2**32), candidates=st.sampled_from([1, 3]))
def test_samples_have_the_right_sizes_and_respect_all_that_was_seen(
    table: tuple[int, int], seed: int, candidates: int
) -> None:
    players, cards = table
    for state, me in moments(players, cards, seed):
        assert state.round is not None
        seen = int(state.round.hands[me])
        for seat in range(players):
            seen |= sum(1 << card for card, _ in played_by(state, seat))
        if state.round.deal.turn_up is not None:
            seen |= 1 << state.round.deal.turn_up
        hands = look(GAME.view(state, me), seed).sample(candidates)
        given_out = 0
        for seat, hand in enumerate(hands):
            mask = hand << lowest(players)
            assert mask.bit_count() == state.round.hands[seat].bit_count()
            assert not mask & given_out
            given_out |= mask
            if seat == me:
                assert mask == state.round.hands[me]
            else:
                assert not mask & (seen | shown_voids(state, seat))


def two_left_with_a_void() -> State:
    """Seat 1 has shown that it holds neither clubs nor hearts, which are trumps."""
    hands = ["8C 9C 7D", "7S 8S 9D", "TC JC KS", "QC KC AS"]
    return play(bid(dealt(hands, dealer=3, turn_up="9H"), 0, 0, 0, 1), "8C", "7S", "TC", "QC")


def test_with_voids_every_possible_deal_is_as_likely_as_any_other() -> None:
    """Seat 3 leads; 24 unseen cards. Of seat 1's two cards each pair without clubs and hearts is alike."""
    state = two_left_with_a_void()
    assert GAME.to_act(state) == 3
    ours = look(GAME.view(state, 3), 5)
    draws = 9_000
    pairs = Counter(ours.sample(1)[1] for _ in range(draws))
    own = int(state.round.hands[3])
    seen = own | sum(1 << card for seat in range(4) for card, _ in played_by(state, seat))
    spades_and_diamonds = [
        card_of(4, suit << 4 | rank)
        for suit in (1, 3)
        for rank in range(8)
        if not seen >> card_of(4, suit << 4 | rank) & 1
    ]
    expected = draws / len(list(combinations(spades_and_diamonds, 2)))
    assert len(pairs) == len(list(combinations(spades_and_diamonds, 2))) == 91
    # 90 degrees of freedom: 137 is the 0.1 % point. Neighbours in the chain are not quite independent, so twice that.
    assert sum((count - expected) ** 2 / expected for count in pairs.values()) < 274


def test_believing_goes_by_the_bids() -> None:
    """Who bid three of three is dealt more trumps than chance has it, who bid none fewer."""
    state = bid(dealt(["7C 8C 9C", "AH KH QH", "7D 8D 9D", "7S 8S 9S"], dealer=3, turn_up="9H"), 0, 3, 0)
    trumps = 0xFFFF << 32

    def held(seat: Seat, believing: bool) -> int:
        ours = look(GAME.view(state, 3), 1, believing=believing)
        return sum((ours.sample()[seat] & trumps).bit_count() for _ in range(2_000))

    assert held(1, believing=True) > 1.5 * held(1, believing=False)
    assert held(0, believing=True) < 0.9 * held(0, believing=False)


def belief(hand: int, trump: int, bid_made: int) -> float:
    """The likelihood of a bid on two cards at a table of four, by a second reading of `chances` and `likely`."""
    worth = 0
    for card in (card for card in range(64) if hand >> card & 1):
        suit = hand >> (card & 48) & 0xFF
        rank = card & 15
        higher = 7 - rank - (suit >> rank + 1).bit_count()
        lower = (suit & (1 << rank) - 1).bit_count()
        worth += chances(4, 2)[96 * (card >> 4 == trump) + higher * 8 + lower]
    return likely(2)[32 + ((bid_made * 1024 - worth) >> 7)]


def test_believing_deals_each_hand_as_often_as_its_bid_is_likely() -> None:
    """Of two cards each, when only one seat has bid: the chain's frequencies are those counted one by one."""
    state = bid(dealt(["7C AH", "7D 8D", "9D TD", "7S 8S"], dealer=3, turn_up="9H"), 2)
    ours = look(GAME.view(state, 1), 3, believing=True)
    draws = 60_000
    drawn = Counter(ours.sample()[0] for _ in range(draws))
    seen = numbers(4, Hand(state.round.hands[1])) | numbers(4, Hand(1 << state.round.deal.turn_up))
    unseen = [1 << (suit << 4 | rank) for suit in range(4) for rank in range(8) if not seen >> (suit << 4 | rank) & 1]
    trump = (state.round.deal.turn_up - lowest(4)) >> 4
    weights = {one | other: belief(one | other, trump, 2) for one, other in combinations(unseen, 2)}
    total = sum(weights.values())
    gaps = {hand: drawn[hand] / draws - weight / total for hand, weight in weights.items()}
    assert set(drawn) <= set(weights)
    assert sum(map(abs, gaps.values())) / 2 < 0.1
    assert sum(abs(weight / total - 1 / len(weights)) for weight in weights.values()) / 2 > 0.3  # far from even


def test_cards_that_no_deal_explains_are_refused() -> None:
    """No trump, eight cards, four players: three seats without clubs can't be dealt the seven that I don't hold."""
    with pytest.raises(ValueError, match="no deal agrees"):
        kernel(rollouts, 4, 8).look(0, 3, -1, 0b1111111 << 16, [0] * 4, bytes([0, 17 + 16, 34, 51]), 1)


def test_tables_of_another_size_are_refused() -> None:
    with pytest.raises(ValueError, match="0 habits"):
        rollouts.Rollouts(4, 8, points(), chances(4, 8), likely(8), b"")


def best_for_each(state: State) -> tuple[int, ...]:
    """Plain minimax on the rules engine: each seat to its own best, the first in pack order among equals."""
    current = state.round
    assert current is not None
    seat = GAME.to_act(state)
    if seat is None:
        return tuple(state.sheet[-1].scores)
    best: tuple[int, ...] | None = None
    for action in GAME.legal(state):
        after = state
        for event in GAME.decide(state, seat, action):
            after = GAME.evolve(after, event)
        scores = best_for_each(after)
        if best is None or scores[seat] > best[seat]:
            best = scores
    assert best is not None
    return best


@pytest.mark.parametrize(("players", "cards", "left"), [(4, 3, 3), (4, 8, 2), (5, 5, 2), (6, 2, 2), (6, 8, 2)])
def test_exact_endings_are_those_of_plain_minimax(players: int, cards: int, left: int) -> None:
    solved = 0
    for seed in range(8):
        for state, me in moments(players, cards, seed):
            current = state.round
            assert current is not None
            if GAME.phase(state) != "play" or cards - len(current.tricks) > left or seed % 2 != len(current.trick) % 2:
                continue
            hands = [numbers(players, hand) for hand in current.hands]
            assert look(GAME.view(state, me), 1).ending(hands, [one or 0 for one in current.bids]) == list(
                best_for_each(state)
            )
            solved += 1
    assert solved > 10


def test_an_ending_too_far_off_is_refused() -> None:
    state = bid(dealt(["7C 8C 9C TC", "AH KH QH JH", "7D 8D 9D TD", "7S 8S 9S TS"], dealer=3, turn_up="9H"), 0, 0, 0, 1)
    with pytest.raises(ValueError, match="too far"):
        look(GAME.view(state, 0), 1).ending([numbers(4, hand) for hand in state.round.hands], [0, 0, 0, 1])


def answers(module: object, state: State, me: Seat, seed: int, *, believing: bool) -> list[object]:
    """All that a kernel says of the position."""
    players, current, view = state.setup.players, state.round, GAME.view(state, me)
    assert current is not None
    ours = kernel(module, players, current.deal.cards)
    turn_up = current.deal.turn_up
    plays = [card for trick in current.tricks for card in trick.cards] + list(current.trick)
    ours.look(
        me,
        current.deal.dealer,
        -1 if turn_up is None else turn_up - lowest(players),
        numbers(players, current.hands[me]),
        [-1 if one is None else one for one in current.bids],
        bytes(card - lowest(players) for card in plays),
        seed,
        believing,
    )
    said: list[object] = []
    for candidates, exact in ((1, 0), (3, 2)):
        tried = (ours.bid if view["phase"] == "bid" else ours.play)(4, candidates, exact)
        said += [tried, ours.worth(4, 0.1), ours.chance(4), ours.spread(0, len(tried) - 1, 4)]
        said += [ours.narrow(2, 3, candidates, exact), ours.worth(7, 0.0), ours.spread(0, 0, 7)]
    return [*said, ours.sample(2)]


@pytest.mark.parametrize(("players", "cards"), [(4, 8), (4, 3), (5, 6), (6, 2), (6, 7)])
def test_the_twin_says_the_same_to_the_last_digit(players: int, cards: int) -> None:
    rng = Random(players * 10 + cards)
    for state, me in moments(players, cards, 3):
        if rng.random() < 0.4:
            believing = rng.random() < 0.5
            assert answers(rollouts, state, me, 9, believing=believing) == answers(
                ROLLOUTS_TWIN, state, me, 9, believing=believing
            )


def test_the_points_table_is_the_engines() -> None:
    ours = look(GAME.view(two_left_with_a_void(), 3), 1)
    hands = [numbers(4, hand) for hand in two_left_with_a_void().round.hands]
    for bids in ([0, 0, 0, 1], [2, 1, 0, 3]):
        scores = ours.ending(hands, bids)
        assert all(
            score in {engine_points(one, won) for won in range(4)} for one, score in zip(bids, scores, strict=True)
        )


def test_cards_of_equal_worth_are_tried_once() -> None:
    """Seven and eight of clubs touch; the nine is turned up, so the ten touches them too."""
    state = bid(dealt(["7C 8C TC", "AH KH QH", "7D 8D 9D", "7S 8S 9S"], dealer=3, turn_up="9C"), 0, 1, 0, 0)
    (only,) = look(GAME.view(state, 0), 1).play(10, 1, 0)
    assert card_of(4, only) == cards_in(Hand(int(state.round.hands[0])))[0]
