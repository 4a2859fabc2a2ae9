"""What the wallet says no to."""

from libs.chassis.errors import DomainError, Kind


class InsufficientFunds(DomainError):
    """The account owns less than is asked; nothing is taken. Facts: asset, amount asked."""

    kind = Kind.CONFLICT
    reason = "INSUFFICIENT_FUNDS"


class HoldResolved(DomainError):
    """The hold was paid or released already, or its table will never take one again."""

    kind = Kind.CONFLICT
    reason = "HOLD_RESOLVED"


class HoldDiffers(DomainError):
    """The same table and account hold another entry."""

    kind = Kind.CONFLICT
    reason = "HOLD_DIFFERS"


class RoomUnknown(DomainError):
    """There is no such room. Facts: room."""

    kind = Kind.INVALID
    reason = "UNKNOWN_ROOM"


class BadId(DomainError):
    """Not a 16-byte id. Facts: field."""

    kind = Kind.INVALID
    reason = "BAD_ID"


class BadCoffee(DomainError):
    """No such kind of coffee."""

    kind = Kind.INVALID
    reason = "BAD_COFFEE"


class BadLimit(DomainError):
    """Outside 1..100 (0: the default)."""

    kind = Kind.INVALID
    reason = "BAD_LIMIT"


class BadPosition(DomainError):
    """Not a position that an earlier answer named."""

    kind = Kind.INVALID
    reason = "BAD_POSITION"


class BadWeek(DomainError):
    """No ISO week, e.g. 2026-W48."""

    kind = Kind.INVALID
    reason = "BAD_WEEK"


class GuestsHaveNoCoffee(DomainError):
    """Guests own neither bars nor cups (P42)."""

    kind = Kind.FORBIDDEN
    reason = "GUESTS_HAVE_NO_COFFEE"


class RequestDiffers(DomainError):
    """The request id belongs to another purchase; nothing was bought."""

    kind = Kind.CONFLICT
    reason = "REQUEST_DIFFERS"


class NothingToGrant(DomainError):
    """A correction of nothing."""

    kind = Kind.INVALID
    reason = "NOTHING_TO_GRANT"


class BadAmount(DomainError):
    """More than one transfer may move, or than a balance may hold. Facts: asset."""

    kind = Kind.INVALID
    reason = "BAD_AMOUNT"


class GameUnknown(DomainError):
    """No such game of this account."""

    kind = Kind.NOT_FOUND
    reason = "GAME_UNKNOWN"


class GameRunning(DomainError):
    """It has not finished, or its end has not been heard of."""

    kind = Kind.CONFLICT
    reason = "GAME_RUNNING"


class GameWasVoided(DomainError):
    """Everything has come back already."""

    kind = Kind.CONFLICT
    reason = "GAME_VOIDED"


class GameLeft(DomainError):
    """Leaving on purpose is final (P8)."""

    kind = Kind.FORBIDDEN
    reason = "GAME_LEFT"


class GameNotCounted(DomainError):
    """Too few rounds were bid in person (P16)."""

    kind = Kind.FORBIDDEN
    reason = "GAME_NOT_COUNTED"


class FirstPlace(DomainError):
    """Who was first keeps the game (P14)."""

    kind = Kind.FORBIDDEN
    reason = "FIRST_PLACE"


class NothingToRefund(DomainError):
    """Neither an entry nor a cup was paid."""

    kind = Kind.CONFLICT
    reason = "NOTHING_TO_REFUND"


class RefundTooLate(DomainError):
    """The window after the game's end has passed."""

    kind = Kind.CONFLICT
    reason = "REFUND_TOO_LATE"


class WeekIsClosed(DomainError):
    """The week in which the game finished is over: its prizes stand (X6)."""

    kind = Kind.CONFLICT
    reason = "WEEK_CLOSED"


class NotAVipDay(DomainError):
    """The game did not finish on one of the player's VIP days."""

    kind = Kind.FORBIDDEN
    reason = "NOT_A_VIP_DAY"


class RefundsUsedUp(DomainError):
    """The refunds of the game's day have been used."""

    kind = Kind.CONFLICT
    reason = "REFUNDS_USED_UP"


class InsufficientToReverse(DomainError):
    """What the game won has been spent: the refund fails whole (X5). Facts: asset."""

    kind = Kind.CONFLICT
    reason = "INSUFFICIENT_TO_REVERSE"


class GuestsHaveNoRefund(DomainError):
    """Played as a guest (P42)."""

    kind = Kind.FORBIDDEN
    reason = "GUESTS_HAVE_NO_REFUND"


class AlreadyRefunded(DomainError):
    """Once is all there is (X4)."""

    kind = Kind.CONFLICT
    reason = "ALREADY_REFUNDED"
