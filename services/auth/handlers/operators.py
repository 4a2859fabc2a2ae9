"""What operators do with accounts, each act written down in its transaction (P82)."""

from collections.abc import Sequence
from uuid import UUID

from libs.chassis.audit import Act, AuditLine
from services.auth.domain.accounts import AccountId, Found
from services.auth.domain.addresses import email_of
from services.auth.domain.errors import AccountUnknown, EmailInvalid
from services.auth.handlers.desk import TOPIC, Desk
from services.auth.handlers.sessions import end
from whist.auth.v1.events_pb2 import AccountReinstated, AccountSuspended, AuthEvent

FOUND_MAX = 20
ID_DIGITS = 32


async def suspend(act: Act, account_id: UUID, *, desk: Desk) -> None:
    """Shut the account out and end its sessions; neither a code nor a refresh token lets it in until `reinstate`.

    Idempotent by the act's request id; an account that is shut out already stays so. Raises AccountUnknown, ActDiffers.
    """
    account = AccountId(account_id)
    async with desk.registry.transaction() as tx:
        held = await tx.hold_account(account)
        if held is None:
            raise AccountUnknown
        if not await tx.record_act(act) or held.suspended:
            return
        await tx.set_suspended(account, suspended=True)
        for session_id in await tx.open_sessions(account):
            await end(session_id, tx)
        suspended = AccountSuspended(account_id=account.bytes)
        await tx.publish(TOPIC, account.bytes, AuthEvent(account_suspended=suspended))


async def reinstate(act: Act, account_id: UUID, *, desk: Desk) -> None:
    """Let the account in again. Idempotent like `suspend`. Raises AccountUnknown, ActDiffers."""
    account = AccountId(account_id)
    async with desk.registry.transaction() as tx:
        held = await tx.hold_account(account)
        if held is None:
            raise AccountUnknown
        if not await tx.record_act(act) or not held.suspended:
            return
        await tx.set_suspended(account, suspended=False)
        reinstated = AccountReinstated(account_id=account.bytes)
        await tx.publish(TOPIC, account.bytes, AuthEvent(account_reinstated=reinstated))


async def find_accounts(act: Act, words: str, *, desk: Desk) -> Sequence[Found]:
    """Accounts by id (32 hex digits), e-mail address, or name as it is written; at most twenty.

    Looking is an act too: it shows addresses. What was looked for is not written down, since it may be one.
    Raises ActDiffers.
    """
    words = words.strip()
    async with desk.registry.transaction() as tx:
        await tx.record_act(act)
        if account_id := _id_of(words):
            return await tx.find_by_id(account_id)
        try:
            return await tx.find_by_email(email_of(words))
        except EmailInvalid:
            # PostgreSQL keeps no NUL, so nobody is called by one.
            return [] if "\0" in words else await tx.find_by_name(words, FOUND_MAX)


async def audit_log(before: int | None, limit: int, *, desk: Desk) -> Sequence[AuditLine]:
    """Acts on accounts, newest first, older than the line `before`; None: from the newest."""
    async with desk.registry.transaction() as tx:
        return await tx.acts(before=before, limit=limit)


def _id_of(words: str) -> AccountId | None:
    plain = words.replace("-", "").lower()
    if len(plain) != ID_DIGITS or not all(digit in "0123456789abcdef" for digit in plain):
        return None
    return AccountId(UUID(hex=plain))
