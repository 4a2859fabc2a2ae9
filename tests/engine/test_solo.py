"""L1 to L4: the auction, every contract's payoff, when a hand stops, the ranking."""

from typing import Any

import pytest

from libs.engine.errors import RuleViolation
from libs.engine.solo.auction import Call, Called, standing
from libs.engine.solo.game import SoloWhist
from libs.engine.solo.scoring import key, score_hand
from libs.engine.solo.state import State
from tests.engine.family import act, dealt, filled, play

GAME = SoloWhist()
TABLE = ("solo", 4, {"hands": 4})
HANDS = filled(["AC", "AD", "AS", "2H"])  # 3 deals, 2H is turned


def table() -> State:
    state = dealt(TABLE, HANDS, dealer=3)
    assert isinstance(state, State)
    return state


def call(state: State, words: str) -> State:
    after = act("solo", state, *({"call": word} for word in words.split()))
    assert isinstance(after, State)
    return after


def refusal(state: Any, seat: int, action: object) -> str:
    with pytest.raises(RuleViolation) as refused:
        GAME.decide(state, seat, action)
    return refused.value.reason


def calls(state: State) -> list[str]:
    return [action["call"] for action in GAME.legal(state)]


def test_l1_from_the_dealers_left_a_call_is_a_pass_or_higher() -> None:
    state = table()
    assert GAME.to_act(state) == 0
    assert "acceptance" not in calls(state)
    state = call(state, "solo")
    assert calls(state) == ["pass", "misere", "abundance", "royal_abundance", "open_misere", "abundance_declared"]
    assert refusal(state, 1, {"call": "proposal"}) == "CALL_TOO_LOW"
    assert refusal(state, 1, {"call": "acceptance"}) == "CALL_TOO_LOW"
    assert refusal(state, 2, {"call": "pass"}) == "OUT_OF_TURN"
    assert refusal(state, 1, {"play": "AD"}) == "NOT_PLAYING"
    assert refusal(state, 1, {"trumps": "H"}) == "NOT_NAMING"


def test_l1_out_once_passed_and_over_when_all_others_have() -> None:
    state = call(table(), "pass solo misere pass")
    assert GAME.to_act(state) == 1, "the first seat is out"
    state = call(state, "pass")
    assert GAME.phase(state) == "play"
    assert GAME.view(state, None)["declarer"] == 2
    assert refusal(state, 0, {"call": "pass"}) == "NOT_BIDDING"


def test_l1_the_highest_bidder_is_not_asked_again() -> None:
    assert GAME.phase(call(table(), "abundance_declared pass pass pass")) == "play"


def test_l1_an_acceptance_is_closed_by_a_higher_bid() -> None:
    state = call(table(), "proposal acceptance solo pass pass")
    view = GAME.view(state, None)
    assert (view["bid"], view["declarer"], view["partner"]) == ("solo", 2, None)
    assert GAME.to_act(state) == 1
    assert GAME.phase(call(state, "pass")) == "play"


def test_l3_the_dealers_left_may_accept_after_having_passed() -> None:
    state = call(table(), "pass proposal pass pass")
    assert GAME.to_act(state) == 0 and calls(state) == ["pass", "acceptance"]
    state = call(state, "acceptance")
    view = GAME.view(state, None)
    assert (GAME.phase(state), view["declarer"], view["partner"]) == ("play", 1, 0)


def test_l3_not_when_something_higher_was_bid() -> None:
    assert GAME.phase(call(table(), "pass proposal solo pass pass")) == "play"


def test_l3_no_other_seat_may_accept_after_a_pass() -> None:
    state = call(table(), "pass pass proposal pass")
    assert GAME.to_act(state) == 0
    assert GAME.to_act(call(state, "pass")) == 2, "not seat 1: the proposer may raise"


def test_l3_a_proposer_without_acceptance_may_raise() -> None:
    state = call(table(), "pass proposal pass pass pass")
    assert GAME.to_act(state) == 1 and "solo" in calls(state) and "acceptance" not in calls(state)
    assert GAME.view(call(state, "solo"), None)["bid"] == "solo"
    thrown = call(state, "pass")
    assert (GAME.phase(thrown), thrown.sheet[0].bid) == ("draw", None)


def test_l3_all_pass_the_hand_is_thrown_in_and_the_next_player_deals() -> None:
    state = call(table(), "pass pass pass pass")
    assert GAME.phase(state) == "draw"
    assert state.totals == (0, 0, 0, 0)
    for event in GAME.decide_draw(state, range(52)):
        state = GAME.evolve(state, event)
    assert GAME.view(state, None)["dealer"] == 0


def finished(words: str, taken: tuple[int, ...], named: str | None = None) -> State:
    """A contract whose tricks fell so."""
    state = call(table(), words)
    if named:
        state = act("solo", state, {"trumps": named})
    assert isinstance(state, State) and state.play is not None
    return state._replace(play=state.play._replace(taken=taken))


@pytest.mark.parametrize(
    ("words", "made", "missed", "units"),
    [
        ("proposal acceptance pass pass", (5, 3, 3, 2), (4, 3, 3, 3), (1, 1, -1, -1)),
        ("solo pass pass pass", (5, 3, 3, 2), (4, 3, 3, 3), (3, -1, -1, -1)),
        ("misere pass pass pass", (0, 5, 5, 3), (1, 4, 5, 3), (6, -2, -2, -2)),
        ("abundance pass pass pass", (9, 2, 1, 1), (8, 3, 1, 1), (9, -3, -3, -3)),
        ("royal_abundance pass pass pass", (9, 2, 1, 1), (8, 3, 1, 1), (9, -3, -3, -3)),
        ("open_misere pass pass pass", (0, 5, 5, 3), (1, 4, 5, 3), (12, -4, -4, -4)),
        ("abundance_declared pass pass pass", (13, 0, 0, 0), (12, 1, 0, 0), (18, -6, -6, -6)),
    ],
)
def test_l2_payoffs(words: str, made: tuple[int, ...], missed: tuple[int, ...], units: tuple[int, ...]) -> None:
    named = "H" if words.startswith("abundance ") else None
    assert score_hand(finished(words, made, named)).units == units
    assert score_hand(finished(words, missed, named)).units == tuple(-one for one in units)
    assert sum(units) == 0


def test_l4_over_tricks_score_nothing() -> None:
    assert score_hand(finished("solo pass pass pass", (13, 0, 0, 0))).units == (3, -1, -1, -1)


@pytest.mark.parametrize(
    ("words", "trump", "leader"),
    [
        ("pass solo pass pass", "H", 0),
        ("pass royal_abundance pass pass", "H", 0),
        ("pass misere pass pass", None, 0),
        ("pass abundance_declared pass pass", None, 1),
        ("pass proposal acceptance pass", "H", 0),
    ],
)
def test_l2_l4_trumps_and_the_leader(words: str, trump: str | None, leader: int) -> None:
    view = GAME.view(call(table(), words), None)
    assert (view["phase"], view["trump_suit"], view["to_act"]) == ("play", trump, leader)


def test_l2_abundance_names_its_own_trumps_before_the_lead() -> None:
    state = call(table(), "pass abundance pass pass")
    assert (GAME.phase(state), GAME.to_act(state)) == ("bid", 1)
    assert refusal(state, 1, {"play": "AD"}) == "NOT_PLAYING"
    state = act("solo", state, {"trumps": "S"})
    view = GAME.view(state, 0)
    assert (view["trump_suit"], view["to_act"], view["trump"]) == ("S", 0, "2H")


OPEN = filled(["2C 3C", "4C 5C", "6C 7C", "8C 9C"])


def test_l2_the_open_hand_is_shown_after_the_first_trick_and_not_before() -> None:
    state = call(dealt(TABLE, OPEN, dealer=3), "open_misere pass pass pass")
    state = play("solo", state, "2C 4C 6C")
    assert GAME.view(state, 1)["open"] is None
    state = play("solo", state, "8C")
    shown = GAME.view(state, None)["open"]
    assert shown == {"seat": 0, "cards": GAME.view(state, 0)["hand"]} and len(shown["cards"]) == 12


def test_l4_a_misere_stops_when_the_declarer_takes_a_trick() -> None:
    state = call(dealt(TABLE, filled(["2C 9C", "4C", "6C", "8C"]), dealer=3), "misere pass pass pass")
    state = play("solo", state, "9C 4C 6C 8C")
    assert GAME.phase(state) == "draw"
    assert state.totals == (-6, 2, 2, 2)


def test_l4_abundance_declared_stops_when_a_trick_is_lost() -> None:
    state = call(dealt(TABLE, filled(["2C", "4C", "6C", "8C"]), dealer=3), "abundance_declared pass pass pass")
    state = play("solo", state, "2C 4C 6C 8C")
    assert GAME.phase(state) == "draw"
    assert state.totals == (-18, 6, 6, 6)


def test_l4_a_match_counts_thrown_in_hands() -> None:
    state = table()
    for _ in range(3):
        state = call(state, "pass pass pass pass")
        for event in GAME.decide_draw(state, range(52)):
            state = GAME.evolve(state, event)
    state = call(state, "pass pass pass pass")
    assert GAME.over(state)
    result = GAME.result(state)
    assert (result.ranking, result.decided_by) == ((0, 1, 2, 3), (4, 4, 4))
    assert result.rounds_bid == result.rounds_played(0) == 4, "P16 counts the calls"


def test_l4_ranking_units_then_made_then_fewer_lost_then_seat() -> None:
    made = score_hand(finished("pass solo pass pass", (4, 5, 2, 2)))
    missed = score_hand(finished("pass solo pass pass", (5, 4, 2, 2)))
    even = (made, missed)
    assert key(even, 1) == (0, -1, 1, 1) < key(even, 0) == (0, 0, 0, 0)
    assert key((missed,), 0) < key((missed,), 2) < key((missed,), 1)
    assert [hand.levels for hand in even] == [(0, 2, 0, 0)] * 2


def test_facts_say_the_highest_call_and_whether_the_contract_was_made() -> None:
    hand = score_hand(finished("proposal acceptance pass pass", (5, 3, 3, 2)))
    state = table()._replace(sheet=(hand,), ranking=(0, 1, 2, 3))
    facts = [seat[0] for seat in GAME.result(state).seats]
    assert [(fact.bid, fact.made, fact.score) for fact in facts] == [
        (1, True, 1),
        (1, True, 1),
        (0, False, -1),
        (0, False, -1),
    ]


def test_an_auction_is_read_from_its_calls_alone() -> None:
    read = standing((Called(1, Call.PASS), Called(2, Call.PROPOSAL), Called(3, Call.ACCEPTANCE)), dealer=0)
    assert (read.bid, read.declarer, read.partner, read.to_act, read.contract) == (Call.PROPOSAL, 2, 3, 0, True)
