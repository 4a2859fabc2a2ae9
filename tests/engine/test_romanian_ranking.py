"""R9: a total order by seven steps; each of them decides once here."""

from typing import Any

import pytest

from libs.engine.romanian.ranking import decided_by, ranking
from tests.engine.builders import GAME, final, sheet_of

# Two seats of (cards, bids, taken) rounds, alike in every step before the one named.
CASES: dict[int, tuple[list[Any], tuple[int, int]]] = {
    1: ([(3, (1, 2), (1, 2))], (1, 0)),
    # +5 +5 -5 with one miss against +7 -1 -1 with two
    2: ([(7, (0, 2), (0, 2)), (7, (0, 0), (0, 1)), (7, (0, 0), (5, 1))], (0, 1)),
    # each misses one round by two: seat 1 in the eight
    3: ([(8, (2, 2), (2, 0)), (7, (2, 2), (0, 2))], (0, 1)),
    # two over against two short
    4: ([(8, (2, 2), (4, 0))], (0, 1)),
    # over by 1 and 3 against 2 and 2
    5: ([(8, (0, 0), (1, 2)), (8, (0, 0), (3, 2))], (1, 0)),
    # level at the end; a round before, seat 1 was ahead
    6: ([(7, (0, 0), (1, 0)), (7, (0, 0), (0, 1))], (1, 0)),
    7: ([(8, (1, 1), (1, 1))], (0, 1)),
}


@pytest.mark.parametrize("step", CASES)
def test_r9_each_of_the_seven_steps_decides_once(step: int) -> None:
    rounds, order = CASES[step]
    sheet = sheet_of(rounds, 2)
    assert ranking(sheet) == order
    assert decided_by(sheet, 0, 1) == decided_by(sheet, 1, 0) == step


def test_r9_step_3_counts_every_round_of_eight() -> None:
    rounds = [(8, bids, taken) for _, bids, taken in CASES[3][0]]
    assert decided_by(sheet_of(rounds, 2), 0, 1) == 6


def test_r9_step_6_reads_the_latest_difference_first() -> None:
    later = [*CASES[6][0], (7, (0, 0), (0, 1)), (7, (0, 0), (1, 0)), (7, (1, 1), (1, 1))]
    assert (ranking(sheet_of(later, 2)), decided_by(sheet_of(later, 2), 0, 1)) == ((0, 1), 6)


def test_r9_six_alike_go_by_seat() -> None:
    assert ranking(sheet_of([(8, (1,) * 6, (1,) * 6)], 6)) == (0, 1, 2, 3, 4, 5)


def test_the_result_says_how_the_game_ended() -> None:
    state = final("quick", 6, seed=3)
    result = GAME.result(state)
    assert sorted(result.ranking) == list(range(6))
    assert list(result.totals) == GAME.view(state, None)["scores"]
    assert [result.place(seat) for seat in result.ranking] == [1, 2, 3, 4, 5, 6]
    assert result.rounds_bid == 6
    for seat, facts in enumerate(result.seats):
        assert sum(fact.score for fact in facts) == result.totals[seat]
        assert all(fact.made == (fact.score >= 5) for fact in facts)
    pairs = zip(result.ranking, result.ranking[1:], strict=False)
    assert result.decided_by == tuple(decided_by(state.sheet, a, b) for a, b in pairs)
    first = result.seats[0][0]
    assert result.dump()["seats"][0][0] == [8, first.bid, first.taken, first.score]
