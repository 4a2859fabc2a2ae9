"""Why a table says no."""

from libs.chassis.errors import DomainError, Kind


class TableUnknown(DomainError):
    kind = Kind.NOT_FOUND
    reason = "TABLE_UNKNOWN"


class TableFinished(DomainError):
    kind = Kind.CONFLICT
    reason = "TABLE_FINISHED"


class TableAbandoned(DomainError):
    """A tombstone stands: this table will never be dealt."""

    kind = Kind.CONFLICT
    reason = "TABLE_ABANDONED"


class TableUnowned(DomainError):
    """Its worker has gone and no other has taken over yet: try again."""

    kind = Kind.UNAVAILABLE
    reason = "UNAVAILABLE"


class GameRunning(DomainError):
    kind = Kind.CONFLICT
    reason = "GAME_RUNNING"


class NotAtTable(DomainError):
    kind = Kind.FORBIDDEN
    reason = "NOT_AT_TABLE"


class Draining(DomainError):
    """This worker takes no new tables; another will."""

    kind = Kind.UNAVAILABLE
    reason = "UNAVAILABLE"


class BadOptions(DomainError):
    kind = Kind.INVALID
    reason = "BAD_OPTIONS"


class BadId(DomainError):
    kind = Kind.INVALID
    reason = "BAD_ID"


class StaleTurn(DomainError):
    """The decision it answers has been made already."""

    kind = Kind.CONFLICT
    reason = "STALE_TURN"


class SeatLeft(DomainError):
    """This person has left the seat for good (P8)."""

    kind = Kind.CONFLICT
    reason = "SEAT_LEFT"


class GameOver(DomainError):
    kind = Kind.CONFLICT
    reason = "GAME_OVER"


class TableBusy(DomainError):
    """More commands wait than any honest client sends."""

    kind = Kind.EXHAUSTED
    reason = "TABLE_BUSY"
