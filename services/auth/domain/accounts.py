"""Accounts, sessions, logins and letters as values."""

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import NewType
from uuid import UUID

from services.auth.domain.errors import DeviceInvalid

AccountId = NewType("AccountId", UUID)
SessionId = NewType("SessionId", UUID)

DEVICE_MAX = 64  # characters; what a list of devices can show


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A guest has no address, every other account has one."""

    account_id: AccountId
    name: str
    guest: bool
    created_at: datetime
    # When it became an account: at its first sign-in, or when the guest was upgraded. None of a guest.
    since: datetime | None = None
    # The name is the account's alone (P41).
    named: bool = False
    suspended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """The session that a refresh token belongs to."""

    session_id: SessionId
    # Whether this very token was used before.
    spent: bool
    # Whether the session's account is shut out.
    suspended: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """An open session as its owner sees it."""

    session_id: SessionId
    device: str
    created_at: datetime
    used_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """An account as operators see it."""

    account: Account
    email: str
    deleted: bool
    sessions: int
    # The last use of an open session; None where there is none.
    seen_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Personal:
    """What is held of an account besides its sessions."""

    account: Account
    email: str
    locale: str
    # Day on which it was last here.
    seen_on: date | None
    named_at: datetime | None
    suspended_at: datetime | None
    # Networks are kept as HMACs; these are the moments of the last sign-in from each.
    homes: tuple[datetime, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A family of refresh tokens, of which one at a time may be used."""

    session_id: SessionId
    account_id: AccountId
    # SHA-256 of the token that may be used now.
    token_hash: bytes
    used_at: datetime
    # Absolute; using the session never moves it.
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """A code on its way: at most one an address, so that a new one voids the old."""

    login_id: bytes
    email: str
    code_hash: bytes
    locale: str
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """One counted try at a login's code."""

    email: str
    code_hash: bytes
    locale: str
    # Including this one.
    tries: int
    # When, by the database's clock.
    at: datetime


class LetterKind(StrEnum):
    """What a letter says."""

    CODE = "code"
    SESSION_ENDED = "session_ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """Mail that waits to be sent. `sealed` is the code, encrypted; empty where the letter has none."""

    mail_id: UUID
    kind: LetterKind
    address: str
    locale: str
    sealed: bytes
    # After this the letter is worth nothing and is dropped.
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """What a client holds."""

    access_token: str
    access_expires_at: datetime
    refresh_token: str
    refresh_expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedIn:
    """The answer to whoever proved to be the account's owner."""

    account: Account
    tokens: Tokens
    created: bool = False


def device_of(text: str) -> str:
    """The device's name as it is kept. Raises DeviceInvalid; empty is allowed."""
    if len(text) > DEVICE_MAX or not text.isprintable():
        raise DeviceInvalid(length_max=DEVICE_MAX)
    return text
