"""P63: the calm players of S1's games are always legal, play from their view alone, and play sensibly."""

import json
from random import Random
from typing import Any

import pytest

from libs.engine.bots import choose
from libs.engine.bots.solo import best_suit, harmless, tricks
from libs.engine.cards import Suit, hand_of, parse_card
from libs.engine.game import GAMES
from libs.engine.protocol import Action, Game
from tests.engine.family import TABLES, Table, act, dealt, dog_in_trick, filled, final, name_of, play, run
from tests.engine.test_english import GOLDEN
from tests.engine.test_family_properties import swap_hidden

every_table = pytest.mark.parametrize("table", TABLES, ids=name_of)


def calm(game: Game, state: Any) -> Action:
    return choose(game.name, game.view(state, game.to_act(state)))


@every_table
def test_always_legal_at_every_table(table: Table) -> None:
    assert GAMES[table[0]].over(final(table, 4, calm))


@every_table
def test_p63_the_move_does_not_depend_on_hidden_cards(table: Table) -> None:
    game, rng = GAMES[table[0]], Random(5)
    for at, (state, _, _) in enumerate(run(table, seed=6)):
        seat = game.to_act(state)
        if seat is None or at % 4:
            continue
        view = game.view(state, seat)
        kept = json.dumps(view)
        assert choose(table[0], view) == calm(game, swap_hidden(state, seat, rng))
        assert json.dumps(view) == kept, "the view is left alone"


def against_chance(table: Table, seats: set[int], games: int) -> int:
    """How many games seat 0 wins when these seats are calm and the others play any card."""
    won = 0
    for seed in range(games):
        rng = Random(seed)

        def mixed(game: Game, state: Any, rng: Random = rng) -> Action:
            return calm(game, state) if game.to_act(state) in seats else rng.choice(game.legal(state))

        won += GAMES[table[0]].result(final(table, seed, mixed)).place(0) == 1
    return won


def test_it_wins_more_than_chance() -> None:
    assert against_chance(("english", 4, {"match": "game"}), {0, 2}, 20) >= 13
    assert against_chance(("german", 2, {}), {0}, 20) >= 12
    assert against_chance(("knockout", 4, {"dogs_life": True}), {0}, 20) >= 8


def test_w9_it_does_not_ruff_its_partners_king() -> None:
    state = play("english", dealt(("english", 4, {}), GOLDEN, dealer=1), "KS 3S")
    assert calm(GAMES["english"], state) == {"play": "2D"}


def test_it_does_not_take_its_partners_ace() -> None:
    hands = filled(["AC 2C", "3C 4C", "KC 5C", "6C 2H"])
    state = play("english", dealt(("english", 4, {}), hands, dealer=3), "AC 3C")
    assert calm(GAMES["english"], state) == {"play": "5C"}


def test_last_to_play_it_wins_cheaply() -> None:
    hands = filled(["2C 3D", "9C 4D", "3C 5D", "TC AC 2H"])
    state = play("english", dealt(("english", 4, {}), hands, dealer=3), "2C 9C 3C")
    assert calm(GAMES["english"], state) == {"play": "TC"}


def test_second_hand_low_third_hand_high() -> None:
    hands = filled(["2C 3D", "4C KC", "5C QC", "6C AC 2H"])
    state = play("english", dealt(("english", 4, {}), hands, dealer=3), "2C")
    assert calm(GAMES["english"], state) == {"play": "4C"}
    state = play("english", state, "4C")
    assert calm(GAMES["english"], state) == {"play": "QC"}


def test_w7_in_a_club_it_never_revokes_claims_always_and_takes_the_larger_swing() -> None:
    table: Table = ("english", 4, {"match": "game", "revokes": "club"})
    for _, _, state in run(table, 3, calm):
        assert not any(state.revoked)
    view = {"penalty": {"seat": 0, "points": 3, "tricks": 4}}
    assert choose("english", view) == {"penalty": "tricks"}
    assert choose("english", {"penalty": {"seat": 0, "points": 4, "tricks": 4}}) == {"penalty": "points"}
    assert choose("english", {"penalty": None, "phase": "claim"}) == {"claim": True}


def hand(text: str) -> Any:
    return hand_of(map(parse_card, text.split()))


def test_it_calls_what_its_tricks_are_worth() -> None:
    strong = ["AH KH QH JH TH 9H AS KS QS AD KD 2C 3C", "2D 3D 4D 5D 6D 7D 8D 9D TD JD QD 4C 5C"]
    rest = ["6C 7C 8C 9C TC JC QC KC AC 2S 3S 4S 5S", "6S 7S 8S 9S TS JS 3H 4H 5H 6H 7H 8H 2H"]
    state = dealt(("solo", 4, {}), [*strong, *rest], dealer=3)
    assert calm(GAMES["solo"], state) == {"call": "royal_abundance"}
    state = act("solo", state, {"call": "pass"})
    assert calm(GAMES["solo"], state) == {"call": "abundance"}
    state = act("solo", state, {"call": "abundance"}, {"call": "pass"}, {"call": "pass"})
    assert calm(GAMES["solo"], state) == {"trumps": "D"}
    assert harmless(hand("2C 3C 4C 2D 3D 4D 2H 3H 4H 2S 3S 4S 5S")) and not harmless(hand("KC 2D"))
    assert best_suit(hand("AH KH QH 2S")) is Suit.HEARTS
    assert tricks(hand("AH KH QH 2S"), Suit.HEARTS) > tricks(hand("AH KH QH 2S"), None)


@pytest.mark.parametrize(("card", "move"), [("2C", {"hold": True}), ("AC", {"play": "AC"}), ("2S", {"play": "2S"})])
def test_k2_a_dog_waits_for_a_trick_that_it_can_win(card: str, move: Action) -> None:
    assert calm(GAMES["knockout"], dog_in_trick(card)) == move
