"""K1 to K3: shrinking hands, who names trumps, who is out, the dog's life."""

from typing import Any

import pytest

from libs.engine.cards import Suit
from libs.engine.errors import RuleViolation
from libs.engine.knockout.game import KnockoutWhist
from libs.engine.knockout.scoring import ranking
from libs.engine.knockout.state import ScoredHand, State
from tests.engine.family import act, dealt, order_for, play, run

GAME = KnockoutWhist()
CLUBS, DIAMONDS = "AC KC QC JC TC 9C 8C", "AD KD QD JD TD 9D 8D"


def refusal(state: Any, seat: int, action: object) -> str:
    with pytest.raises(RuleViolation) as refused:
        GAME.decide(state, seat, action)
    return refused.value.reason


def deal_next(state: Any, hands: list[str]) -> Any:
    """The next hand; seats that are out hold nothing."""
    index = len(state.sheet)
    assert index and GAME.draw(state) is not None
    alive = [seat for seat in range(state.players) if state.alive[seat]]
    dealer = next(
        seat % state.players for seat in range(state.sheet[-1].dealer + 1, 99) if seat % state.players in alive
    )
    for event in GAME.decide_draw(state, order_for(hands, dealer)):
        state = GAME.evolve(state, event)
    return state


def first_hand(**options: object) -> Any:
    """Seats 0, 1 and 2; 2 deals; clubs are trump and 0, who leads, takes all seven."""
    hands = [CLUBS, DIAMONDS, "AS KS QS JS TS 9S 8S"]
    state = dealt(("knockout", 3, dict(options)), hands, dealer=2, then="2C")
    for row in range(7):
        state = play("knockout", state, " ".join(hand.split()[row] for hand in hands))
    return state


@pytest.mark.parametrize("players", range(2, 8))
def test_k1_hands_shrink_from_seven_to_one(players: int) -> None:
    *_, (_, _, state) = run(("knockout", players, {}), seed=players)
    assert [hand.cards for hand in state.sheet] == list(range(7, 7 - len(state.sheet), -1))
    assert sum(state.alive) == 1


def test_k1_the_first_hands_turned_card_is_trump_and_in_nobodys_hand() -> None:
    state = dealt(("knockout", 2, {}), [CLUBS, DIAMONDS], dealer=1, then="5H")
    view = GAME.view(state, None)
    assert (view["trump"], view["trump_suit"], view["to_act"], view["phase"]) == ("5H", "H", 0, "play")


def test_k2_who_takes_no_trick_is_out_and_the_last_survivor_wins() -> None:
    state = first_hand()
    assert GAME.over(state)
    assert GAME.result(state).ranking == (0, 1, 2)
    assert GAME.result(state).decided_by == (1, 3)


def test_k1_who_took_most_names_trumps_after_seeing_the_hand() -> None:
    state = deal_next(first_hand(dogs_life=True), ["AH KH QH JH TH 9H", "2D", "2S"])
    assert (GAME.phase(state), GAME.to_act(state)) == ("name", 0)
    assert GAME.view(state, 0)["hand"] == ["9H", "TH", "JH", "QH", "KH", "AH"]
    assert GAME.legal(state) == tuple({"trumps": suit} for suit in "CDHS")
    assert refusal(state, 0, {"play": "AH"}) == "NOT_PLAYING"
    state = act("knockout", state, {"trumps": "S"})
    view = GAME.view(state, None)
    assert (view["trump_suit"], view["to_act"], view["trump"]) == ("S", 0, None)
    assert refusal(state, 0, {"trumps": "S"}) == "NOT_NAMING"


def test_k1_a_tie_is_drawn_among_the_tied() -> None:
    state = first_hand(dogs_life=True)
    row = state.sheet[0]._replace(taken=(3, 3, 1), dogs=(False, False, False))
    tied = state._replace(sheet=(row,))
    draw = GAME.draw(tied)
    assert draw is not None and (draw.label, draw.size) == ("namer/2", 2)
    for order in ([1, 0], range(52)):
        for event in GAME.decide_draw(tied, order):
            tied = GAME.evolve(tied, event)
        assert GAME.view(tied, None)["namer"] == 1
    assert (GAME.phase(tied), GAME.to_act(tied)) == ("name", 1)


def dogs() -> Any:
    """The second hand: 0 holds six cards, 1 and 2 are dogs; hearts are trump."""
    state = deal_next(first_hand(dogs_life=True), ["2H KD QD JD TD 2C", "AD", "AH"])
    return act("knockout", state, {"trumps": "H"})


def test_k2_dogs_live_on_with_one_card_in_the_next_hand() -> None:
    state = first_hand(dogs_life=True)
    assert GAME.view(state, None)["dogs"] == [False, True, True]
    assert GAME.view(dogs(), None)["sizes"] == [6, 1, 1]


def test_k2_a_dog_plays_or_holds_at_each_turn_at_the_latest_in_the_last_trick() -> None:
    state = play("knockout", dogs(), "2C")
    assert GAME.legal(state) == ({"play": "AD"}, {"hold": True})
    for row in ("KD", "QD", "JD", "TD"):
        state = act("knockout", state, {"hold": True}, {"hold": True}, {"play": row})
    state = act("knockout", state, {"hold": True}, {"hold": True}, {"play": "2H"})
    assert GAME.legal(state) == ({"play": "AD"},)
    assert refusal(state, 1, {"hold": True}) == "MUST_PLAY"
    assert refusal(state, 1, {"hold": False}) == "BAD_ACTION"
    state = play("knockout", state, "AD AH")
    assert state.sheet[1].taken == (5, 0, 1)
    assert state.alive == (True, False, True), "the dog that won is back, the other out"


def test_k2_when_a_dog_wins_the_next_to_the_left_with_cards_leads_and_a_dog_may_pass_the_lead() -> None:
    state = act("knockout", dogs(), {"play": "KD"}, {"play": "AD"}, {"hold": True})
    assert GAME.to_act(state) == 2, "left of the dog that won"
    assert {"hold": True} in GAME.legal(state)
    state = act("knockout", state, {"hold": True})
    assert (GAME.to_act(state), GAME.view(state, None)["trick"]["lead"]) == (0, 0)
    state = play("knockout", state, "QD")
    assert GAME.to_act(state) == 0, "the other dog has had its turn, the first has no card"


def test_k2_a_full_hand_holds_nothing_back() -> None:
    assert refusal(dogs(), 0, {"hold": True}) == "MUST_PLAY"


def test_k2_without_the_option_or_a_second_time_there_is_no_dogs_life() -> None:
    assert GAME.over(first_hand())
    state = act("knockout", dogs(), *({"play": card} for card in ("KD", "AD", "AH")))
    for row in ("QD", "JD", "TD", "2C", "2H"):
        state = play("knockout", state, row)
    assert state.sheet[1].dogs == (False, False, False)
    assert state.alive == (True, False, True)


def test_k2_a_hand_of_one_card_makes_no_dog() -> None:
    *_, (_, _, state) = run(("knockout", 2, {"dogs_life": True}), seed=1)
    for row in state.sheet:
        assert not (row.cards == 1 and any(row.dogs))


def test_k1_the_deal_skips_who_is_out() -> None:
    *_, (_, _, state) = run(("knockout", 7, {}), seed=4)
    for row, after in zip(state.sheet, state.sheet[1:], strict=False):
        assert row.alive[after.dealer]
        between = range(row.dealer + 1, after.dealer if after.dealer > row.dealer else after.dealer + 7)
        assert not any(row.alive[seat % 7] for seat in between)


def row(taken: tuple[int, ...], alive: tuple[bool, ...]) -> ScoredHand:
    return ScoredHand(cards=7, dealer=0, trump=Suit.CLUBS, sizes=(7,) * 4, taken=taken, alive=alive, dogs=(False,) * 4)


def test_k3_ranking_hands_survived_then_tricks_then_seat() -> None:
    sheet = (
        row((0, 2, 3, 2), (False, True, True, True)),
        row((0, 0, 0, 6), (False, False, False, True)),
    )
    assert ranking(sheet) == (3, 2, 1, 0)
    even = (row((0, 2, 2, 3), (False, True, True, True)), sheet[1])
    assert ranking(even) == (3, 1, 2, 0)


def test_p16_counts_the_hands_in_which_a_seat_had_cards() -> None:
    *_, (_, _, state) = run(("knockout", 5, {}), seed=2)
    assert isinstance(state, State)
    result = GAME.result(state)
    for seat in range(5):
        survived = sum(hand.alive[seat] for hand in state.sheet)
        assert result.rounds_played(seat) == survived + (seat != result.ranking[0])
