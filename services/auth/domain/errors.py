"""Every way in which auth says no. None of them tells whether an address has an account."""

from libs.chassis.errors import DomainError, Kind, Unavailable


class EmailInvalid(DomainError):
    """Not an address that mail can be sent to."""

    kind = Kind.INVALID
    reason = "EMAIL_INVALID"


class NetworkInvalid(DomainError):
    """Not an IPv4 or IPv6 address."""

    kind = Kind.INVALID
    reason = "NETWORK_INVALID"


class IdInvalid(DomainError):
    """An id of the wrong size; `field` names it."""

    kind = Kind.INVALID
    reason = "ID_INVALID"


class DeviceInvalid(DomainError):
    """Longer than 64 characters, or with characters that cannot be shown."""

    kind = Kind.INVALID
    reason = "DEVICE_INVALID"


class CodeMalformed(DomainError):
    """Not eight decimal digits; does not count as a try."""

    kind = Kind.INVALID
    reason = "CODE_MALFORMED"


class CodeWrong(DomainError):
    """Counted; `tries_left` may be made on this code."""

    kind = Kind.UNAUTHENTICATED
    reason = "CODE_WRONG"


class CodeSpent(DomainError):
    """Used, expired, replaced by a newer one, tried five times, or never sent: ask for a new one."""

    kind = Kind.UNAUTHENTICATED
    reason = "CODE_SPENT"


class RateLimited(DomainError):
    """Too many; worth trying again in `retry_after_seconds`."""

    kind = Kind.EXHAUSTED
    reason = "RATE_LIMITED"


class SignInPaused(Unavailable):
    """More codes were asked for within the hour than the operator lets out."""

    reason = "SIGN_IN_PAUSED"


class RefreshInvalid(DomainError):
    """No session, or one that has ended."""

    kind = Kind.UNAUTHENTICATED
    reason = "REFRESH_INVALID"


class RefreshReused(DomainError):
    """A token came back after its successor was in use: somebody holds a copy, so the session is over."""

    kind = Kind.UNAUTHENTICATED
    reason = "REFRESH_REUSED"


class AccountUnknown(DomainError):
    """No account has this id."""

    kind = Kind.NOT_FOUND
    reason = "ACCOUNT_UNKNOWN"
