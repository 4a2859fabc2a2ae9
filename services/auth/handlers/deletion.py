"""Erasing an account for good, and handing out all that is held of it (P45)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from services.auth import metrics
from services.auth.domain.accounts import AccountId, SessionId
from services.auth.domain.errors import AccountUnknown, SignInNotFresh
from services.auth.handlers.desk import TOPIC, Desk, login_subject
from services.auth.handlers.sessions import end
from services.auth.ports import Register
from whist.auth.v1.events_pb2 import AccountDeleted, AuthEvent


async def delete_account(account_id: UUID, session_id: UUID | None, *, desk: Desk) -> None:
    """Erase address, name, devices, networks and waiting mail for good, and end the sessions (P45).

    `session_id` is the session that asks, when that has to be fresh: opened within `sign_in.fresh_minutes`, by the
    database's clock. A guest has no other way to prove itself than its session, so a guest's may be of any age.
    Idempotent. Raises AccountUnknown, SignInNotFresh.
    """
    account = AccountId(account_id)
    async with desk.registry.transaction() as tx:
        # Before the account is held: a sign-in holds its login first, then the account; and who asks for a code or
        # deletes the same account waits here, or the letter of one and the account of the other are a deadlock.
        if contact := await tx.contact_of(account):
            await tx.serialize(login_subject(contact[0], desk))
            if contact == await tx.contact_of(account):
                await tx.forget_login(contact[0])
        held = await tx.hold_account(account)
        if held is None:
            if await tx.was_deleted(account):
                return
            raise AccountUnknown
        if session_id is not None and not held.guest:
            opened_at = await tx.session_opened_at(SessionId(session_id), account)
            if opened_at is None or await tx.now() > opened_at + desk.sign_in.fresh:
                raise SignInNotFresh(minutes=desk.sign_in.fresh_minutes)
        await erase(account, tx, desk)


async def erase(account_id: AccountId, tx: Register, desk: Desk) -> None:
    """Of an account that the caller holds. Its name stays nobody else's for a while, known by a hash alone (P41)."""
    for session_id in await tx.open_sessions(account_id):
        await end(session_id, tx)
    await tx.disown_names(account_id, desk.names.held)
    await tx.erase_account(account_id)
    await tx.publish(TOPIC, account_id.bytes, AuthEvent(account_deleted=AccountDeleted(account_id=account_id.bytes)))
    metrics.accounts.labels("deleted").inc()


async def export_account(account_id: UUID, *, desk: Desk) -> Mapping[str, Any]:
    """All personal data held here, ready for JSON. Raises AccountUnknown."""
    account = AccountId(account_id)
    async with desk.registry.transaction() as tx:
        held = await tx.personal(account)
        if held is None:
            raise AccountUnknown
        devices = await tx.devices(account, desk.sign_in.session_idle)
        acts = await tx.acts_on(account_id.hex)
    return {
        "account_id": account_id.hex,
        "name": held.account.name,
        "named_at": _text(held.named_at),
        "email": held.email,
        "language": held.locale,
        "guest": held.account.guest,
        "created_at": _text(held.account.created_at),
        "account_since": _text(held.account.since),
        "last_day_here": held.seen_on.isoformat() if held.seen_on else None,
        "suspended_at": _text(held.suspended_at),
        "sessions": [
            {
                "device": device.device,
                "created_at": _text(device.created_at),
                "used_at": _text(device.used_at),
                "expires_at": _text(device.expires_at),
            }
            for device in devices
        ],
        # Which networks they are is not known here: they are kept as keyed hashes.
        "networks_signed_in_from": [{"last_at": _text(moment)} for moment in held.homes],
        "acts_of_operators": [{"act": act, "at": _text(at)} for act, at in acts],
    }


def _text(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
