"""P63: keen and sharp of S1's games are legal, blind to hidden cards, the same for the same seed, and better."""

import json
from random import Random
from statistics import fmean, stdev
from typing import Any

import pytest

from bench.family_bots import duel
from libs.engine.game import GAMES
from libs.engine.protocol import Action, Game
from libs.search import choose
from libs.search.family.auction import call
from tests.engine.family import TABLES, Table, act, dealt, dog_in_trick, filled, final, name_of, order_for, play, run
from tests.engine.test_family_properties import swap_hidden

every_table = pytest.mark.parametrize("table", TABLES, ids=name_of)
every_thinker = pytest.mark.parametrize("strength", ["keen", "sharp"])
SHARP_TABLES: list[Table] = [
    ("english", 4, {"match": "game"}),
    ("solo", 4, {"hands": 4}),
    ("knockout", 7, {"dogs_life": True}),
    ("german", 2, {"count_all": True}),
]


def move(game: Game, state: Any, strength: str = "keen", seed: int = 1) -> Action:
    return choose(game.name, game.view(state, game.to_act(state)), strength, seed)


@every_table
def test_always_legal_at_every_table(table: Table) -> None:
    """Whole games; `decide` refuses what is not legal."""
    assert GAMES[table[0]].over(final(table, 4, move))


@pytest.mark.parametrize("table", SHARP_TABLES, ids=name_of)
def test_sharp_is_always_legal_too(table: Table) -> None:
    assert GAMES[table[0]].over(final(table, 5, lambda game, state: move(game, state, "sharp")))


@every_table
@every_thinker
def test_p63_the_move_does_not_depend_on_hidden_cards_and_the_view_is_left_alone(table: Table, strength: str) -> None:
    game, rng, compared = GAMES[table[0]], Random(5), 0
    for at, (state, _, _) in enumerate(run(table, seed=6)):
        seat = game.to_act(state)
        if seat is None or at % 9:
            continue
        view = game.view(state, seat)
        kept = json.dumps(view)
        first = choose(table[0], view, strength, 3)
        assert json.dumps(view) == kept
        choose(table[0], view, strength, 4)
        assert move(game, swap_hidden(state, seat, rng), strength, 3) == first
        compared += 1
        if compared == 40:
            break
    assert compared > 2


def test_w7_in_a_club_it_never_revokes_and_claims_and_chooses_as_calm_does() -> None:
    table: Table = ("english", 4, {"match": "game", "revokes": "club"})
    claimed = 0
    for state, _, after in run(table, 3, move):
        assert not any(after.revoked)
        claimed += state.claiming
    assert claimed > 0
    swings = {"seat": 0, "points": 3, "tricks": 4}
    view = {"game": "english", "phase": "claim", "legal": [{"penalty": "points"}, {"penalty": "tricks"}]}
    assert choose("english", view | {"penalty": swings}, "keen") == {"penalty": "tricks"}


@every_thinker
def test_it_does_not_take_its_partners_ace_and_last_to_play_it_wins_cheaply(strength: str) -> None:
    hands = filled(["AC 2C", "3C 4C", "KC 5C", "6C 2H"])
    state = play("english", dealt(("english", 4, {}), hands, dealer=3), "AC 3C")
    assert move(GAMES["english"], state, strength) != {"play": "KC"}
    hands = filled(["2C 3D", "9C 4D", "3C 5D", "TC AC 2H"])
    state = play("english", dealt(("english", 4, {}), hands, dealer=3), "2C 9C 3C")
    assert move(GAMES["english"], state, strength) == {"play": "TC"}


@every_thinker
def test_l2_a_hand_of_thirteen_sure_tricks_is_declared_and_one_of_none_is_a_misere(strength: str) -> None:
    sure = ["AH KH QH JH TH 9H 8H 7H AS KS QS AD KD", "2D 3D 4D 5D 6D 7D 8D 9D TD JD QD 4C 5C"]
    low = ["2C 3C 6C 7C 2S 3S 4S 5S 6S 7S 2H 3H 4H", "8S 9S TS JS 5H 6H 8C 9C TC JC QC KC AC"]
    state = dealt(("solo", 4, {}), [*sure, *low], dealer=3)
    assert move(GAMES["solo"], state, strength) == {"call": "abundance_declared"}
    state = dealt(("solo", 4, {}), [low[0], *sure, low[1]], dealer=3)
    assert move(GAMES["solo"], state, strength)["call"] in ("misere", "open_misere")


def test_l2_an_abundance_names_the_long_suit() -> None:
    hands = filled(["AS KS QS JS TS 9S 8S AD KD", "", "", "2H"])
    state = act("solo", dealt(("solo", 4, {}), hands, dealer=3), {"call": "abundance"}, *[{"call": "pass"}] * 3)
    assert move(GAMES["solo"], state) == {"trumps": "S"}


def test_l1_a_hand_without_a_trick_passes() -> None:
    hands = filled(["2C 3C 4D 5D 9D TD 9S TS 2S 3S 8C 9C TC", "", "", "2H"])
    state = dealt(("solo", 4, {}), hands, dealer=3)
    assert call(GAMES["solo"].view(state, 0), deals=100, seed=1) == "pass"


def test_k1_it_names_the_suit_that_it_holds() -> None:
    game, hands = GAMES["knockout"], ["KC AS KS QS JS TS 9S", "AC 2S 3S 4S 5S 6S 7S"]
    state = dealt(("knockout", 2, {}), hands, dealer=1, then="2H")
    state = play("knockout", state, "KC AC 2S AS KS 3S QS 4S JS 5S TS 6S 9S 7S")
    for event in game.decide_draw(state, order_for(["3C 4D TS JS QS KS", "2C 3D 4H 5H 6H 7C"], 0)):
        state = game.evolve(state, event)
    assert move(game, state) == {"trumps": "S"}


@every_thinker
@pytest.mark.parametrize(("card", "action"), [("2C", {"hold": True}), ("AC", {"play": "AC"}), ("2S", {"play": "2S"})])
def test_k2_a_dog_waits_for_a_trick_that_it_can_win(card: str, action: Action, strength: str) -> None:
    assert move(GAMES["knockout"], dog_in_trick(card), strength) == action


@pytest.mark.parametrize(("name", "deals"), [("english", 40), ("solo", 60), ("knockout", 60), ("german", 80)])
def test_keen_beats_calm_by_more_than_luck(name: str, deals: int) -> None:
    """Each deal played with all seatings; more than two standard errors ahead."""
    ahead = duel(name, "keen", "calm", deals, seed=1)
    assert fmean(ahead) > 2 * stdev(ahead) / deals**0.5
