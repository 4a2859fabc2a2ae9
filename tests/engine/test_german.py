"""G1 and G2: the stock, what each side draws, which tricks count."""

from typing import Any

import pytest

from libs.engine.errors import RuleViolation
from libs.engine.german.game import GermanWhist
from tests.engine.family import dealt, filled, final, play, run

GAME = GermanWhist()
HANDS = filled(["2C 3C", "AC KC"])


def table(**options: object) -> Any:
    return dealt(("german", 2, dict(options)), HANDS, dealer=0, then="5H 9S 7S 8S")


def test_g1_thirteen_each_the_top_of_the_stock_is_trump_and_first_prize() -> None:
    view = GAME.view(table(), 0)
    assert (len(view["hand"]), view["stock"], view["prize"], view["trump"], view["trump_suit"]) == (
        13,
        26,
        "5H",
        "5H",
        "H",
    )
    assert view["to_act"] == 1, "the non-dealer leads"


def test_g2_the_winner_takes_the_prize_the_loser_the_next_unseen_and_the_next_is_turned() -> None:
    state = play("german", table(), "AC 2C")
    winner, loser = GAME.view(state, 1), GAME.view(state, 0)
    assert "5H" in winner["hand"] and "9S" in loser["hand"]
    assert (winner["prize"], winner["stock"], winner["trump"], winner["trump_suit"]) == ("7S", 24, None, "H")
    assert winner["counts"] == [13, 13]
    assert "9S" not in str(winner) and "9S" not in str(GAME.view(state, None))


def test_g1_follow_suit_else_any() -> None:
    state = play("german", table(), "AC")
    with pytest.raises(RuleViolation) as refused:
        GAME.decide(state, 0, {"play": GAME.view(state, 0)["hand"][-1]})
    assert (refused.value.reason, refused.value.facts) == ("MUST_FOLLOW_SUIT", {"suit": "C"})
    with pytest.raises(RuleViolation, match="CARD_NOT_HELD"):
        GAME.decide(state, 0, {"play": "AC"})
    with pytest.raises(RuleViolation, match="OUT_OF_TURN"):
        GAME.decide(state, 1, {"play": "KC"})
    with pytest.raises(RuleViolation, match="DRAW_DUE"):
        GAME.decide(GAME.new(2, {}), 0, {"play": "AC"})
    with pytest.raises(RuleViolation, match="GAME_OVER"):
        GAME.decide(final(("german", 2, {}), seed=1), 0, {"play": "AC"})


@pytest.mark.parametrize("seed", range(6))
def test_g2_the_majority_of_the_last_thirteen_wins(seed: int) -> None:
    winners = [event.winner for _, event, _ in run(("german", 2, {}), seed) if GAME.dump_event(event)[0] == "trick"]
    result = GAME.result(final(("german", 2, {}), seed))
    late = winners[13:]
    assert len(winners) == 26 and result.totals == (late.count(0), late.count(1))
    assert result.ranking[0] == max((0, 1), key=late.count)
    assert [facts[0].taken for facts in result.seats] == [winners.count(0), winners.count(1)]


def test_g2_count_all_counts_all_and_the_last_trick_breaks_a_tie() -> None:
    table_all, ties = ("german", 2, {"count_all": True}), 0
    for seed in range(60):
        state = final(table_all, seed)
        result = GAME.result(state)
        assert sum(result.totals) == 26
        if result.totals == (13, 13):
            assert result.ranking[0] == state.play.last.winner
            assert result.decided_by == (2,)
            ties += 1
    assert ties > 0
