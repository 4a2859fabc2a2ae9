"""R5 to R8: bids, plays, their refusals, and the points of a round."""

from itertools import product
from typing import Any

import pytest

from libs.engine.errors import RuleViolation
from libs.engine.romanian.options import Mode, Options, Premium, Scoring
from libs.engine.romanian.scoring import points, score_round
from tests.engine.builders import GAME, bid, dealt, final, play, sheet_of

GOLDEN = ["AH 8C 8D", "7C 9S KD", "QS KH 9D", "TS TH TD"]  # A B C D of R8, D deals


def refusal(state: Any, seat: int, action: object) -> tuple[str, dict[str, object]]:
    with pytest.raises(RuleViolation) as refused:
        GAME.decide(state, seat, action)
    return refused.value.reason, refused.value.facts


@pytest.mark.parametrize(("bidden", "taken", "score"), [(3, 3, 8), (0, 0, 5), (2, 4, -2), (1, 0, -1)])
def test_r7_golden_points(bidden: int, taken: int, score: int) -> None:
    assert points(bidden, taken) == score


def test_r8_golden_round() -> None:
    state = bid(dealt(GOLDEN, dealer=3, turn_up="9H"), 1, 0, 1)
    assert refusal(state, 3, {"bid": 1}) == ("BID_BARRED", {"barred": 1})
    assert GAME.legal(state) == ({"bid": 0}, {"bid": 2}, {"bid": 3})
    assert GAME.view(state, None)["barred"] == 1
    state = bid(state, 2)
    state = play(state, "AH", "7C", "KH", "TH")
    state = play(state, "8D", "KD", "9D", "TD")
    state = play(state, "9S", "QS", "TS", "8C")
    scored = state.sheet[0]
    assert scored.bids == (1, 0, 1, 2)
    assert scored.taken == (1, 1, 1, 0)
    assert scored.scores == (6, -1, 6, -2)


def test_r5_one_bid_each_from_the_dealers_left() -> None:
    state = dealt(GOLDEN, dealer=3, turn_up="9H")
    for seat in range(4):
        assert GAME.to_act(state) == seat
        assert refusal(state, (seat + 1) % 4, {"bid": 0})[0] == "OUT_OF_TURN"
        state = bid(state, 0)
    assert GAME.phase(state) == "play" and GAME.to_act(state) == 0
    assert refusal(state, 0, {"bid": 1})[0] == "NOT_BIDDING"


@pytest.mark.parametrize("value", [-1, 4, 10**30])
def test_r5_a_bid_is_between_zero_and_the_cards(value: int) -> None:
    state = dealt(GOLDEN, dealer=3, turn_up="9H")
    facts: dict[str, object] = {"least": 0, "most": 3}
    assert refusal(state, 0, {"bid": value}) == ("BID_OUT_OF_RANGE", facts)


def test_r5_a_sum_beyond_the_cards_leaves_the_dealer_free() -> None:
    state = bid(dealt(GOLDEN, dealer=3, turn_up="9H"), 2, 2, 0)
    assert len(GAME.legal(state)) == 4
    assert GAME.view(state, 3)["barred"] is None


@pytest.mark.parametrize("bids", list(product((0, 1), repeat=3)))
def test_r5_one_card_rounds(bids: tuple[int, int, int]) -> None:
    state = bid(dealt(["AH", "7S", "9S", "TS"], dealer=3, turn_up="9H"), *bids)
    free: dict[int, list[dict[str, int]]] = {0: [{"bid": 0}], 1: [{"bid": 1}]}
    assert list(GAME.legal(state)) == free.get(sum(bids), [{"bid": 0}, {"bid": 1}])


def test_r6_refusals_say_which_suit() -> None:
    state = bid(dealt(GOLDEN, dealer=3, turn_up="9H"), 0, 0, 0, 0)
    assert refusal(state, 0, {"play": "KH"}) == ("CARD_NOT_HELD", {})
    assert refusal(state, 1, {"play": "7C"}) == ("OUT_OF_TURN", {"to_act": 0})
    state = play(state, "8C")
    assert refusal(state, 1, {"play": "KD"}) == ("MUST_FOLLOW_SUIT", {"suit": "C"})
    state = play(state, "7C")
    assert refusal(state, 2, {"play": "QS"}) == ("MUST_TRUMP", {"suit": "H"})
    assert GAME.legal(state) == ({"play": "KH"},)


def test_r6_a_void_hand_may_undertrump() -> None:
    hands = ["8C 7D", "AH 8D", "7H TH", "9D TD"]
    state = play(bid(dealt(hands, dealer=3, turn_up="9H"), 0, 0, 0, 0), "8C", "AH")
    assert GAME.legal(state) == ({"play": "7H"}, {"play": "TH"})
    state = play(state, "7H", "TD")
    assert GAME.to_act(state) == 1


def test_r6_without_trump_a_void_hand_plays_anything() -> None:
    hands = [" ".join(rank + suit for rank in "789TJQKA") for suit in "CDHS"]
    state = bid(dealt(hands, dealer=3), 8, 8, 8, 8)
    state = play(state, "7C")
    assert len(GAME.legal(state)) == 8
    state = play(state, "AD", "AH", "AS")
    assert GAME.to_act(state) == 0, "the suit led takes the trick, however low"


def test_r6_nobody_plays_before_the_bids_are_made() -> None:
    state = dealt(GOLDEN, dealer=3, turn_up="9H")
    assert refusal(state, 0, {"play": "AH"})[0] == "NOT_PLAYING"


def test_between_rounds_and_after_the_last_one_nobody_acts() -> None:
    state = bid(dealt(["AH", "7S", "9S", "TS"], dealer=3, turn_up="9H"), 1, 0, 0, 1)
    state = play(state, "AH", "7S", "9S", "TS")
    assert (GAME.phase(state), GAME.to_act(state), GAME.legal(state)) == ("draw", None, ())
    assert refusal(state, 0, {"bid": 0})[0] == "DRAW_DUE"
    assert refusal(final("quick", 6, seed=1), 0, {"bid": 0})[0] == "GAME_OVER"
    with pytest.raises(ValueError, match="not over"):
        GAME.result(state)


@pytest.mark.parametrize(("bidden", "taken", "score"), [(0, 0, 5), (3, 3, 11), (1, 4, -6)])
def test_r11_triangular_points(bidden: int, taken: int, score: int) -> None:
    assert points(bidden, taken, Scoring.TRIANGULAR) == score


def premiums(premium: Premium, rounds: list[tuple[int, bool]]) -> int:
    """What seat 0's last round scores beyond R7; it bids 1, and takes 1 or 0."""
    played = [(size, (1, 0), (1 if is_made else 0, 0)) for size, is_made in rounds]
    *before, (size, bids, taken) = played
    options = Options(mode=Mode.EIGHT_ONE_EIGHT, premium=premium)
    return score_round(size, bids, taken, sheet_of(before, 2), options)[0] - points(1, taken[0])


def test_r11_premium_at_five_in_a_row_then_counts_anew() -> None:
    made, missed = (3, True), (3, False)
    assert premiums(Premium.OFF, [made] * 5) == 0
    assert [premiums(Premium.SKIP, [made] * n) for n in (4, 5, 6, 10)] == [0, 10, 0, 10]
    assert premiums(Premium.SKIP, [missed] * 5) == -10
    assert premiums(Premium.SKIP, [made, missed, made, made, made, made]) == 0


def test_r11_one_card_rounds_skip_or_reset() -> None:
    row = [(3, True)] * 3 + [(1, False)] + [(3, True)] * 2
    assert premiums(Premium.SKIP, row) == 10
    assert premiums(Premium.RESET, row) == 0
    assert premiums(Premium.SKIP, [(3, True)] * 4 + [(1, True)]) == 0
