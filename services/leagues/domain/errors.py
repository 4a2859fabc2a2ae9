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


class BadRecord(DomainError):
    """The record is none, does not follow from rules and secret, or is nobody's offline game: `problem` says which."""

    kind = Kind.INVALID
    reason = "BAD_RECORD"


class UnknownGame(DomainError):
    """Not one of the games that are played offline (P44)."""

    kind = Kind.INVALID
    reason = "UNKNOWN_GAME"


class RecordTooLarge(DomainError):
    """A record has at most `most` bytes."""

    kind = Kind.INVALID
    reason = "RECORD_TOO_LARGE"


class GuestsUploadNothing(DomainError):
    """Who has not signed in plays offline for nothing but the game (P44)."""

    kind = Kind.FORBIDDEN
    reason = "GUESTS_UPLOAD_NOTHING"


class UploadsBusy(DomainError):
    """As many records as may wait are waiting here; the same one may be sent again."""

    kind = Kind.EXHAUSTED
    reason = "UPLOADS_BUSY"
