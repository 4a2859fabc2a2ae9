"""What every use case works with, and the few steps that several share."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from math import ceil
from zoneinfo import ZoneInfo

from libs.chassis.entropy import Entropy
from libs.house.calendar import day_id
from libs.house.sign_in import Names, SignIn
from services.auth import metrics
from services.auth.domain.accounts import Account
from services.auth.domain.errors import IdInvalid, RateLimited
from services.auth.domain.limits import Limit
from services.auth.domain.pepper import Pepper
from services.auth.ports import Register, Registry, Sealer, Signer
from whist.auth.v1.events_pb2 import AccountCreated, AccountSeen, AuthEvent, GuestUpgraded

TOPIC = "whist.auth.events.v1"
ID_BYTES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What every use case works with; `guests` and `codes` limit one network's hour."""

    registry: Registry
    pepper: Pepper
    entropy: Entropy
    signer: Signer
    sealer: Sealer
    codes: Limit
    guests: Limit
    # The platform's numbers, and where its days are counted.
    sign_in: SignIn
    names: Names
    zone: ZoneInfo
    # Codes an hour from everybody together: what the mail server bears.
    codes_in_all: int
    # Called after mail was queued.
    wake_mail: Callable[[], None]

    def day(self, moment: datetime) -> date:
        """The platform day of a moment of the database's clock."""
        return date.fromisoformat(day_id(moment, zone=self.zone))


def check_id(field: str, value: bytes) -> None:
    if len(value) != ID_BYTES:
        raise IdInvalid(field=field, bytes=ID_BYTES)


def request_id_of(value: bytes, entropy: Entropy) -> bytes:
    """The request's id, or one that no other request has."""
    if not value:
        return entropy.bytes(ID_BYTES)
    check_id("request_id", value)
    return value


def login_subject(email: str, desk: Desk) -> bytes:
    """What `serialize` takes of an address: one at a time asks for its code, or deletes its account."""
    return desk.pepper.subject(b"login", email.encode())


def refuse_after(wait: timedelta | None, counted: str) -> None:
    """Raises RateLimited when there is something to wait for."""
    if wait is not None:
        metrics.refused.labels(counted).inc()
        raise RateLimited(retry_after_seconds=max(1, ceil(wait.total_seconds())))


async def publish_created(account: Account, tx: Register) -> None:
    created = AccountCreated(account_id=account.account_id.bytes, name=account.name, guest=account.guest)
    await _publish(account, AuthEvent(account_created=created), account.created_at, tx)


async def publish_upgraded(account: Account, tx: Register) -> None:
    upgraded = GuestUpgraded(account_id=account.account_id.bytes, name=account.name)
    await tx.publish(TOPIC, account.account_id.bytes, AuthEvent(guest_upgraded=upgraded))


async def _publish(account: Account, event: AuthEvent, now: datetime, tx: Register) -> None:
    """An event of the moment that the transaction has asked for already."""
    event.occurred_at.FromDatetime(now)
    await tx.publish(TOPIC, account.account_id.bytes, event)


async def note_seen(account: Account, now: datetime, tx: Register, desk: Desk) -> None:
    """Tell once an account and platform day that it is here, whatever it does and however often (P10); never of guests.

    Whoever calls it holds the account or no row that another holds while it waits for the account.
    """
    if account.since is None:
        return
    day = desk.day(now)
    if await tx.mark_seen(account.account_id, day):
        seen = AccountSeen(account_id=account.account_id.bytes, day_id=day.isoformat())
        seen.account_since.FromDatetime(account.since)
        await _publish(account, AuthEvent(account_seen=seen), now, tx)
