"""P51, P53: the order in a group, who moves, what a place pays."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.leagues.domain.league import LastGroup, Score, Seat, Tier, fill, next_tier, order, rank
from services.leagues.domain.results import AccountId
from tests.services.leagues.builders import PLATFORM

LEAGUE = PLATFORM.league
MONDAY = datetime(2026, 11, 23, tzinfo=UTC)
scores = st.builds(
    lambda number, points, games, hour: Score(
        account_id=AccountId(UUID(int=number)),
        points=points,
        games=games,
        reached_at=None if hour is None else MONDAY + timedelta(hours=hour),
    ),
    st.integers(0, 2**128 - 1),
    st.integers(0, 3),
    st.integers(0, 2),
    st.none() | st.integers(0, 2),
)


@given(st.lists(scores, max_size=20, unique_by=lambda score: score.account_id), st.sampled_from(Tier), st.randoms())
def test_p53_ranks_are_a_total_order_whatever_came_first(group: list[Score], tier: Tier, dice: object) -> None:
    ranked = rank(tier, group, LEAGUE)
    shuffled = sorted(group, key=lambda _: dice.random())  # type: ignore[attr-defined]
    assert rank(tier, shuffled, LEAGUE) == ranked
    assert [each.rank for each in ranked] == list(range(1, len(ranked) + 1))
    assert {each.score.account_id for each in ranked} == {each.account_id for each in group if each.points}
    keys = [order(each.score) for each in ranked]
    assert keys == sorted(keys) and len(set(keys)) == len(keys)
    assert all(before.score.points >= after.score.points for before, after in pairwise(ranked))


@pytest.mark.parametrize(
    ("ranked", "up", "down"),
    [(1, 1, 0), (2, 1, 0), (3, 1, 0), (4, 2, 0), (7, 3, 0), (10, 4, 0), (11, 4, 0), (12, 4, 4), (20, 4, 4)],
)
def test_p53_the_first_go_up_and_the_last_of_a_full_group_go_down(ranked: int, up: int, down: int) -> None:
    found = [next_tier(Tier.QUEEN, place, ranked, LEAGUE) for place in range(1, ranked + 1)]
    assert found == [Tier.KING] * up + [Tier.QUEEN] * (ranked - up - down) + [Tier.JACK] * down


def test_p53_none_rises_from_ace_and_none_falls_from_jack() -> None:
    assert [next_tier(Tier.ACE, place, 12, LEAGUE) for place in (1, 8, 9, 12)] == [
        Tier.ACE, Tier.ACE, Tier.KING, Tier.KING,
    ]  # fmt: skip
    assert [next_tier(Tier.JACK, place, 12, LEAGUE) for place in (4, 5, 12)] == [Tier.QUEEN, Tier.JACK, Tier.JACK]


def test_p51_the_first_three_of_a_group_win_by_tier() -> None:
    group = [Score(account_id=AccountId(UUID(int=n)), points=10 - n, games=1, reached_at=MONDAY) for n in range(1, 5)]
    paid = {tier: [(each.podium_coins, each.podium_bars) for each in rank(tier, group, LEAGUE)] for tier in Tier}
    assert paid[Tier.JACK] == [(100_000, 50), (80_000, 30), (60_000, 10), (0, 0)]
    assert paid[Tier.ACE] == [(1_200_000, 600), (960_000, 360), (720_000, 120), (0, 0)]


@given(st.lists(st.integers(0, 9), max_size=6), st.integers(1, 5))
def test_p53_groups_are_filled_one_after_the_other_however_they_come(waves: list[int], size: int) -> None:
    last, seats = LastGroup(), list[Seat]()
    ids = iter(range(1000))
    for wave in waves:
        new = fill([AccountId(UUID(int=next(ids))) for _ in range(wave)], last, size)
        seats += new
        if new:
            last = LastGroup(number=new[-1].number, taken=new[-1].position)
    assert [(seat.number, seat.position) for seat in seats] == [
        (index // size + 1, index % size + 1) for index in range(sum(waves))
    ]
