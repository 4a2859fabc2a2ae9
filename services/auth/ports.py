"""What the handlers need of the outside."""

from collections.abc import Collection, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import date, datetime, timedelta
from typing import Protocol
from uuid import UUID

from google.protobuf.message import Message

from libs.chassis.audit import Act, AuditLine
from services.auth.domain.accounts import (
    Account,
    AccountId,
    Device,
    Family,
    Found,
    Letter,
    Login,
    Personal,
    Session,
    SessionId,
    Try,
)
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

    async def use_login(self, login_id: bytes, fails: bytes) -> None:
        """Delete it, and forget the wrong codes that were counted under `fails`."""
        ...

    async def is_home(self, email: str, network: bytes, kept: timedelta) -> bool:
        """Whether the address' account was signed in from that network within `kept`; `network` is a subject's HMAC."""
        ...

    async def add_home(self, account_id: AccountId, network: bytes) -> None:
        """Remember the network."""
        ...

    async def drop_homes(self, account_id: AccountId, keep: int) -> None:
        """Remember no more than the `keep` latest."""
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

    async def account(self, account_id: AccountId) -> Account | None:
        """None for one that was deleted, too; as everywhere here."""
        ...

    async def accounts(self, account_ids: Collection[AccountId]) -> Sequence[Account]:
        """Those that there are."""
        ...

    async def hold_account(self, account_id: AccountId) -> Account | None:
        """Nobody else opens a session of the account, or changes it, until the end."""
        ...

    async def was_deleted(self, account_id: AccountId) -> bool: ...

    async def upgrade_guest(self, account_id: AccountId, email: str, locale: str, now: datetime) -> None:
        """Make the account of a guest that is held (P42)."""
        ...

    async def mark_seen(self, account_id: AccountId, day: date) -> bool:
        """False: it was seen on this platform day or a later one."""
        ...

    async def hold_unseen(self, token_hash: bytes, day: date) -> None:
        """Hold the account whose usable token this is, if it was not seen on this day."""
        ...

    async def named_at(self, account_id: AccountId) -> datetime | None:
        """When it claimed the name it has; None before the first claim."""
        ...

    async def claim_names(self, account_id: AccountId, skeletons: Collection[bytes]) -> bool:
        """Take all of them. False: one is somebody else's, or was lately; roll back, for others may be taken."""
        ...

    async def give_up_names(self, account_id: AccountId, keep: Collection[bytes], held: timedelta) -> None:
        """Of the account's names all but `keep` become free for others after `held`."""
        ...

    async def disown_names(self, account_id: AccountId, held: timedelta) -> None:
        """The same for all of a deleted account's, which they no longer point to."""
        ...

    async def set_name(self, account_id: AccountId, name: str, now: datetime) -> None: ...

    async def set_suspended(self, account_id: AccountId, *, suspended: bool) -> None: ...

    async def forget_login(self, email: str) -> None:
        """Void the code that is on its way to the address, and its letter."""
        ...

    async def erase_account(self, account_id: AccountId) -> None:
        """Delete address, name, sessions, networks and letters; what stays is the id and that it was deleted."""
        ...

    async def personal(self, account_id: AccountId) -> Personal | None: ...

    async def find_by_id(self, account_id: AccountId) -> Sequence[Found]:
        """Deleted ones too."""
        ...

    async def find_by_email(self, email: str) -> Sequence[Found]: ...

    async def find_by_name(self, name: str, at_most: int) -> Sequence[Found]:
        """By the name as it is written, in any case; those that hold it for themselves first. Never guests."""
        ...

    async def record_act(self, act: Act) -> bool:
        """False: done before. Raises ActDiffers."""
        ...

    async def acts(self, *, before: int | None = None, limit: int = 100) -> Sequence[AuditLine]: ...

    async def acts_on(self, subject: str) -> Sequence[tuple[str, datetime]]:
        """What operators did to it and when, oldest first."""
        ...

    async def contact_of(self, account_id: AccountId) -> tuple[str, str] | None:
        """Address and language; None for a guest."""
        ...

    async def insert_session(self, session: Session, device: str, opening_key: bytes) -> None: ...

    async def session_opened(self, opening_key: bytes, idle: timedelta) -> Session | None:
        """The live session that this very request has opened, if its first token was never used."""
        ...

    async def live_sessions(self, account_id: AccountId, idle: timedelta) -> Sequence[SessionId]:
        """Latest used first; none that was unused for `idle`."""
        ...

    async def open_sessions(self, account_id: AccountId) -> Sequence[SessionId]:
        """Those that nobody has ended, the idle and the old ones too."""
        ...

    async def devices(self, account_id: AccountId, idle: timedelta) -> Sequence[Device]:
        """The live sessions, latest used first."""
        ...

    async def owner_of(self, session_id: SessionId) -> AccountId | None:
        """Whose session this is or was."""
        ...

    async def session_opened_at(self, session_id: SessionId, account_id: AccountId) -> datetime | None:
        """When this live session of the account was opened."""
        ...

    async def close_sessions(self, account_id: AccountId) -> None:
        """End all of them without telling anybody: access tokens that are out stay good for their minutes."""
        ...

    async def rotate(self, token_hash: bytes, next_hash: bytes, idle: timedelta) -> Session | None:
        """Replace the usable token of a live session. None: it is not the usable token of any."""
        ...

    async def session_before(self, token_hash: bytes, grace: timedelta) -> Session | None:
        """The live session whose usable token replaced this one within `grace`."""
        ...

    async def family_of(self, token_hash: bytes) -> Family | None:
        """The session that this token belongs to."""
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

    async def sweep(self, home_kept: timedelta) -> None:
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
