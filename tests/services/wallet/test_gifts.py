"""Gifts that no game gives (P10, P42, P51; E9, X9, X10)."""

import asyncio
from datetime import UTC, date, datetime, timedelta

import pytest

from libs.house.calendar import ZONE
from services.wallet.domain.gifts import WEEKS_MAX, mondays
from tests.services.wallet.builders import (
    SIGNUP,
    Wallet,
    created,
    new_account,
    podium_won,
    seen,
    upgraded,
)

MILLISECOND = timedelta(milliseconds=1)
CUPS = ("cup_x1_5", "cup_x2", "cup_x3", "cup_x5")


def local(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZONE).astimezone(UTC)


def weeks(since: datetime, day: str) -> list[str]:
    return list(mondays(since, date.fromisoformat(day), zone=ZONE))


@pytest.mark.parametrize(
    ("since", "day", "due"),
    [
        ("2026-11-28T12:00", "2026-11-29", []),  # Saturday, Sunday
        ("2026-11-28T12:00", "2026-11-30", ["2026-W49"]),
        ("2026-11-30T00:00", "2026-12-06", []),  # a Monday: the next one is the first
        ("2026-11-30T00:00", "2026-12-07", ["2026-W50"]),
        ("2026-11-28T12:00", "2026-12-20", ["2026-W49", "2026-W50", "2026-W51"]),
        ("2026-12-26T12:00", "2027-01-11", ["2026-W53", "2027-W01", "2027-W02"]),  # the year of the week
        ("2026-03-25T12:00", "2026-03-30", ["2026-W14"]),  # a week of 167 hours
        ("2026-10-21T12:00", "2026-10-26", ["2026-W44"]),  # of 169
        ("2026-12-01T12:00", "2026-11-30", []),  # a day before the account
    ],
)
def test_p10_mondays_cups_are_due_from_the_first_monday_after_the_accounts_day(
    since: str, day: str, due: list[str]
) -> None:
    assert weeks(local(since), day) == due


def test_x10_a_millisecond_before_monday_is_another_week_in_the_platforms_zone() -> None:
    monday = local("2026-11-30T00:00")
    assert weeks(monday - MILLISECOND, "2026-11-30") == ["2026-W49"]
    assert weeks(monday, "2026-11-30") == []
    assert monday.hour == 22  # Sunday evening in Greenwich


def test_x17_a_moment_that_can_only_be_wrong_is_refused() -> None:
    with pytest.raises(ValueError, match="too far apart"):
        weeks(datetime(1970, 1, 1, tzinfo=UTC), "2026-11-30")
    assert (
        len(weeks(local("2026-11-30T12:00"), (date(2026, 11, 30) + timedelta(weeks=WEEKS_MAX)).isoformat()))
        == WEEKS_MAX
    )


async def test_p10_missed_weeks_are_made_up_when_the_account_is_seen(wallet: Wallet) -> None:
    account, since = await wallet.account(), local("2026-11-05T10:00")
    for day, cups in (("2026-11-08", 10), ("2026-11-10", 12), ("2026-11-12", 12), ("2026-12-01", 18)):
        await wallet.take(seen(account, day, since))
        owned = await wallet.owned(account)
        assert [owned[cup] for cup in CUPS] == [cups] * 4
    gifts = [event.gift_given for event in await wallet.events(account)]
    assert [gift.reason for gift in gifts] == ["signup", *["weekly_cups"] * 4]
    assert (gifts[1].assets.cups_x1_5, gifts[1].assets.cups_x5, gifts[1].assets.coins) == (2, 2, 0)


async def test_x9_days_out_of_order_and_again_give_each_week_once(wallet: Wallet) -> None:
    account, since = await wallet.account(), local("2026-10-01T10:00")
    events = [seen(account, f"2026-11-{day:02}", since) for day in range(1, 30)]
    await wallet.take(*reversed(events), *events)
    assert (await wallet.owned(account))["cup_x2"] == 10 + 2 * 8


async def test_x9_fifty_at_once_give_each_monday_once(wallet: Wallet) -> None:
    account, since = await wallet.account(), local("2026-11-10T10:00")
    await asyncio.gather(*(wallet.take(seen(account, "2026-11-30", since)) for _ in range(50)))
    assert (await wallet.owned(account))["cup_x3"] == 16
    assert (await wallet.told(account)).count("gift_given") == 1 + 3


async def test_x20_a_guest_who_signs_in_is_welcomed_once(wallet: Wallet) -> None:
    account = new_account()
    await wallet.take(created(account, guest=True))
    assert await wallet.owned(account) == {}
    await wallet.take(upgraded(account), upgraded(account), created(account))
    assert await wallet.owned(account) == SIGNUP


async def test_p51_the_podium_is_paid_once_an_account_and_week(wallet: Wallet) -> None:
    account = await wallet.account()
    won = podium_won(account, "2026-W48", 1_200_000, 600)
    await asyncio.gather(*(wallet.take(won) for _ in range(50)))
    # Another amount for the same week is not another podium.
    await wallet.take(podium_won(account, "2026-W48", 1, 1), podium_won(account, "2026-W49", 60_000, 10))
    owned = await wallet.owned(account)
    assert (owned["coin"], owned["bar"]) == (1000 + 1_260_000, 610)
    assert [event.gift_given.reason for event in await wallet.events(account)] == ["signup", "podium", "podium"]


@pytest.mark.parametrize(
    ("week", "coins", "bars"),
    [
        ("2026-W48", -1, 0),
        ("2026-W48", 10**12 + 1, 0),
        ("2026-W48", 0, -(2**63)),
        ("2026-W48", 2**53, 2**63 - 1),
        ("", 1, 1),
    ],
)
async def test_x17_a_podium_that_can_only_be_wrong_changes_nothing(
    wallet: Wallet, week: str, coins: int, bars: int
) -> None:
    account = await wallet.account()
    before = await wallet.state()
    with pytest.raises(ValueError, match=r"podium|week"):
        await wallet.take(podium_won(account, week, coins, bars))
    assert await wallet.state() == before
