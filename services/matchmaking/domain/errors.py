"""What matchmaking refuses; nothing has changed when one of these is raised."""

from libs.chassis.errors import DomainError, Kind
from services.matchmaking.domain.ids import AccountId


class UnknownRoom(DomainError):
    """There is no room of this number (P9)."""

    kind = Kind.NOT_FOUND
    reason = "UNKNOWN_ROOM"


class UnknownMode(DomainError):
    """Neither quick nor classic (P1)."""

    kind = Kind.INVALID
    reason = "UNKNOWN_MODE"


class UnknownCoffee(DomainError):
    """A cup that is not on the list (P11)."""

    kind = Kind.INVALID
    reason = "UNKNOWN_COFFEE"


class BadId(DomainError):
    """An id that is not 16 bytes."""

    kind = Kind.INVALID
    reason = "BAD_ID"


class BadName(DomainError):
    """A name that no table could show."""

    kind = Kind.INVALID
    reason = "BAD_NAME"


class GuestsRoom1Only(DomainError):
    """P2."""

    kind = Kind.FORBIDDEN
    reason = "GUESTS_ROOM_1_ONLY"


class GuestsHaveNoCoffee(DomainError):
    """P42."""

    kind = Kind.FORBIDDEN
    reason = "GUESTS_HAVE_NO_COFFEE"


class LevelTooLow(DomainError):
    """The room opens at a higher level (P2)."""

    kind = Kind.FORBIDDEN
    reason = "LEVEL_TOO_LOW"


class NotAVipDay(DomainError):
    """The room is open on the player's VIP days only (P7)."""

    kind = Kind.FORBIDDEN
    reason = "NOT_A_VIP_DAY"


class InsufficientFunds(DomainError):
    """Coins, bars or cups do not cover the entry (P8)."""

    kind = Kind.CONFLICT
    reason = "INSUFFICIENT_FUNDS"


class AccountSuspended(DomainError):
    """An operator has shut the account out (P82)."""

    kind = Kind.FORBIDDEN
    reason = "ACCOUNT_SUSPENDED"


class AccountDeleted(DomainError):
    """There is no such account any more; its last access token may still live (P45)."""

    kind = Kind.FORBIDDEN
    reason = "ACCOUNT_DELETED"


class BadNetwork(DomainError):
    """A network that is neither an IPv4 /24 nor an IPv6 /64."""

    kind = Kind.INVALID
    reason = "BAD_NETWORK"


class AlreadyMatched(DomainError):
    """The match won against the cancelling; from here on leaving is leaving a table (P8)."""

    kind = Kind.CONFLICT
    reason = "ALREADY_MATCHED"


class AlreadySeated(DomainError):
    """An account has one seat (X3, E10): this one sits at `table`, or has sat down elsewhere since it queued."""

    kind = Kind.CONFLICT
    reason = "ALREADY_SEATED"


class SeatedElsewhere(Exception):
    """A table that cannot be dealt with these `accounts`: they sit at another."""

    def __init__(self, accounts: frozenset[AccountId]) -> None:
        super().__init__(accounts)
        self.accounts = accounts


# Not an error to any caller: why a ticket ended whose tables could not be made.
TABLE_FAILED = "TABLE_FAILED"
