"""Days and weeks in the platform's zone, to the millisecond (X10)."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.house.calendar import ZONE, day_id, week_bounds, week_id, weekday

MS = timedelta(milliseconds=1)
MOMENTS = st.datetimes(datetime(2000, 1, 1), datetime(2099, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("edge", "before", "after"),
    [
        ("2026-11-29T22:00", "2026-W48", "2026-W49"),  # winter: Monday begins at 22:00 UTC on Sunday
        ("2026-07-05T21:00", "2026-W27", "2026-W28"),  # summer: at 21:00
        ("2026-03-29T21:00", "2026-W13", "2026-W14"),  # the week that lost an hour
        ("2026-10-25T22:00", "2026-W43", "2026-W44"),  # the week that gained one
        ("2027-01-03T22:00", "2026-W53", "2027-W01"),  # the 53rd week reaches into the new year
        ("2026-01-04T22:00", "2026-W01", "2026-W02"),
        ("2025-12-28T22:00", "2025-W52", "2026-W01"),  # the first week begins in the old year
    ],
)
def test_x10_a_week_changes_at_its_edge_and_not_a_millisecond_off(edge: str, before: str, after: str) -> None:
    assert week_id(utc(edge) - MS) == before
    assert week_id(utc(edge)) == after
    assert week_id(utc(edge) + MS) == after
    assert weekday(utc(edge) - MS, zone=ZONE) == 6
    assert weekday(utc(edge), zone=ZONE) == 0


@pytest.mark.parametrize(
    ("edge", "before", "after"),
    [
        ("2026-11-29T22:00", "2026-11-29", "2026-11-30"),
        ("2026-03-28T22:00", "2026-03-28", "2026-03-29"),  # the day of 23 hours begins
        ("2026-03-29T21:00", "2026-03-29", "2026-03-30"),  # and ends
        ("2026-10-24T21:00", "2026-10-24", "2026-10-25"),  # the day of 25 hours begins
        ("2026-10-25T22:00", "2026-10-25", "2026-10-26"),  # and ends
        ("2026-12-31T22:00", "2026-12-31", "2027-01-01"),
    ],
)
def test_x10_a_day_changes_at_its_edge_and_not_a_millisecond_off(edge: str, before: str, after: str) -> None:
    assert day_id(utc(edge) - MS) == before
    assert day_id(utc(edge)) == after
    assert day_id(utc(edge) + MS) == after


@pytest.mark.parametrize("moment", ["2026-03-29T00:59:59", "2026-03-29T01:00", "2026-10-25T00:30", "2026-10-25T01:30"])
def test_x10_the_changing_of_the_clocks_does_not_change_the_day(moment: str) -> None:
    assert day_id(utc(moment)) == moment[:10]


@pytest.mark.parametrize(
    ("week", "hours"), [("2026-W48", 168), ("2026-W13", 167), ("2026-W43", 169), ("2026-W53", 168)]
)
def test_x10_a_week_has_the_hours_its_clocks_give_it(week: str, hours: int) -> None:
    start, end = week_bounds(week)
    assert end - start == timedelta(hours=hours)


def test_x10_every_edge_of_three_years_is_where_the_zones_clocks_put_it() -> None:
    """Both clock changes of each year, the 53rd week of 2026 and three new years among them."""
    day = date(2025, 1, 1)
    while day < date(2028, 1, 10):
        edge = datetime(day.year, day.month, day.day, tzinfo=ZONE).astimezone(UTC)
        before = day - timedelta(days=1)
        assert [day_id(edge - MS), day_id(edge), day_id(edge + MS)] == [before.isoformat(), *[day.isoformat()] * 2]
        for moment, of in ((edge - MS, before), (edge, day), (edge + MS, day)):
            year, week, weekday_number = of.isocalendar()
            assert week_id(moment) == f"{year}-W{week:02}" and weekday(moment, zone=ZONE) == weekday_number - 1
        day += timedelta(days=1)
    assert week_bounds("2026-W53") == (utc("2026-12-27T22:00"), utc("2027-01-03T22:00"))


def test_week_bounds_are_utc() -> None:
    assert week_bounds("2026-W48") == (utc("2026-11-22T22:00"), utc("2026-11-29T22:00"))
    assert all(edge.tzinfo is UTC for edge in week_bounds("2026-W48"))


@given(MOMENTS)
def test_a_moment_lies_within_its_own_week(moment: datetime) -> None:
    start, end = week_bounds(week_id(moment))
    assert start <= moment < end
    assert week_id(start) == week_id(end - MS) == week_id(moment) != week_id(end)


@given(MOMENTS)
def test_weeks_follow_each_other_without_a_gap(moment: datetime) -> None:
    _, end = week_bounds(week_id(moment))
    assert week_bounds(week_id(end))[0] == end


@given(MOMENTS, st.sampled_from(["Asia/Tokyo", "America/New_York", "UTC"]))
def test_the_senders_zone_does_not_matter(moment: datetime, zone: str) -> None:
    elsewhere = moment.astimezone(ZoneInfo(zone))
    assert (day_id(elsewhere), week_id(elsewhere)) == (day_id(moment), week_id(moment))


def test_another_zone_may_be_configured() -> None:
    moment = utc("2026-11-29T22:30")
    assert (day_id(moment), day_id(moment, zone=ZoneInfo("UTC"))) == ("2026-11-30", "2026-11-29")


def test_a_moment_without_a_zone_is_refused() -> None:
    for ask in (week_id, day_id, weekday):
        with pytest.raises(ValueError, match="zone"):
            ask(datetime(2026, 11, 30), zone=ZONE)  # noqa: DTZ001


@pytest.mark.parametrize(
    "week",
    [
        "",
        "2026-W00",
        "2026-W54",
        "2025-W53",
        "2026-48",
        "2026-W1",
        "2026-W48 ",
        "20é6-W48",
        "\uff12\uff10\uff12\uff16-W48",
        "2026-W\u0664\u0668",
    ],
)
def test_what_is_no_week_is_refused(week: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        week_bounds(week)
