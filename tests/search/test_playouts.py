"""The playout kernel keeps the engine's rules (R1, R4-R7), and its twin is the same program."""

from random import Random
from typing import Any

import pytest

from libs.engine.cards import deck, parse_card
from libs.engine.protocol import State
from libs.search import playouts
from tests.engine.builders import GAME, dealt_from
from tests.search.builders import PLAYOUTS_TWIN, SIZES, card_of, numbers


def replayed(players: int, cards: int, last: dict[str, Any]) -> State:
    """The engine's round with the kernel's deal and moves; raises RuleViolation where they differ."""
    pack = [card_of(players, number) for number in last["dealt"]]
    turned = last["turned"]
    if turned is not None:
        pack.append(card_of(players, turned))
    pack += [card for card in deck(players) if card not in pack]
    state: State = dealt_from(players, cards, players - 1, pack)
    for bid in last["bids"]:
        for event in GAME.decide(state, GAME.to_act(state) or 0, {"bid": bid}):
            state = GAME.evolve(state, event)
    for number in last["plays"]:
        text = next(one["play"] for one in GAME.legal(state) if parse_card(one["play"]) == card_of(players, number))
        for event in GAME.decide(state, GAME.to_act(state) or 0, {"play": text}):
            state = GAME.evolve(state, event)
    return state


@pytest.mark.parametrize(("players", "cards"), SIZES)
def test_every_playout_is_a_legal_round_with_the_engines_tricks_and_points(players: int, cards: int) -> None:
    rounds = playouts.RandomRounds(players, cards, seed=players * 10 + cards)
    before = [0] * players
    for _ in range(30):
        assert rounds.run(1) == players * (cards + 1)
        last = rounds.last()
        scored = replayed(players, cards, last).sheet[-1]
        assert list(scored.taken) == last["taken"]
        after = rounds.points()
        assert [new - old for new, old in zip(after, before, strict=True)] == list(scored.scores)
        before = after


@pytest.mark.parametrize(("players", "cards"), SIZES)
def test_stepped_rounds_agree_with_the_engine_at_every_decision(players: int, cards: int) -> None:
    rng = Random(players * 10 + cards)
    for seed in range(20):
        ours = playouts.SteppedRound(players, cards, seed)
        first = playouts.RandomRounds(players, cards, seed)
        first.run(1)
        last = first.last()
        pack = [card_of(players, number) for number in last["dealt"]]
        pack += [] if last["turned"] is None else [card_of(players, last["turned"])]
        pack += [card for card in deck(players) if card not in pack]
        state: State = dealt_from(players, cards, players - 1, pack)
        assert [ours.hand(at) for at in range(players)] == [numbers(players, hand) for hand in state.round.hands]
        while (seat := GAME.to_act(state)) is not None:
            assert ours.position == seat
            legal = GAME.legal(state)
            if ours.bidding:
                assert ours.legal() == [one["bid"] for one in legal]
            else:
                assert [card_of(players, one) for one in ours.legal()] == [parse_card(one["play"]) for one in legal]
            at = rng.randrange(len(legal))
            ours.apply(ours.legal()[at])
            for event in GAME.decide(state, seat, legal[at]):
                state = GAME.evolve(state, event)
        assert ours.position == -1 and ours.legal() == []
        assert ours.scores() == list(state.sheet[-1].scores)
        assert ours.tricks() == list(state.sheet[-1].taken)


def test_an_illegal_step_is_refused_and_changes_nothing() -> None:
    ours = playouts.SteppedRound(4, 3, seed=1)
    for wrong in (-1, 4):
        with pytest.raises(ValueError, match="illegal bid"):
            ours.apply(wrong)
    for _ in range(4):
        ours.apply(ours.legal()[0])
    for wrong in set(range(-1, 70)) - set(ours.legal()):
        with pytest.raises(ValueError, match="illegal card"):
            ours.apply(wrong)
    assert ours.position == 0 and len(ours.legal()) == 3
    with pytest.raises(ValueError, match="not over"):
        ours.scores()
    while ours.position >= 0:
        ours.apply(ours.legal()[0])
    with pytest.raises(ValueError, match="over"):
        ours.apply(0)


@pytest.mark.parametrize(("players", "cards"), SIZES)
def test_the_twin_plays_the_same_rounds(players: int, cards: int) -> None:
    ours, twins = (module.RandomRounds(players, cards, 7) for module in (playouts, PLAYOUTS_TWIN))
    for _ in range(20):
        assert ours.run(1) == twins.run(1)
        assert ours.last() == twins.last()
    assert ours.points() == twins.points()
    assert not PLAYOUTS_TWIN.compiled()


def test_seeds_that_are_neighbours_deal_unlike_rounds() -> None:
    deals = set()
    for seed in range(200):
        rounds = playouts.RandomRounds(4, 7, seed)
        rounds.run(1)
        deals.add(tuple(rounds.last()["dealt"]))
    assert len(deals) == 200


def test_every_card_is_dealt_to_every_position_and_turned_up_alike() -> None:
    """Chi-squared over 32 cards, 31 degrees of freedom: 61.1 is the 0.1 % point, and the seed is fixed."""
    rounds = playouts.RandomRounds(4, 3, 3)
    games = 6_400
    first, turned = [0] * 64, [0] * 64
    for _ in range(games):
        rounds.run(1)
        last = rounds.last()
        first[last["dealt"][0]] += 1
        turned[last["turned"]] += 1
    for counts in (first, turned):
        dealt_cards = [count for count in counts if count]
        assert len(dealt_cards) == 32
        assert sum((count - games / 32) ** 2 / (games / 32) for count in dealt_cards) < 61.1


@pytest.mark.parametrize(("players", "cards"), [(3, 5), (7, 5), (4, 0), (6, 9)])
def test_r1_other_tables_are_refused(players: int, cards: int) -> None:
    for kind in (playouts.RandomRounds, playouts.SteppedRound):
        with pytest.raises(ValueError, match="no round"):
            kind(players, cards, 1)
