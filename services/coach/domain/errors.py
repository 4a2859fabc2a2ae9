"""How coach says no."""

from libs.chassis.errors import DomainError, Kind


class UnknownGame(DomainError):
    """No game of that name, or none that the coach plays."""

    kind = Kind.INVALID
    reason = "UNKNOWN_GAME"


class BadView(DomainError):
    """Not a view that a table shows. Facts: `field` (``tricks[0].winner``; empty: the whole) and `problem`."""

    kind = Kind.INVALID
    reason = "BAD_VIEW"


class NothingToDecide(DomainError):
    """A view of somebody who is not to act."""

    kind = Kind.CONFLICT
    reason = "NOTHING_TO_DECIDE"


class CoachBusy(DomainError):
    """All workers think and the queue is full; the same request may be sent again later."""

    kind = Kind.EXHAUSTED
    reason = "COACH_BUSY"
