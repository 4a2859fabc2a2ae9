"""Domain errors: the one way a handler says no.

A `DomainError` subclass names a kind (which decides the status at every edge) and a stable reason that clients
translate by. Statuses are mapped once, in `libs.chassis.rpc.errors` and in the gateway.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import ClassVar


class Kind(StrEnum):
    """What sort of refusal it is; each edge maps the kind to its own status."""

    NOT_FOUND = "not_found"
    INVALID = "invalid"
    CONFLICT = "conflict"
    FORBIDDEN = "forbidden"
    UNAUTHENTICATED = "unauthenticated"
    EXHAUSTED = "exhausted"
    UNAVAILABLE = "unavailable"


class DomainError(Exception):
    """A refusal with facts. Nothing has changed when one is raised.

    `reason` is stable UPPER_SNAKE (``MUST_FOLLOW_SUIT``); `facts` are JSON-able and safe to show to the caller.
    """

    kind: ClassVar[Kind]
    reason: ClassVar[str]

    def __init__(self, **facts: object) -> None:
        super().__init__(self.reason, facts)
        self.facts: Mapping[str, object] = facts


class Refusal(DomainError):
    """A refusal whose kind and reason are known only at run time: one that came over gRPC, or from the engine."""

    def __init__(self, kind: Kind, reason: str, /, **facts: object) -> None:
        self.kind = kind  # type: ignore[misc] # the instance knows what the class cannot
        self.reason = reason  # type: ignore[misc]
        super().__init__(**facts)


class Unavailable(DomainError):
    """The answer is not to be had right now; the same request may be sent again."""

    kind = Kind.UNAVAILABLE
    reason = "UNAVAILABLE"


class DatabaseAway(DomainError):
    """The database is away, full or read-only; what was asked may or may not have been done (ask with the same key)."""

    kind = Kind.UNAVAILABLE
    reason = "DATABASE_AWAY"
