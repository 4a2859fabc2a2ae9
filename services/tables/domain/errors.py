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


class TooManyTables(DomainError):
    """More tables than one question may name."""

    kind = Kind.INVALID
    reason = "TOO_MANY_TABLES"


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


class BadWeek(DomainError):
    """No ISO week, e.g. 2026-W48."""

    kind = Kind.INVALID
    reason = "BAD_WEEK"


class BadLimit(DomainError):
    """More than one answer carries, or less than nothing."""

    kind = Kind.INVALID
    reason = "BAD_LIMIT"


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


class SeatTaken(DomainError):
    """Somebody else sits there."""

    kind = Kind.CONFLICT
    reason = "SEAT_TAKEN"


class AlreadySeated(DomainError):
    """An account has one seat, waiting or playing (X3, E10): `seat` or `table` says where.

    Of a table that is to be dealt, `accounts` are those who sit elsewhere, in hex.
    """

    kind = Kind.CONFLICT
    reason = "ALREADY_SEATED"


class NoSuchSeat(DomainError):
    kind = Kind.INVALID
    reason = "NO_SUCH_SEAT"


class NoTakeOver(DomainError):
    """Seats change hands at friends' tables alone (P22)."""

    kind = Kind.FORBIDDEN
    reason = "NO_TAKE_OVER"


class SpectatorsFull(DomainError):
    """As many watch as may."""

    kind = Kind.EXHAUSTED
    reason = "SPECTATORS_FULL"


class NotHost(DomainError):
    """Only the host may do this (P21)."""

    kind = Kind.FORBIDDEN
    reason = "NOT_HOST"


class GuestsOpenNoTable(DomainError):
    """P42: guests sit down at friends' tables and open none."""

    kind = Kind.FORBIDDEN
    reason = "GUESTS_OPEN_NO_TABLE"


class Barred(DomainError):
    """The host has sent this person away from the table."""

    kind = Kind.FORBIDDEN
    reason = "BARRED"


class TableDealt(DomainError):
    """The game has begun: seats are taken at the live table."""

    kind = Kind.CONFLICT
    reason = "TABLE_DEALT"


class TableClosed(DomainError):
    """Its people had gone, or its host closed it."""

    kind = Kind.CONFLICT
    reason = "TABLE_CLOSED"


class SeatsOccupied(DomainError):
    """People sit on seats that the choice would take away."""

    kind = Kind.CONFLICT
    reason = "SEATS_OCCUPIED"


class BadChoice(DomainError):
    """Not offered at friends' tables; `field` names it."""

    kind = Kind.INVALID
    reason = "BAD_CHOICE"


class BadText(DomainError):
    """Nothing is left of a chat line, or it is too long."""

    kind = Kind.INVALID
    reason = "BAD_TEXT"


class ChatClosed(DomainError):
    """Chat is for the seated, and for spectators where the host lets them (P22)."""

    kind = Kind.FORBIDDEN
    reason = "CHAT_CLOSED"


class Silenced(DomainError):
    """An operator lets nobody hear this account at any table; `until` is when that ends, ISO 8601 (P82)."""

    kind = Kind.FORBIDDEN
    reason = "SILENCED"


class BadSpan(DomainError):
    """Nobody is silenced for less than nothing, or for more than `most` minutes (P82)."""

    kind = Kind.INVALID
    reason = "BAD_SPAN"
