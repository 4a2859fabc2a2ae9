"""Refunds to the millisecond (P14, X10, X11): the window, the week's end, the day's rule, summer time, week 53."""

from datetime import UTC, datetime, timedelta

import pytest

from libs.house.calendar import ZONE, day_id, week_bounds, week_id
from libs.house.modes import Coffee
from services.wallet.domain.holds import GameState, Hold, HoldState
from services.wallet.domain.refunds import Offer, RefundCase, day_of, offer
from services.wallet.domain.settled import Finish, SettledSeat
from tests.services.wallet.builders import PLATFORM, new_account, new_table

MILLISECOND = timedelta(milliseconds=1)
WINDOW = timedelta(minutes=15)


def local(text: str, fold: int = 0) -> datetime:
    """A moment in Bucharest; `fold` 1: the second time the clock shows it."""
    return datetime.fromisoformat(text).replace(tzinfo=ZONE, fold=fold).astimezone(UTC)


def asked(finished_at: datetime, now: datetime, *, used: int = 0, vip_day: bool = True) -> Offer:
    """A second place of room 2 that finished then, by the rules of the shipped file."""
    account_id, table_id = new_account(), new_table()
    finish = Finish(
        table_id=table_id,
        week_id=week_id(finished_at, zone=ZONE),
        day_id=day_id(finished_at, zone=ZONE),
        finished_at=finished_at,
        classic=False,
    )
    hold = Hold(
        table_id=table_id, account_id=account_id, room=2, coffee=Coffee.NONE, coins=100, bars=0, state=HoldState.PAID
    )
    seat = SettledSeat(account_id=account_id, guest=False, room=2, place=2, counts=True, vacated=False)
    case = RefundCase(
        state=GameState.FINISHED, hold=hold, finish=finish, seat=seat, won=(), undone=None, owned={}, used=used,
        sealed=False,
    )  # fmt: skip
    return offer(case, rule=PLATFORM.refund_rule(day_of(finish)), vip_day=vip_day, now=now, zone=ZONE)


def reason(found: Offer) -> str:
    return "" if found.refused is None else found.refused.reason


@pytest.mark.parametrize(
    "finished_at",
    [
        local("2026-11-10T20:00"),
        local("2026-03-29T02:50"),  # the clock jumps from 3 to 4 ten minutes later
        local("2026-10-25T03:50"),  # and goes back from 4 to 3
        local("2026-10-25T03:50", fold=1),
        local("2027-03-28T02:50"),
        local("2027-10-31T03:55"),
        local("2026-12-31T23:50"),  # a new year in the middle of week 53
        local("2026-11-30T23:50"),  # a new day
    ],
)
def test_p14_the_window_is_fifteen_minutes_to_the_millisecond_whatever_the_wall_clock_does(
    finished_at: datetime,
) -> None:
    end = finished_at + WINDOW
    assert asked(finished_at, end).until == end
    assert [reason(asked(finished_at, end + step)) for step in (-MILLISECOND, 0 * MILLISECOND, MILLISECOND)] == [
        "", "REFUND_TOO_LATE", "REFUND_TOO_LATE",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "week",
    [
        "2026-W13",  # 167 hours: Sunday 2026-03-29 has 23
        "2026-W43",  # 169 hours: Sunday 2026-10-25 has 25
        "2027-W12",
        "2027-W43",
        "2026-W46",  # Sunday 2026-11-15, the last day of three refunds
        "2026-W53",  # ends on Sunday 2027-01-03
        "2020-W53",
    ],
)
def test_x10_a_refund_never_crosses_the_weeks_end(week: str) -> None:
    _, end = week_bounds(week, zone=ZONE)
    finished_at = end - timedelta(minutes=5)
    assert asked(finished_at, finished_at).until == end
    assert [reason(asked(finished_at, end + step)) for step in (-MILLISECOND, 0 * MILLISECOND, MILLISECOND)] == [
        "", "WEEK_CLOSED", "WEEK_CLOSED",
    ]  # fmt: skip
    last, first = end - MILLISECOND, end
    assert (week_id(last, zone=ZONE), week_id(first, zone=ZONE) != week) == (week, True)
    assert reason(asked(last, last)) == ""
    assert reason(asked(last, first)) == "WEEK_CLOSED"
    assert asked(first, first).until == first + WINDOW


def test_x10_where_window_and_week_end_together_it_is_the_window_that_ends() -> None:
    _, end = week_bounds("2026-W45", zone=ZONE)
    assert reason(asked(end - WINDOW, end)) == "REFUND_TOO_LATE"
    assert reason(asked(end - WINDOW + MILLISECOND, end)) == "WEEK_CLOSED"


def test_p14_the_rule_is_that_of_the_day_on_which_the_game_finished() -> None:
    change = local("2026-11-16T00:00")
    before, after = change - MILLISECOND, change
    assert (asked(before, before).left_today, asked(after, after).left_today) == (3, 1)
    # The old rule looks at no VIP day, and counts three; but that Sunday's games end with their week.
    assert reason(asked(before, before, vip_day=False, used=2)) == ""
    assert reason(asked(before, before, used=3)) == "REFUNDS_USED_UP"
    assert reason(asked(before, after)) == "WEEK_CLOSED"
    assert reason(asked(after, after, vip_day=False)) == "NOT_A_VIP_DAY"
    assert reason(asked(after, after, used=1)) == "REFUNDS_USED_UP"


@pytest.mark.parametrize("date", ["2026-03-29", "2026-10-25", "2026-12-31", "2027-03-28", "2027-10-31", "2026-11-18"])
def test_x11_a_game_at_midnight_is_of_the_day_that_its_last_millisecond_was_in(date: str) -> None:
    midnight = local(f"{date}T00:00")
    days = [day_id(midnight + step, zone=ZONE) for step in (-MILLISECOND, 0 * MILLISECOND)]
    assert days[1] == date > days[0]
    # Asked after midnight, a game of the day before still is of that day.
    found = asked(midnight - MILLISECOND, midnight + MILLISECOND)
    assert (found.until, reason(found)) == (midnight - MILLISECOND + WINDOW, "")


def test_p14_before_the_first_rule_nothing_is_given_back() -> None:
    long_ago = local("1999-12-31T12:00")
    assert (reason(asked(long_ago, long_ago)), asked(long_ago, long_ago).left_today) == ("REFUNDS_USED_UP", 0)
