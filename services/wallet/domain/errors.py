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
