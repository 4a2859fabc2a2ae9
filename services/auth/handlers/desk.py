"""What every use case works with, and the few steps that several share."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from math import ceil

from libs.chassis.entropy import Entropy
from services.auth import metrics
from services.auth.domain.accounts import Account
from services.auth.domain.errors import IdInvalid, RateLimited
from services.auth.domain.limits import Limit
from services.auth.domain.pepper import Pepper
from services.auth.ports import Register, Registry, Sealer, Signer
from whist.auth.v1.events_pb2 import AccountCreated, AuthEvent

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
    # Codes an hour from everybody together: what the mail server bears.
    codes_in_all: int
    # Called after mail was queued.
    wake_mail: Callable[[], None]


def check_id(field: str, value: bytes) -> None:
    if len(value) != ID_BYTES:
        raise IdInvalid(field=field, bytes=ID_BYTES)


def request_id_of(value: bytes, entropy: Entropy) -> bytes:
    """The request's id, or one that no other request has."""
    if not value:
        return entropy.bytes(ID_BYTES)
    check_id("request_id", value)
    return value


def refuse_after(wait: timedelta | None, counted: str) -> None:
    """Raises RateLimited when there is something to wait for."""
    if wait is not None:
        metrics.refused.labels(counted).inc()
        raise RateLimited(retry_after_seconds=max(1, ceil(wait.total_seconds())))


async def publish_created(account: Account, tx: Register) -> None:
    created = AccountCreated(account_id=account.account_id.bytes, name=account.name, guest=account.guest)
    await tx.publish(TOPIC, account.account_id.bytes, AuthEvent(account_created=created))
