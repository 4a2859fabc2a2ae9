"""Days and weeks as the platform counts them: in its own zone, weeks from Monday 00:00; everything stored is UTC.

Moments come from the database's clock; nothing here asks what time it is.
"""

import re
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

ZONE = ZoneInfo("Europe/Bucharest")

_WEEK_ID = re.compile(r"([0-9]{4})-W([0-9]{2})")


def week_id(at: datetime, *, zone: ZoneInfo = ZONE) -> str:
    """The ISO 8601 week, e.g. ``2026-W48``; around new year its year may differ from the date's."""
    return week_id_of(_local(at, zone).date())


def week_id_of(day: date) -> str:
    """The ISO 8601 week of a day."""
    year, week, _ = day.isocalendar()
    return f"{year:04}-W{week:02}"


def day_id(at: datetime, *, zone: ZoneInfo = ZONE) -> str:
    """The date, e.g. ``2026-11-30``."""
    return _local(at, zone).date().isoformat()


def weekday(at: datetime, *, zone: ZoneInfo) -> int:
    """0 = Monday … 6 = Sunday."""
    return _local(at, zone).weekday()


def week_bounds(week: str, *, zone: ZoneInfo = ZONE) -> tuple[datetime, datetime]:
    """First moment of the week and first moment after it, aware UTC; 167 or 169 hours apart when the clocks change.

    Raises ValueError for what is no ISO week.
    """
    match = _WEEK_ID.fullmatch(week)
    if match is None:
        raise ValueError(f"not a week: {week!r}")
    monday = datetime.fromisocalendar(int(match[1]), int(match[2]), 1).replace(tzinfo=zone)
    # Adding days to a zoned datetime moves the wall clock, which is what a week's end is.
    return monday.astimezone(UTC), (monday + timedelta(days=7)).astimezone(UTC)


def _local(at: datetime, zone: ZoneInfo) -> datetime:
    if at.tzinfo is None:
        raise ValueError("a moment without a zone has no day")
    return at.astimezone(zone)
