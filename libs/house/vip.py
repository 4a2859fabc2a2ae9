"""VIP days: each account has two weekdays, different from player to player, the same each week (P13)."""

import hmac
from datetime import datetime
from itertools import combinations, count
from zoneinfo import ZoneInfo

from libs.house.calendar import weekday

VIP_KEY_LEAST = 16  # characters; a shorter key could be guessed, and everybody's VIP days with it
PAIRS = tuple(combinations(range(7), 2))  # 21
_FAIR = 256 - 256 % len(PAIRS)  # bytes from here on would favour the first pairs


def vip_weekdays(account_id: bytes, key: bytes) -> tuple[int, int]:
    """The account's two weekdays, ascending, 0 = Monday; all 21 pairs equally likely, none guessed without `key`.

    Raises ValueError for an empty key: the days would be public knowledge.
    """
    if not key:
        raise ValueError("VIP days need a key")
    for block in count():
        for byte in hmac.digest(key, b"vip-days\0" + block.to_bytes(4, "big") + account_id, "sha256"):
            if byte < _FAIR:
                return PAIRS[byte % len(PAIRS)]
    raise AssertionError("unreachable: count() does not end")


def is_vip_day(account_id: bytes, key: bytes, at: datetime, *, zone: ZoneInfo) -> bool:
    """Whether `at` (aware) falls on one of the account's VIP days in the platform's zone."""
    return weekday(at, zone=zone) in vip_weekdays(account_id, key)
