"""What the handlers need of the outside."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

from google.protobuf.message import Message

from services.auth.domain.accounts import Account, AccountId, Letter, Login, Session, SessionId, Try
from services.auth.domain.limits import Limit


class Register(Protocol):
    """One open transaction over accounts, logins, sessions, limits and the mail queue."""

    async def now(self) -> datetime: ...

    async def publish(self, topic: str, key: bytes, message: Message) -> None: ...

    async def count_attempt(self, subject: bytes, limits: Sequence[Limit]) -> timedelta | None:
        """Count one if every limit allows it. Otherwise nothing is counted: how long until they do.

        Exact among any number of replicas: one conditional statement under the subject's row lock.
        """
        ...

    async def note_attempt(self, subject: bytes) -> None:
        """Count one, whatever the limits."""
        ...

    async def recent_attempts(self, subject: bytes) -> Sequence[datetime]:
        """Moments counted within a day, oldest first."""
        ...

    async def forget_attempts(self, subject: bytes) -> None: ...

    async def serialize(self, subject: bytes) -> None:
        """Let others that name the same subject wait until the end of this transaction."""
        ...

    async def logins_since(self, moment: datetime, at_most: int) -> int:
        """How many addresses asked for a code since `moment`, counted up to `at_most`."""
        ...

    async def login_asked(self, email: str, request_id: bytes) -> Login | None:
        """The live login that this very request has started."""
        ...

    async def put_login(self, login: Login, request_id: bytes) -> None:
        """Start a login; any earlier one of the address is void."""
        ...

    async def take_try(self, login_id: bytes, tries_max: int) -> Try | None:
        """Count a try before anything is compared. None: unknown, expired, void or tried out.

        Until the end nobody else tries this login.
        """
        ...

    async def delete_login(self, login_id: bytes) -> None: ...

    async def is_home(self, email: str, network: bytes) -> bool:
        """Whether the address' account was signed in from that network lately; `network` is a subject's HMAC."""
        ...

    async def add_home(self, account_id: AccountId, network: bytes, keep: int) -> None:
        """Remember the network, and no more than the `keep` latest."""
        ...

    async def insert_guest(self, account: Account, opening_key: bytes) -> bool:
        """False: the request has made its guest already."""
        ...

    async def guest_opened(self, opening_key: bytes) -> Account | None:
        """The guest that this very request has made."""
        ...

    async def insert_account(self, account: Account, email: str, locale: str) -> bool:
        """False: the address has its account already."""
        ...

    async def account_of(self, email: str) -> Account | None:
        """The account of an address, held until the end: whoever opens its sessions holds it."""
        ...

    async def account(self, account_id: AccountId) -> Account | None: ...

    async def hold_account(self, account_id: AccountId) -> None:
        """Nobody else opens a session of the account until the end."""
        ...

    async def contact_of(self, account_id: AccountId) -> tuple[str, str] | None:
        """Address and language; None for a guest."""
        ...

    async def insert_session(self, session: Session, device: str, opening_key: bytes) -> None: ...

    async def session_opened(self, opening_key: bytes) -> Session | None:
        """The live session that this very request has opened, if its first token was never used."""
        ...

    async def live_sessions(self, account_id: AccountId) -> Sequence[SessionId]:
        """Latest used first."""
        ...

    async def rotate(self, token_hash: bytes, next_hash: bytes) -> Session | None:
        """Replace the usable token of a live session. None: it is not the usable token of any."""
        ...

    async def session_before(self, token_hash: bytes, grace: timedelta) -> Session | None:
        """The live session whose usable token replaced this one within `grace`."""
        ...

    async def family_of(self, token_hash: bytes) -> tuple[SessionId, bool] | None:
        """The session that this token belongs to, and whether the token was used already."""
        ...

    async def end_session(self, session_id: SessionId) -> AccountId | None:
        """End a live session. None: it has ended already."""
        ...

    async def post(self, letter: Letter) -> None:
        """Queue mail; it leaves after the commit."""
        ...

    async def claim_mail(self, at_most: int, lease: timedelta) -> Sequence[tuple[Letter, int]]:
        """Letters that are due, and which try it is; nobody else claims them within the lease."""
        ...

    async def postpone_mail(self, mail_id: UUID, pause: timedelta) -> None: ...

    async def delete_mail(self, mail_id: UUID) -> None: ...

    async def drop_expired_mail(self) -> int:
        """How many letters were given up."""
        ...

    async def mails_waiting(self) -> int: ...

    async def sweep(self) -> None:
        """Delete what no request can reach any more."""
        ...


class Registry(Protocol):
    """Opens transactions: committed at the block's end, rolled back when it raises."""

    def transaction(self) -> AbstractAsyncContextManager[Register]: ...


class Signer(Protocol):
    """Signs access tokens and shows the keys that verify them."""

    def sign(self, account: Account, session_id: SessionId, now: datetime) -> tuple[str, datetime]:
        """(token, when it expires)."""
        ...

    def jwks(self) -> str:
        """The public keys as a JWK set, JSON text."""
        ...


class Sealer(Protocol):
    """Encrypts the codes that wait in the mail queue."""

    def seal(self, letter_id: bytes, code: str) -> bytes: ...

    def open(self, letter_id: bytes, sealed: bytes) -> str:
        """Raises ValueError when it was sealed under another pepper or for another letter."""
        ...


class MailFailed(Exception):
    """The letter could not be handed over; the same may be tried again. Says nothing of the address."""


class Mailer(Protocol):
    """Hands one letter to the outside."""

    async def send(self, letter: Letter, code: str) -> None:
        """Raises MailFailed. Sending a letter twice is allowed, and sends it at least once."""
        ...
