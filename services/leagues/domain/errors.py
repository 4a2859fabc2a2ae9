"""How leagues says no."""

from libs.chassis.errors import DomainError, Kind


class BadAccount(DomainError):
    """An account id is 16 bytes."""

    kind = Kind.INVALID
    reason = "BAD_ACCOUNT"


class BadWeek(DomainError):
    """A week is named as ``2026-W48``; weeks that the year does not have are refused too."""

    kind = Kind.INVALID
    reason = "BAD_WEEK"


class BadLimit(DomainError):
    """The leaderboard shows 1 to `most` places."""

    kind = Kind.INVALID
    reason = "BAD_LIMIT"
