"""Prizes, VIP days, who counts, experience, modes: by the spec's numbers and by their properties."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.house.calendar import ZONE
from libs.house.eligibility import Kind, counts, minimum_bids
from libs.house.experience import Experience, experience_for, game_experience, level_of
from libs.house.modes import Coffee, Mode
from libs.house.platform import load
from libs.house.prizes import prize_coins
from libs.house.vip import PAIRS, is_vip_day, vip_weekdays

KEY = b"a key that players do not know"


@pytest.mark.parametrize(("place", "coins"), [(1, 250), (2, 175), (3, 137), (4, 0), (6, 0)])
def test_p6_the_first_three_places_of_room_2(place: int, coins: int) -> None:
    assert prize_coins(250, place, Coffee.NONE) == coins


def test_p6_third_place_gets_55_percent_of_each_room() -> None:
    for room in load().rooms:
        assert prize_coins(room.prize_coins, 3, Coffee.NONE) == room.prize_coins * 55 // 100


@pytest.mark.parametrize(
    ("coffee", "coins"), [(Coffee.NONE, 55), (Coffee.X1_5, 82), (Coffee.X2, 110), (Coffee.X3, 165), (Coffee.X5, 275)]
)
def test_p11_coffee_multiplies_the_prize(coffee: Coffee, coins: int) -> None:
    assert prize_coins(100, 3, coffee) == coins


@given(st.integers(0, 10**12), st.integers(1, 3), st.sampled_from(Coffee))
def test_p6_there_is_one_rounding_and_it_is_downwards(prize: int, place: int, coffee: Coffee) -> None:
    share = {1: Fraction(1), 2: Fraction(70, 100), 3: Fraction(55, 100)}[place]
    times = {"": Fraction(1), "x1_5": Fraction(3, 2), "x2": Fraction(2), "x3": Fraction(3), "x5": Fraction(5)}[coffee]
    exact = prize * share * times
    assert 0 <= exact - prize_coins(prize, place, coffee) < 1


@pytest.mark.parametrize(("prize", "place"), [(-1, 1), (100, 0), (100, -1)])
def test_no_prize_for_nonsense(prize: int, place: int) -> None:
    with pytest.raises(ValueError, match="no prize"):
        prize_coins(prize, place, Coffee.NONE)


def test_p13_all_pairs_of_weekdays_are_equally_likely() -> None:
    accounts = 21_000
    found = Counter(vip_weekdays(number.to_bytes(16, "big"), KEY) for number in range(accounts))
    assert set(found) == set(PAIRS) and len(PAIRS) == 21
    expected = accounts / 21
    chi_square = sum((seen - expected) ** 2 / expected for seen in found.values())
    assert chi_square < 45.3  # 20 degrees of freedom, p = 0.001


@given(st.binary(min_size=16, max_size=16), st.binary(min_size=1, max_size=32))
def test_p13_an_account_has_two_days_in_each_week(account: bytes, key: bytes) -> None:
    first, second = vip_weekdays(account, key)
    assert 0 <= first < second <= 6
    monday = datetime(2026, 11, 30, 10, tzinfo=UTC)
    for week in range(2):
        days = [monday + timedelta(days=7 * week + day) for day in range(7)]
        assert [day.weekday() for day in days if is_vip_day(account, key, day, zone=ZONE)] == [first, second]


def test_p13_the_days_depend_on_the_key() -> None:
    accounts = [number.to_bytes(16, "big") for number in range(200)]
    same = sum(vip_weekdays(account, b"one key") == vip_weekdays(account, b"another") for account in accounts)
    assert same < 40  # one in 21 by chance


def test_p13_days_without_a_key_are_refused() -> None:
    with pytest.raises(ValueError, match="key"):
        vip_weekdays(bytes(16), b"")


def test_p13_a_vip_day_begins_at_the_platforms_midnight() -> None:
    account = next(a for a in (n.to_bytes(16, "big") for n in range(200)) if vip_weekdays(a, KEY) == (0, 2))
    monday = datetime(2026, 11, 29, 22, tzinfo=UTC)
    assert not is_vip_day(account, KEY, monday - timedelta(milliseconds=1), zone=ZONE)
    assert is_vip_day(account, KEY, monday, zone=ZONE)
    assert is_vip_day(account, KEY, monday + timedelta(hours=24, milliseconds=-1), zone=ZONE)
    assert not is_vip_day(account, KEY, monday + timedelta(hours=24), zone=ZONE)


@pytest.mark.parametrize(
    ("kind", "rounds", "least"),
    [
        ("quick", 6, 4),
        ("quick", 30, 20),
        ("friends", 24, 18),
        ("friends", 27, 21),
        ("friends", 30, 23),
        ("offline", 24, 18),
        ("offline", 6, 5),
    ],
)
def test_p16_the_least_number_of_own_bids(kind: Kind, rounds: int, least: int) -> None:
    assert minimum_bids(kind, rounds) == least
    assert counts(kind, rounds, least, True)
    assert not counts(kind, rounds, least - 1, True)


def test_p16_a_bid_in_the_last_three_rounds_is_needed() -> None:
    assert not counts("quick", 30, 27, False)


def test_p16_a_game_without_rounds_counts_for_nobody() -> None:
    assert not counts("quick", 0, 0, True)


@pytest.mark.parametrize(("level", "needed"), [(1, 0), (2, 100), (3, 300), (4, 600), (12, 6_600), (40, 78_000)])
def test_p43_experience_of_a_level(level: int, needed: int) -> None:
    assert experience_for(level) == needed
    assert level_of(needed) == level
    assert level_of(needed + 1) == level
    assert level == 1 or level_of(needed - 1) == level - 1


@given(st.integers(0, 10**15), st.integers(1, 1_000_000))
def test_p43_a_level_is_the_highest_that_is_reached(experience: int, step: int) -> None:
    numbers = Experience(level_step=step)
    level = level_of(experience, numbers=numbers)
    assert experience_for(level, numbers=numbers) <= experience < experience_for(level + 1, numbers=numbers)


@pytest.mark.parametrize(
    ("bids", "made", "place", "gained"),
    [(6, 6, 1, 140), (6, 0, 2, 90), (6, 3, 3, 95), (6, 3, 4, 75), (4, 0, 6, 40), (30, 18, 1, 440)],
)
def test_p43_what_a_game_gives(bids: int, made: int, place: int, gained: int) -> None:
    assert game_experience(bids, made, place, True) == gained


def test_p16_who_does_not_count_gets_no_experience() -> None:
    assert game_experience(6, 6, 1, False) == 0


@pytest.mark.parametrize(("bids", "made", "place"), [(1, 2, 1), (3, -1, 1), (-1, -1, 1), (3, 1, 0)])
def test_p43_numbers_that_no_game_has_are_refused(bids: int, made: int, place: int) -> None:
    with pytest.raises(ValueError, match="no game"):
        game_experience(bids, made, place, True)


@pytest.mark.parametrize("level", [0, -1])
def test_p43_there_is_no_level_below_one(level: int) -> None:
    with pytest.raises(ValueError, match="no level"):
        experience_for(level)
    with pytest.raises(ValueError, match="no experience"):
        level_of(-1)


def test_p1_the_modes_are_six_handed_romanian_games() -> None:
    assert [(mode.game, dict(mode.options), mode.seats) for mode in Mode] == [
        ("romanian", {"mode": "quick"}, 6),
        ("romanian", {"mode": "8-1-8"}, 6),
    ]


def test_p11_the_kinds_of_coffee() -> None:
    assert [(coffee.value, coffee.bp) for coffee in Coffee] == [
        ("", 10_000), ("x1_5", 15_000), ("x2", 20_000), ("x3", 30_000), ("x5", 50_000),
    ]  # fmt: skip
