"""The platform's file: what it says today, and that every wrong one is refused by field (P83)."""

import re
import tomllib
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.house.bots import Strength
from libs.house.classic import Grade
from libs.house.experience import DEFAULT
from libs.house.fields import Day, Group, Rows, WrongPlatform, described, read
from libs.house.modes import Coffee
from libs.house.platform import Platform, load, parse
from libs.house.rooms import Room, UnknownRoom

FILE = Path(__file__).parents[2] / "config" / "platform.toml"
PLAIN = tomllib.loads(FILE.read_text(encoding="utf-8"))


def leaves(plain: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of every value that is not a table or list."""
    if isinstance(plain, dict | list):
        items = plain.items() if isinstance(plain, dict) else enumerate(plain)
        for key, value in items:
            yield from leaves(value, (*path, key))
    else:
        yield path


def name_of(path: tuple[Any, ...]) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")


def changed(path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    plain = deepcopy(PLAIN)
    place: Any = plain
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return plain


LEAVES = sorted(leaves(PLAIN), key=str)
NAMED = [path for path in LEAVES if not isinstance(path[-1], int)]  # not those within a list of numbers


def test_p9_the_twelve_rooms_are_those_of_the_spec() -> None:
    rows = [(r.name, r.entry_coins, r.entry_bars, r.prize_coins, r.level, r.vip) for r in load().rooms]
    assert rows == [
        ("Cottage", 0, 0, 100, 1, False),
        ("Mill", 100, 0, 250, 2, False),
        ("Inn", 250, 0, 625, 4, False),
        ("Vineyard", 500, 0, 1_250, 6, False),
        ("Market", 1_000, 0, 2_500, 9, False),
        ("Monastery", 2_500, 0, 6_250, 12, True),
        ("Spa", 5_000, 0, 12_500, 15, False),
        ("Theatre", 10_000, 0, 25_000, 19, False),
        ("Fortress", 25_000, 0, 62_500, 23, False),
        ("Manor", 50_000, 0, 125_000, 28, True),
        ("Castle", 100_000, 10, 250_000, 34, False),
        ("Palace", 250_000, 20, 625_000, 40, True),
    ]


def test_the_numbers_are_those_of_the_spec() -> None:
    platform = load()
    assert platform.zone.key == "Europe/Bucharest"
    assert (platform.signup_gift.coins, platform.signup_gift.cups_each) == (1_000, 10)  # P10
    assert platform.first_game_bars == 5  # P12
    assert platform.weekly_gift.cups_each == 2  # P10
    shop = platform.coffee_shop
    cups = (Coffee.X1_5, Coffee.X2, Coffee.X3, Coffee.X5)
    assert (shop.cups, [shop.price_bars(coffee) for coffee in cups]) == (3, [3, 6, 12, 25])  # P12
    assert platform.experience == DEFAULT  # P43
    assert (platform.turns.bid_ms, platform.turns.play_ms, platform.turns.away_after) == (12_000, 10_000, 2)  # P30
    assert (platform.bots.strength, platform.bots.stand_in) == (Strength.KEEN, Strength.CALM)  # P63
    assert platform.turns.claim_ms == 10_000  # W7
    friends = platform.friends
    assert (friends.one_eight_one, friends.play_min_ms, friends.deserted_ms) == (False, 8_000, 300_000)  # P21, P25
    league, offline = platform.league, platform.offline
    assert (league.group_size, league.up, league.down, league.down_from) == (20, 4, 4, 12)  # P53
    assert (offline.games_a_day, offline.divisor, offline.late_divisor) == (20, 2, 10)  # P43
    assert (friends.bid_seconds, friends.play_share) == ((10, 15, 30, 60), (2, 3))  # P21
    queue = platform.matchmaking
    assert (queue.deal_after_ms, queue.cross_room_after_ms) == (10_000, 1_000)  # P3, P5
    assert (queue.one_tier_apart_after_ms, queue.any_tier_after_ms) == (500, 1_000)  # P4
    codes = platform.sign_in
    assert (codes.code_minutes, codes.tries, codes.sessions, codes.session_days) == (10, 5, 10, 30)  # P40
    assert (codes.codes_minute, codes.codes_hour, codes.codes_day, codes.fails_day) == (1, 5, 20, 50)  # P40
    names = platform.names
    assert (names.length_min, names.length_max, names.change_days, names.held_days) == (3, 16, 30, 180)  # P41
    assert platform.coach.marks == (("A+", 0.3), ("A", 0.7), ("B", 1.3), ("C", 2.0), ("D", 3.0))  # P15, P61


def test_p51_the_podium_pays_by_tier() -> None:
    league = load().league
    paid = [[league.podium_of(tier, place) for place in (1, 2, 3, 4)] for tier in (1, 2, 3, 4)]
    assert paid == [
        [(100_000, 50), (80_000, 30), (60_000, 10), (0, 0)],
        [(200_000, 100), (160_000, 60), (120_000, 20), (0, 0)],
        [(400_000, 200), (320_000, 120), (240_000, 40), (0, 0)],
        [(1_200_000, 600), (960_000, 360), (720_000, 120), (0, 0)],
    ]


def test_p15_grades_earn_a_cup_and_bars_and_the_others_nothing() -> None:
    rewards = load().classic_rewards
    earned = {grade: rewards.of(grade) for grade in (*Grade, "", "A-")}
    assert {grade: (each.coffee, each.bars) for grade, each in earned.items() if each} == {
        Grade.A_PLUS: (Coffee.X3, 3),
        Grade.A: (Coffee.X2, 2),
        Grade.B: (Coffee.X1_5, 1),
    }
    assert (rewards.games_a_day, rewards.run_bars) == (3, 5)


@pytest.mark.parametrize(
    ("day", "a_day", "vip_days_only"),
    [
        ("2026-11-15", 3, False),
        ("2026-11-16", 1, True),
        ("2026-11-30", 1, True),
        ("2027-01-03", 1, True),
    ],
)
def test_p14_three_refunds_a_day_until_the_fifteenth_then_one_on_vip_days(
    day: str, a_day: int, vip_days_only: bool
) -> None:
    rule = load().refund_rule(date.fromisoformat(day))
    assert rule is not None
    assert (rule.a_day, rule.vip_days_only, rule.window) == (a_day, vip_days_only, timedelta(minutes=15))


def test_p14_before_the_first_rule_there_is_no_refund() -> None:
    assert load().refund_rule(date(1999, 12, 31)) is None


@pytest.mark.parametrize(("bid_ms", "play_ms"), [(10_000, 8_000), (15_000, 10_000), (30_000, 20_000), (60_000, 40_000)])
def test_p21_a_card_has_two_thirds_of_the_time_to_bid(bid_ms: int, play_ms: int) -> None:
    assert load().friends.play_ms(bid_ms) == play_ms


def test_p21_one_eight_one_is_offered_when_the_file_says_so() -> None:
    closed, opened = load().friends, parse(changed(("friends", "one_eight_one"), True)).friends
    offered = [mode for mode in ("8-1-8", "8-8-8", "1-8-1", "quick", "bench") if closed.offers({"mode": mode})]
    assert offered == ["8-1-8", "8-8-8"] and opened.offers({"mode": "1-8-1"}) and closed.offers({"target": 5})


def test_a_room_is_found_by_its_number() -> None:
    platform = load()
    assert [platform.room(number).number for number in range(1, 13)] == list(range(1, 13))


@pytest.mark.parametrize("number", [-12, -1, 0, 13, 2**63])
def test_an_unknown_room_is_refused(number: int) -> None:
    with pytest.raises(UnknownRoom):
        load().room(number)


def test_what_is_loaded_cannot_be_changed() -> None:
    room: Any = load().room(1)
    with pytest.raises(AttributeError):
        room.prize_coins = 10**9
    assert isinstance(load().rooms, tuple) and isinstance(room, Room)


@pytest.mark.parametrize("path", NAMED, ids=name_of)
def test_p83_a_missing_value_is_named(path: tuple[Any, ...]) -> None:
    plain = deepcopy(PLAIN)
    place: Any = plain
    for step in path[:-1]:
        place = place[step]
    del place[path[-1]]
    with pytest.raises(WrongPlatform) as refused:
        parse(plain)
    assert refused.value.field == name_of(path)


@pytest.mark.parametrize("value", [None, "n" * 41, 1.5, [], {}, -1, 10**30, "", float("nan")], ids=repr)
@pytest.mark.parametrize("path", LEAVES, ids=name_of)
def test_p83_a_wrong_value_is_named(path: tuple[Any, ...], value: Any) -> None:
    with pytest.raises(WrongPlatform) as refused:
        parse(changed(path, value))
    assert refused.value.field == name_of(path)
    assert name_of(path) in str(refused.value)


@pytest.mark.parametrize(
    "path",
    [path for path in LEAVES if path[-1] not in ("vip", "name", "zone", "one_eight_one", "vip_days_only")],
    ids=name_of,
)
def test_p83_a_flag_is_not_a_number(path: tuple[Any, ...]) -> None:
    with pytest.raises(WrongPlatform) as refused:
        parse(changed(path, True))
    assert refused.value.field == name_of(path)


@pytest.mark.parametrize(
    "path",
    [
        ("bonus",),
        ("turns", "bid_sm"),
        ("rooms", 3, "prize_bars"),
        ("signup_gift", "bars"),
        ("experience", "lost"),
        ("bots", "weak"),
        ("friends", "chairs"),
    ],
    ids=name_of,
)
def test_p83_an_unknown_value_is_named(path: tuple[Any, ...]) -> None:
    with pytest.raises(WrongPlatform) as refused:
        parse(changed(path, 1))
    assert (refused.value.field, refused.value.problem) == (name_of(path), "unknown")


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        (("turns", "bot_max_ms"), 100, "turns.bot_max_ms"),
        (("coach", "grade_hundredths"), [30, 70, 70, 200, 300], "coach.grade_hundredths"),
        (("coach", "grade_hundredths"), [70, 30, 130, 200, 300], "coach.grade_hundredths"),
        (("bots", "strength"), "wild", "bots.strength"),
        (("bots", "strength"), "Keen", "bots.strength"),
        (("bots", "stand_in"), "keen ", "bots.stand_in"),
        (("matchmaking", "any_tier_after_ms"), 499, "matchmaking.any_tier_after_ms"),
        (("experience", "places"), [10, 20, 30], "experience.places"),
        (("league", "down"), 9, "league.down"),
        (("league", "podium_coins"), [1, 2, 3], "league.podium_coins"),
        (("league", "podium_bars"), [10, 30, 50], "league.podium_bars"),
        (("league", "multipliers"), [4, 2, 1, 12], "league.multipliers"),
        (("offline", "late_divisor"), 1, "offline.late_divisor"),
        (("experience", "places"), [30, 20], "experience.places"),
        (("experience", "places"), 30, "experience.places"),
        (("friends", "bid_seconds"), [], "friends.bid_seconds"),
        (("friends", "bid_seconds"), [10, 10], "friends.bid_seconds"),
        (("friends", "play_share"), [3, 2], "friends.play_share"),
        (("sign_in", "longest_delay_seconds"), 29, "sign_in.longest_delay_seconds"),
        (("sign_in", "idle_days"), 31, "sign_in.idle_days"),
        (("names", "length_max"), 2, "names.length_max"),
        (("rooms", 1, "name"), "Cottage", "rooms[1].name"),
        (("refunds",), [], "refunds"),
        (("refunds", 1, "since"), "2000-01-01", "refunds[1].since"),
        (("refunds", 1, "since"), "1999-12-31", "refunds[1].since"),
        (("refunds", 0, "since"), "2026-02-30", "refunds[0].since"),
        (("refunds", 0, "window_minutes"), 0, "refunds[0].window_minutes"),
        (("classic_rewards", "grades", 1, "grade"), "A+", "classic_rewards.grades[1].grade"),
        (("classic_rewards", "grades", 1, "grade"), "A-", "classic_rewards.grades[1].grade"),
        (("classic_rewards", "grades", 0, "cup"), "x4", "classic_rewards.grades[0].cup"),
        (("coffee_shop", "cups"), 0, "coffee_shop.cups"),
        (("rooms", 4, "number"), 6, "rooms[4].number"),
        (("rooms", 4, "level"), 1, "rooms[4].level"),
        (("rooms", 0, "entry_coins"), 1, "rooms[0].entry_coins"),
        (("rooms", 0, "entry_bars"), 1, "rooms[0].entry_bars"),
        (("rooms", 0, "level"), 2, "rooms[0].level"),
        (("rooms", 0, "vip"), True, "rooms[0].vip"),
        (("rooms",), PLAIN["rooms"][:11], "rooms"),
        (("rooms",), [1] * 12, "rooms[0]"),
        (("zone",), "Europe/Atlantis", "zone"),
        (("zone",), "../../etc/passwd", "zone"),
        (("zone",), "Europe", "zone"),
    ],
)
def test_p83_values_that_do_not_fit_together_are_named(path: tuple[Any, ...], value: Any, field: str) -> None:
    with pytest.raises(WrongPlatform) as refused:
        parse(changed(path, value))
    assert refused.value.field == field


def test_p83_every_declared_field_stands_in_the_file() -> None:
    """So that the documents' table, which is written from the declarations, leaves none out."""
    written = {re.sub(r"\[\d+\]", "[]", re.sub(r"\[\d+\]$", "", name_of(path))) for path in LEAVES}
    assert written == {name for name, declared in described(Platform) if not isinstance(declared, Group | Rows)}


def test_p83_a_field_that_says_nothing_of_its_range_is_refused() -> None:
    @dataclass(frozen=True)
    class Careless:
        tips: int

    with pytest.raises(TypeError, match=r"Careless\.tips"):
        read(Careless, {"tips": 1})


@pytest.mark.parametrize("value", ["2026-02-29", "2026-W07-1", "20261116", " 2026-11-16", "2026-11-1٦", 20261116, None])
def test_p83_what_is_no_date_is_named(value: Any) -> None:
    @dataclass(frozen=True)
    class Dated:
        since: Annotated[date, Day("From here on.", "P14")]

    assert read(Dated, {"since": "2026-11-16"}) == Dated(since=date(2026, 11, 16))
    with pytest.raises(WrongPlatform) as refused:
        read(Dated, {"since": value}, "rules[1]")
    assert refused.value.field == "rules[1].since"


def test_p83_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "broken.toml"
    broken.write_bytes(b"zone = \xff")
    for path in (tmp_path / "absent.toml", broken, tmp_path):
        with pytest.raises(WrongPlatform) as refused:
            load(path)
        assert refused.value.field == str(path)


JSONLIKE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.sampled_from(LEAVES), JSONLIKE)
def test_p83_any_value_is_taken_as_it_is_or_refused_by_name(path: tuple[Any, ...], value: Any) -> None:
    try:
        parse(changed(path, value))
    except WrongPlatform as refused:
        assert refused.field
