"""W1 to W9: the golden hand, honours, targets, rubbers, revokes and void hands."""

from typing import Any

import pytest

from libs.engine.cards import card_text, cards_in
from libs.engine.english.game import EnglishWhist
from libs.engine.english.options import parse_options
from libs.engine.english.scoring import match_winner, rubber_points, score_hand
from libs.engine.english.state import Pair, ScoredHand, State
from libs.engine.errors import RuleViolation
from tests.engine.family import act, dealt, filled, play, run

GAME = EnglishWhist()
GOLDEN = [  # S1's players 1 to 4
    "3D TH 3C 8C 5C 7C JD QC KC 9D 2D AH KH",
    "9S 8D JC 4H 2H 4C 4S AD JH TS 8S AS 8H",
    "9C 5S TD 9H 6H 5H 3H 7D QS QD AC KS QH",
    "4D 6D JS 2C 6C 7H 7S KD TC 2S 6S 5D 3S",
]


def refusal(state: Any, seat: int, action: object) -> tuple[str, dict[str, object]]:
    with pytest.raises(RuleViolation) as refused:
        GAME.decide(state, seat, action)
    return refused.value.reason, refused.value.facts


def table(**options: object) -> State:
    state = dealt(("english", 4, dict(options)), GOLDEN, dealer=1)
    assert isinstance(state, State)
    return state


def ended(
    tricks: tuple[int, int], held: tuple[int, int] = (0, 0), score: tuple[int, int] = (0, 0), **options: Any
) -> State:
    """A hand of which so many tricks are taken, at that score of the game."""
    state = table(**options)
    assert state.deal is not None and state.play is not None
    before = hand_scored(Pair(0, 0))._replace(score=Pair(*score))
    return state._replace(
        sheet=(before,),
        deal=state.deal._replace(honours=Pair(*held), number=1),
        play=state.play._replace(taken=(tricks[0], tricks[1], 0, 0)),
    )


def hand_scored(points: Pair, won: int | None = None) -> ScoredHand:
    return score_hand(table())._replace(points=points, won=won)


def score(state: State, *penalty: Any) -> tuple[tuple[int, ...], int | None]:
    hand = score_hand(state, *penalty)
    return tuple(hand.score), hand.won


def test_w9_golden_hand() -> None:
    state = table()
    assert GAME.view(state, None)["trump"] == "8H"
    assert GAME.to_act(state) == 2, "player 3, the dealer's left"
    state = play("english", state, "KS 3S")
    assert {"play": "KH"} in GAME.legal(state) and {"play": "2D"} in GAME.legal(state), "no duty to trump"
    state = play("english", state, "2D AS")
    assert GAME.to_act(state) == 1, "player 2 wins with the ace"
    while state.live:
        state = act("english", state, GAME.legal(state)[0])
    hand = state.sheet[0]
    assert tuple(hand.tricks) == (8, 5)
    assert tuple(hand.honours) == (3, 1)
    assert tuple(hand.points) == (2 + 2, 0)


def test_w9_nine_tricks_score_three() -> None:
    assert score(ended((9, 4))) == ((3, 0), None)


def test_w1_thirteen_each_and_the_turned_card_is_the_dealers_own_last() -> None:
    state = table()
    assert state.play is not None
    assert [hand.bit_count() for hand in state.play.hands] == [13] * 4
    assert "8H" in GAME.view(state, 1)["hand"]
    assert {"play": "8H"} in GAME.legal(play("english", state, "5H 7H TH")), "playable at once"


def test_w2_the_turned_card_is_shown_until_the_dealers_first_play() -> None:
    state = play("english", table(), "KS 3S 2D")
    assert GAME.view(state, 0)["trump"] == "8H"
    state = play("english", state, "AS")
    assert GAME.view(state, 0)["trump"] is None
    assert GAME.view(state, 0)["trump_suit"] == "H"


def test_w2_who_can_follow_must() -> None:
    state = play("english", table(), "9C")
    assert refusal(state, 3, {"play": "4D"}) == ("MUST_FOLLOW_SUIT", {"suit": "C"})
    assert refusal(state, 3, {"play": "AC"}) == ("CARD_NOT_HELD", {})
    assert refusal(state, 0, {"play": "3C"}) == ("OUT_OF_TURN", {"to_act": 3})
    assert refusal(state, 3, {"claim": True})[0] == "NOT_CLAIMING"
    assert refusal(state, 3, {"penalty": "points"})[0] == "NO_PENALTY_DUE"


def test_w2_the_deal_passes_clockwise_across_the_games_of_a_rubber() -> None:
    *_, (_, _, state) = run(("english", 4, {}), seed=1)
    assert any(hand.won is not None for hand in state.sheet[:-1])
    assert [hand.dealer for hand in state.sheet] == [
        (state.first_dealer + index) % 4 for index in range(len(state.sheet))
    ]


@pytest.mark.parametrize(("held", "points"), [((4, 0), (4, 0)), ((3, 1), (2, 0)), ((2, 2), (0, 0)), ((0, 4), (0, 4))])
def test_w3_honours(held: tuple[int, int], points: tuple[int, int]) -> None:
    made = 1 if points[0] else 0
    assert score(ended((6 + made, 7 - made), held))[0] == (points[0] + made, points[1] + 1 - made)


def test_w3_honours_are_shown_with_the_score_and_never_earlier() -> None:
    for before, event, now in run(("english", 4, {"match": "game"}), seed=2):
        if GAME.view(now, 0)["score_sheet"] == GAME.view(before, 0)["score_sheet"]:
            assert "honours" not in str(GAME.project(event, 0))


@pytest.mark.parametrize(("target", "had", "gets"), [(5, 4, 0), (5, 3, 2), (7, 6, 0), (7, 4, 2)])
def test_w4_a_side_one_short_of_the_target_scores_no_honours(target: int, had: int, gets: int) -> None:
    state = ended((6, 7), (3, 1), score=(had, 0), target=target)
    assert score(state)[0] == (had + gets, 1)


def test_w4_is_read_before_the_deal() -> None:
    """At 3 and with one trick now at 4: the honours still count."""
    assert score(ended((7, 6), (4, 0), score=(3, 0))) == ((8, 0), 0)


def test_w5_tricks_before_honours_the_first_side_at_the_target_wins_and_the_rest_is_not_scored() -> None:
    assert score(ended((7, 6), (1, 3), score=(4, 3))) == ((5, 3), 0)
    assert score(ended((6, 7), (1, 3), score=(4, 3))) == ((4, 6), 1)


@pytest.mark.parametrize(("honours", "points"), [(True, 4), (False, 0)])
@pytest.mark.parametrize(("target", "won"), [(5, True), (7, False)])
def test_w5_target_and_honours_are_independent(honours: bool, points: int, target: int, won: bool) -> None:
    state = ended((7, 6), (4, 0), target=target, honours=honours)
    assert score(state) == ((1 + points, 0), 0 if won and honours else None)


def test_w5_both_sides_start_the_next_game_at_zero() -> None:
    state = table()._replace(sheet=(hand_scored(Pair(5, 0), won=0)._replace(score=Pair(5, 4)),))
    assert tuple(state.score) == (0, 0)
    assert tuple(state.games) == (1, 0)


@pytest.mark.parametrize(("bonus", "totals"), [(False, (9, 6, 9, 6)), (True, (11, 6, 11, 6))])
def test_w6_a_rubber_is_two_games_and_counts_the_points_of_all(bonus: bool, totals: tuple[int, ...]) -> None:
    games = (hand_scored(Pair(5, 1), won=0), hand_scored(Pair(0, 5), won=1), hand_scored(Pair(4, 0), won=0))
    state = table(rubber_bonus=bonus)._replace(sheet=games, ranking=(0, 2, 1, 3))
    assert match_winner(state._replace(sheet=games[:2])) is None
    assert match_winner(state) == 0
    assert tuple(rubber_points(games)) == (9, 6)
    result = GAME.result(state)
    assert result.totals == totals
    assert result.places == (1, 2, 1, 2) and [result.place(seat) for seat in range(4)] == [1, 2, 1, 2]
    assert result.decided_by == (2, 1, 2)


def test_w6_a_single_game_is_an_option() -> None:
    state = table(match="game")._replace(sheet=(hand_scored(Pair(0, 5), won=1),))
    assert match_winner(state) == 1


def after(state: Any) -> State:
    assert isinstance(state, State)
    return state


def club(first: str = "KS 3S 2D AS", **options: Any) -> State:
    """A club's table after these cards, then the first card in pack order that follows, to the end of the play."""
    state = after(play("english", table(revokes="club", **options), first))
    while state.phase == "play":
        assert state.play is not None
        legal = [action["play"] for action in GAME.legal(state)]
        seat = state.to_act
        assert seat is not None
        assert legal == [card_text(card) for card in cards_in(state.play.hands[seat])], "a club accepts every card"
        led = state.play.led
        follows = [one for one in legal if led is not None and one[1] == card_text(led)[1]]
        state = after(play("english", state, (follows or legal)[0]))
    return state


REVOKE = "9C 4D"  # player 4 holds clubs


def test_w7_refused_is_the_default() -> None:
    assert parse_options(4, {}).revokes == "refused"


def test_w7_in_a_club_claims_are_asked_after_every_hand() -> None:
    state = club()
    asked = []
    while state.phase == "claim":
        asked.append(GAME.to_act(state))
        assert GAME.legal(state) == ({"claim": False}, {"claim": True})
        state = act("english", state, {"claim": False})
    assert asked == [2, 3, 0, 1]
    assert tuple(state.sheet[0].tricks) == (8, 5)


def test_w7_a_claim_that_is_not_proven_changes_nothing_and_the_partner_is_not_asked() -> None:
    state = act("english", club(), {"claim": True})
    assert GAME.to_act(state) == 3
    state = act("english", state, {"claim": True})
    assert state.phase == "draw"
    assert tuple(state.sheet[0].points) == (4, 0)


@pytest.mark.parametrize("penalty", ["points", "tricks"])
def test_w7_who_claimed_a_proven_revoke_chooses(penalty: str) -> None:
    state = act("english", club(REVOKE), {"claim": True}, {"claim": False}, {"claim": False})
    assert GAME.view(state, None)["penalty"]["seat"] == GAME.to_act(state) == 2
    tricks = (state.play.taken[0] + state.play.taken[2], state.play.taken[1] + state.play.taken[3])
    swings = GAME.view(state, 2)["penalty"]
    state = act("english", state, {"penalty": penalty})
    hand = state.sheet[0]
    assert hand.points[0] - hand.points[1] == swings[penalty]
    moved = min(3, tricks[1]) if penalty == "tricks" else 0
    assert tuple(hand.tricks) == (tricks[0] + moved, tricks[1] - moved)
    assert tuple(hand.penalty) == ((0, -3) if penalty == "points" else (0, 0))


def test_w7_the_score_may_go_below_zero() -> None:
    assert score(ended((7, 6)), "points", 1) == ((1, -3), None)


def test_w7_three_tricks_are_moved_or_as_many_as_there_are() -> None:
    assert tuple(score_hand(ended((6, 7)), "tricks", 1).tricks) == (9, 4)
    assert tuple(score_hand(ended((11, 2)), "tricks", 1).tricks) == (13, 0)


def test_w7_a_revoking_side_cannot_reach_the_target_on_that_hand() -> None:
    assert score(ended((1, 12), (0, 4), score=(0, 3)), "tricks", 1) == ((0, 4), None)
    assert score(ended((2, 11), (0, 4), score=(0, 3)), "points", 1) == ((0, 4), None)


def test_w7_the_penalty_comes_first_and_the_claiming_side_may_win_by_it() -> None:
    assert score(ended((6, 7), score=(3, 4)), "tricks", 1) == ((6, 4), 0)


def test_w7_when_both_sides_revoked_the_hand_is_void() -> None:
    state = club("9C 4D 3D AS")
    state = act("english", state, {"claim": True}, {"claim": True})
    assert state.sheet[0].void
    assert tuple(state.sheet[0].points) == (0, 0)


def test_w8_a_void_hand_scores_nothing_the_deal_passes_and_p16_does_not_count_it() -> None:
    state = play("english", table(), "KS 3S 2D AS")
    (event,) = GAME.decide_void(state)
    state = GAME.evolve(state, event)
    assert state.sheet[0].void and tuple(state.score) == (0, 0)
    assert GAME.draw(state) is not None
    for event in GAME.decide_draw(state, range(52)):
        state = GAME.evolve(state, event)
    assert GAME.view(state, None)["dealer"] == 2
    over = state._replace(sheet=(*state.sheet, hand_scored(Pair(5, 0), won=0)), ranking=(0, 2, 1, 3))
    assert [GAME.result(over).rounds_played(seat) for seat in range(4)] == [1] * 4


def test_w8_there_is_nothing_to_void_between_hands() -> None:
    with pytest.raises(RuleViolation, match="DRAW_DUE"):
        GAME.decide_void(GAME.new(4, {}))


def test_after_the_match_nobody_acts() -> None:
    *_, (_, _, state) = run(("english", 4, {"match": "game"}), seed=3)
    assert refusal(state, 0, {"play": "2C"})[0] == "GAME_OVER"


def test_nobody_plays_while_claims_are_open() -> None:
    assert refusal(club(), 2, {"play": "2C"})[0] == "NOT_PLAYING"


def test_hands_begun_by_hand_are_filled_up_from_the_pack() -> None:
    hands = filled(["AS", "KS", "QS", "JS 8H"])
    assert sorted(" ".join(hands).split()) == sorted(set(" ".join(hands).split()))
    assert [len(hand.split()) for hand in hands] == [13] * 4 and hands[3].endswith("JS 8H")
