"""Accounts, sessions, logins and letters as values."""

from dataclasses import dataclass
from datetime import datetime
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
