"""Playing at once, without signing in (P42)."""

from dataclasses import dataclass

from services.auth import metrics
from services.auth.domain.accounts import Account, AccountId, SignedIn, device_of
from services.auth.domain.addresses import network_of
from services.auth.domain.errors import AccountSuspended, AccountUnknown
from services.auth.domain.names import ANIMALS, GUEST_NUMBERS, suggested_name
from services.auth.domain.pepper import Opening
from services.auth.handlers.desk import ID_BYTES, Desk, check_id, publish_created, refuse_after
from services.auth.handlers.sessions import answer_again, open_session
from services.auth.ports import Register


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateGuest:
    """`request_id`: 16 bytes that a repeated request repeats."""

    device: str
    network: str
    request_id: bytes


async def create_guest(command: CreateGuest, *, desk: Desk) -> SignedIn:
    """Let somebody play at once (P42). Idempotent by request_id for a day: the same guest, and the same session while
    its first token is unused.

    Raises RateLimited, IdInvalid, DeviceInvalid, NetworkInvalid, AccountSuspended; AccountUnknown when the
    request's guest is a guest no more.
    """
    network, device = network_of(command.network), device_of(command.device)
    check_id("request_id", command.request_id)
    opening = desk.pepper.opening(b"guest", command.request_id)
    name = suggested_name(desk.entropy.below(len(ANIMALS)), desk.entropy.below(GUEST_NUMBERS))
    account_id = AccountId(desk.entropy.uuid7())
    async with desk.registry.transaction() as tx:
        now = await tx.now()
        account = Account(account_id=account_id, name=name, guest=True, created_at=now)
        if not await tx.insert_guest(account, opening.key):
            return await _same_guest(device, opening, tx, desk)
        refuse_after(await tx.count_attempt(desk.pepper.subject(b"guests", network), (desk.guests,)), "network")
        await publish_created(account, tx)
        answer = await open_session(account, device, opening, now, tx, desk, created=True)
    metrics.accounts.labels("guest").inc()
    return answer


async def _same_guest(device: str, opening: Opening, tx: Register, desk: Desk) -> SignedIn:
    """The guest that the request has made. Raises AccountUnknown when it is a guest no more, AccountSuspended."""
    opened = await tx.guest_opened(opening.key)
    guest = None if opened is None else await tx.hold_account(opened.account_id)
    # One that has become an account is entered by a code alone.
    if guest is None or not guest.guest:
        raise AccountUnknown
    if guest.suspended:
        raise AccountSuspended
    if session := await tx.session_opened(opening.key, desk.sign_in.session_idle):
        return await answer_again(session, opening, tx, desk)
    another = desk.pepper.opening(b"guest again", desk.entropy.bytes(ID_BYTES))
    return await open_session(guest, device, another, await tx.now(), tx, desk)
