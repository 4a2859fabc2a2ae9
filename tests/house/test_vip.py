"""VIP days to the millisecond, and that they stay whose they are (P13, X11)."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from libs.house.calendar import ZONE
from libs.house.vip import PAIRS, is_vip_day, vip_weekdays

KEY = b"a key that players do not know"
MS = timedelta(milliseconds=1)
# One account for each of the 21 pairs of weekdays.
OF_PAIR = {vip_weekdays(number.to_bytes(16, "big"), KEY): number.to_bytes(16, "big") for number in range(400)}


@pytest.mark.parametrize(
    ("edge", "before"),
    [
        ("2026-11-29T22:00", 6),  # a week's end
        ("2026-11-30T22:00", 0),
        ("2026-03-28T22:00", 5),  # the day of 23 hours begins
        ("2026-03-29T21:00", 6),  # and ends with its week
        ("2026-10-24T21:00", 5),  # the day of 25 hours begins
        ("2026-10-25T22:00", 6),  # and ends with its week
        ("2026-12-31T22:00", 3),  # a year's end, in its 53rd week
        ("2027-01-03T22:00", 6),
    ],
)
@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_p13_x11_a_vip_day_begins_and_ends_at_the_platforms_midnight(
    pair: tuple[int, int], edge: str, before: int
) -> None:
    at = datetime.fromisoformat(edge).replace(tzinfo=UTC)
    after = (before + 1) % 7
    shown = [is_vip_day(OF_PAIR[pair], KEY, moment, zone=ZONE) for moment in (at - MS, at, at + MS)]
    assert shown == [before in pair, after in pair, after in pair]


@pytest.mark.parametrize(
    "moment", ["2026-03-29T00:59:59.999", "2026-03-29T01:00", "2026-10-25T00:30", "2026-10-25T01:30"]
)
def test_p13_the_changing_of_the_clocks_neither_ends_nor_begins_a_vip_day(moment: str) -> None:
    at = datetime.fromisoformat(moment).replace(tzinfo=UTC)
    assert {pair for pair, account in OF_PAIR.items() if is_vip_day(account, KEY, at, zone=ZONE)} == {
        pair for pair in PAIRS if 6 in pair
    }


def test_p13_the_pairs_are_equally_likely_for_ids_as_they_are_made() -> None:
    """Ids born one after the other have most of their bytes in common."""
    accounts = 21_000
    born = UUID("0193817c-0000-7000-8000-000000000000").int
    ids = [(born + (number << 66)).to_bytes(16, "big") for number in range(accounts)]
    found = Counter(vip_weekdays(account, KEY) for account in ids)
    expected = accounts / len(PAIRS)
    assert set(found) == set(PAIRS)
    assert sum((seen - expected) ** 2 / expected for seen in found.values()) < 45.3  # 20 degrees of freedom, p = 0.001
    days = Counter(day for pair in found.elements() for day in pair)
    assert all(abs(days[day] - accounts * 2 / 7) < 4 * (accounts * 2 / 7 * 5 / 7) ** 0.5 for day in range(7))


@pytest.mark.parametrize(("number", "days"), [(0, (0, 2)), (1, (4, 6)), (2, (0, 6)), (3, (1, 4)), (2**127, (2, 3))])
def test_p13_an_accounts_days_are_the_same_in_every_release(number: int, days: tuple[int, int]) -> None:
    """Another hash would move everybody's days: players plan by them."""
    assert vip_weekdays(number.to_bytes(16, "big"), KEY) == days
