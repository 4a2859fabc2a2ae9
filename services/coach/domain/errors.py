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


class BadId(DomainError):
    """An id that has no 16 bytes. Facts: `field`, `size`."""

    kind = Kind.INVALID
    reason = "BAD_ID"


class AnalysisUnknown(DomainError):
    """No such finished game, or none in which the account sat: a stranger learns nothing."""

    kind = Kind.NOT_FOUND
    reason = "ANALYSIS_UNKNOWN"


class AnalysisNotOffered(DomainError):
    """Quick and classic games are told to those who had the coach in them: on their VIP days (P13)."""

    kind = Kind.FORBIDDEN
    reason = "ANALYSIS_NOT_OFFERED"


class AnalysisNotYet(DomainError):
    """The game is still being analysed; ask again in a moment."""

    kind = Kind.UNAVAILABLE
    reason = "ANALYSIS_NOT_YET"
