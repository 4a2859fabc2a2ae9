"""P60, P61: advice and marks come from what the player knew; how the hidden cards lay changes nothing."""

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from random import Random

import pytest

from libs.engine import fair
from libs.engine.cards import card_text, deck
from libs.engine.protocol import Action, Seat, View
from libs.engine.record.flaws import BadRecord
from libs.engine.record.model import By, Move, Record
from libs.engine.record.plain import to_json
from libs.engine.record.replaying import replay
from libs.engine.replay import fold, make_draws
from libs.search import Band, advise, choose, grade, graded, judge, moments
from libs.search.grading import mark, own_decisions
from tests.engine.builders import GAME, bid, dealt, play, run
from tests.engine.test_romanian_properties import swap_hidden

Player = Callable[[Seat, View], Action]


def record(players: int, player: Player, seed: int, mode: str = "8-1-8", by: By = By.PERSON) -> Record:
    """A finished game in the form in which tables keep it (P72)."""
    secret, options = seed.to_bytes(32, "big"), {"mode": mode}
    moves: list[Move] = []
    state, _ = make_draws(GAME, GAME.new(players, options), secret)
    while (seat := GAME.to_act(state)) is not None:
        action = player(seat, GAME.view(state, seat))
        moves.append(Move(seat=seat, action=action, by=by))
        state, _ = make_draws(GAME, fold(GAME, state, GAME.decide(state, seat, action)), secret)
    return Record(
        game="romanian",
        rules_version=1,
        players=players,
        options=options,
        commitment=fair.commitment(secret),
        secret=secret,
        moves=tuple(moves),
        table={"left": [[1, 0]], "pauses": [[0, 900]]},
    )


def mixed(rng: Random) -> Player:
    """Seat 0 throws dice, seat 1 is calm, the others are keen."""

    def decide(seat: Seat, view: View) -> Action:
        if seat == 0:
            action: Action = rng.choice(view["legal"])
            return action
        return choose("romanian", view, "calm" if seat == 1 else "keen", seed=rng.randrange(2**32))

    return decide


@pytest.mark.parametrize("players", [4, 6])
def test_p60_advice_does_not_depend_on_hidden_cards(players: int) -> None:
    compared = 0
    for at, (state, _, _) in enumerate(run("8-1-8", players, seed=3)):
        seat = GAME.to_act(state)
        if seat is None or at % 29:
            continue
        ours = advise(GAME.view(state, seat), 60, 1)
        assert ours == advise(GAME.view(swap_hidden(state, seat, at), seat), 60, 1)
        assert [one.action for one in ours] == list(GAME.legal(state))
        compared += 1
    assert compared > 15


def test_a_certain_bid_is_certain_and_others_are_worth_less() -> None:
    """One card, the ace of trumps, and the last to bid: one trick, six points, no doubt."""
    state = bid(dealt(["7C", "7D", "7S", "AH"], dealer=3, turn_up="9H"), 0, 1, 1)
    none, one = advise(GAME.view(state, 3), 100, 1)[0], advise(GAME.view(state, 3), 100, 1)[-1]
    assert (one.action, one.points, one.error, one.chance) == ({"bid": 1}, 6.0, 0.0, 1.0)
    assert (none.points, none.chance) == (-1.0, 0.0)


def test_errors_shrink_with_the_root_of_the_samples() -> None:
    view = GAME.view(dealt(["AC KD QS 7C", "7D 8D 9D TD", "7S 8S 9S TS", "JC QC 8C 9C"], dealer=3, turn_up="9H"), 0)
    few, many = advise(view, 400, 1), advise(view, 6400, 1)
    for one, other in zip(few, many, strict=True):
        assert other.error == pytest.approx(one.error / 4, rel=0.25)
        assert abs(one.points - other.points) < 4 * one.error + 1e-9


def test_cards_of_equal_worth_get_equal_advice() -> None:
    hands = ["7C 8C AH", "KH QH JH", "7D 8D 9D", "7S 8S 9S"]
    state = bid(dealt(hands, dealer=3, turn_up="9H"), 1, 2, 0, 1)
    by_card = {one.action["play"]: one for one in advise(GAME.view(state, 0), 50, 1)}
    assert by_card["7C"].points == by_card["8C"].points != by_card["AH"].points


def test_a_card_without_alternative_has_its_worth_too() -> None:
    state = play(bid(dealt(["7C", "7D", "7S", "AH"], dealer=3, turn_up="9H"), 0, 0, 1, 1), "7C")
    (only,) = advise(GAME.view(state, 1), 50, 1)
    assert (only.action, only.points, only.chance) == ({"play": "7D"}, 5.0, 1.0)


def test_every_own_decision_is_found_with_the_view_of_its_moment() -> None:
    shown: dict[Seat, list[tuple[View, Action]]] = {seat: [] for seat in range(4)}
    inner = mixed(Random(2))

    def watched(seat: Seat, view: View) -> Action:
        action = inner(seat, view)
        shown[seat].append((view, action))
        return action

    whole = record(4, watched, 2, "1-8-1")
    for seat in range(4):
        assert list(own_decisions(whole, seat)) == shown[seat]


def test_p61_better_players_lose_less_and_the_dearest_mistakes_lead() -> None:
    whole = record(4, mixed(Random(5)), 5)
    dice, calm, keen = (grade(whole, seat, 200) for seat in (0, 1, 2))
    assert dice.loss > calm.loss > keen.loss
    assert dice.mark == "F" and keen.mark in ("A+", "A")
    assert len(dice.rounds) == 24 and dice.loss == pytest.approx(sum(one.loss for one in dice.rounds) / 24)
    assert [one.loss for one in dice.dearest] == sorted((one.loss for one in dice.decisions), reverse=True)[:3]
    for one in dice.decisions:
        assert one.loss == 0 or one.loss > 2 * one.error
        assert (one.band is Band.GOOD) == (one.loss == 0) == (one.best == one.action)


def test_p61_marks_are_blind_to_the_result() -> None:
    """Whatever the cards that the seat has not seen, before each decision it is shown the same, and judged by that."""
    whole = record(4, mixed(Random(6)), 6, "1-8-1")
    before, swapped, changed = GAME.new(4, whole.options), [], 0
    for at, step in enumerate(replay(whole)):
        if step.move is not None and step.move.seat == 1:
            other = swap_hidden(before, 1, at)
            swapped.append((GAME.view(other, 1), step.move.action))
            changed += GAME.hands(other) != GAME.hands(before)
        before = step.state
    assert list(own_decisions(whole, 1)) == swapped
    graded = grade(whole, 1, 60)
    assert graded == grade(to_json(whole), 1, 60)
    assert len(graded.decisions) == len(swapped) < 2 * changed


def test_p15_moves_by_bot_or_clock_are_not_graded() -> None:
    for by in (By.BOT, By.TIME_OUT):
        whole = record(4, mixed(Random(7)), 7, "1-8-1", by=by)
        ours = grade(whole, 0, 20)
        assert not ours.decisions and not ours.rounds and not ours.dearest
        assert ours.mark is None


def test_p61_a_certain_mistake_costs_what_the_rules_say() -> None:
    """One card, the ace of trumps, the last to bid: 6 points for bidding one, 1 below nothing for bidding none (R7)."""
    view = GAME.view(bid(dealt(["7C", "7D", "7S", "AH"], dealer=3, turn_up="9H"), 0, 1, 1), 3)
    wrong, right = judge(view, {"bid": 0}, 50), judge(view, {"bid": 1}, 50)
    assert (wrong.best, wrong.points, wrong.loss, wrong.error, wrong.band) == ({"bid": 1}, -1.0, 7.0, 0.0, Band.BLUNDER)
    assert (right.best, right.points, right.loss, right.band) == ({"bid": 1}, 6.0, 0.0, Band.GOOD)
    marked = graded([wrong, right])
    assert (marked.loss, marked.mark, marked.dearest) == (7.0, "F", (wrong,))


def test_p61_a_doubtful_mistake_costs_what_all_deals_say_within_its_error() -> None:
    """A bid on one card by the last to bid: the chance to win is counted over all hands that the others may hold."""
    compared = 0
    whole = record(4, mixed(Random(9)), 9, "1-8-1")
    for move, view in moments(whole):
        if view["phase"] != "bid" or view["cards"] != 1 or view["dealer"] != move.seat or len(view["legal"]) < 2:
            continue
        chance = chance_of_the_last_card(view)
        worth = [5 * (1 - chance) - chance, 6 * chance - (1 - chance)]
        for made in (0, 1):
            found = judge(view, {"bid": made}, 4000)
            due = max(worth) - worth[made]
            assert found.points == pytest.approx(worth[made], abs=0.3)
            assert abs(found.loss - due) <= 4 * found.error + 1e-9 or (found.loss == 0 and due <= 4 * found.error)
        compared += 1
    assert compared >= 2


def chance_of_the_last_card(view: View) -> float:
    """That the only card, played last, takes the trick."""
    [own] = view["hand"]
    trumps = view["trump_suit"]
    unseen = [card_text(card) for card in deck(4) if card_text(card) not in (own, view["trump"])]
    strength = {card_text(card): at for at, card in enumerate(deck(4))}
    won = tried = 0
    for hands in permutations(unseen, 3):
        led = hands[0][1]

        def rank(card: str, led: str = led) -> tuple[bool, bool, int]:
            return card[1] == trumps, card[1] == led, strength[card]

        won += max((*hands, own), key=rank) == own
        tried += 1
    return won / tried


def test_marks_fall_with_the_loss() -> None:
    marks = [mark(loss / 10) for loss in range(60)]
    assert marks == sorted(marks, key=["A+", "A", "B", "C", "D", "F"].index)
    assert set(marks) == {"A+", "A", "B", "C", "D", "F"}


def test_what_cannot_be_graded_is_refused() -> None:
    whole = record(4, mixed(Random(7)), 7, "1-8-1")
    with pytest.raises(KeyError):
        grade(replace(whole, game="german"), 0)
    with pytest.raises(IndexError):
        grade(whole, 4)
    with pytest.raises(BadRecord):
        grade({"game": "bridge"}, 0)
    with pytest.raises(BadRecord):
        grade(to_json(whole) | {"deals": []}, 0)
