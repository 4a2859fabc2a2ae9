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


class AccountSuspended(DomainError):
    """An operator has shut the account out (P82)."""

    kind = Kind.FORBIDDEN
    reason = "ACCOUNT_SUSPENDED"


class GuestWouldBeDropped(DomainError):
    """The address has its account already, so the guest who signs in would be lost (P42); the code stays good."""

    kind = Kind.CONFLICT
    reason = "GUEST_WOULD_BE_DROPPED"


class TooManyAccounts(DomainError):
    """More than `most` asked for at once."""

    kind = Kind.INVALID
    reason = "TOO_MANY_ACCOUNTS"


class GuestsClaimNoName(DomainError):
    """A name of one's own needs an account (P42)."""

    kind = Kind.FORBIDDEN
    reason = "GUESTS_CLAIM_NO_NAME"


class NameInvalid(DomainError):
    """No name that anybody may claim; `rule` says which rule it breaks (`domain.names.Rule`)."""

    kind = Kind.INVALID
    reason = "NAME_INVALID"


class NameTaken(DomainError):
    """Somebody holds this name, or one that looks like it, or gave it up lately."""

    kind = Kind.CONFLICT
    reason = "NAME_TAKEN"


class NameTooSoon(DomainError):
    """The next change is free at `next_change_at` (RFC 3339)."""

    kind = Kind.CONFLICT
    reason = "NAME_TOO_SOON"


class SessionUnknown(DomainError):
    """The account has no such session."""

    kind = Kind.NOT_FOUND
    reason = "SESSION_UNKNOWN"


class SignInNotFresh(DomainError):
    """What cannot be undone asks for a sign-in not older than `minutes`: sign in again first."""

    kind = Kind.FORBIDDEN
    reason = "SIGN_IN_NOT_FRESH"
