"""Sessions: opened at a sign-in, carried on by refresh tokens, ended by their owner, by age or by a token's reuse."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

import structlog

from libs.chassis.errors import DomainError
from services.auth import metrics
from services.auth.domain.accounts import (
    Account,
    AccountId,
    Device,
    Letter,
    LetterKind,
    Session,
    SessionId,
    SignedIn,
    Tokens,
)
from services.auth.domain.errors import AccountSuspended, RefreshInvalid, RefreshReused, SessionUnknown
from services.auth.domain.pepper import Opening
from services.auth.domain.refresh import (
    ANSWER_GRACE,
    refresh_expiry,
    token_hash,
    token_of,
    token_text,
)
from services.auth.handlers.desk import TOPIC, Desk, note_seen
from services.auth.ports import Register
from whist.auth.v1.events_pb2 import AuthEvent, SessionRevoked

log = structlog.get_logger()

NOTICE_LIFE = timedelta(days=2)  # a warning is worth sending for as long as a mail server may be down


async def refresh(text: str, *, desk: Desk) -> SignedIn:
    """Exchange a refresh token for its successor and a new access token.

    A token whose answer was lost may be sent again for 10 s, while its successor is unused, and is answered alike.
    Raises RefreshInvalid, AccountSuspended, and RefreshReused: the whole family is over, its sockets are closed, its
    owner is told.
    """
    token = token_of(text)
    async with desk.registry.transaction() as tx:
        answer = await _rotate(token, tx, desk)
    if isinstance(answer, DomainError):
        metrics.refreshes.labels(answer.reason.lower()).inc()
        if isinstance(answer, RefreshReused):
            desk.wake_mail()
        raise answer
    metrics.refreshes.labels("rotated").inc()
    return answer


async def _rotate(token: bytes, tx: Register, desk: Desk) -> SignedIn | DomainError:
    """The successor, or the refusal to raise once the family's end is committed."""
    used, successor = token_hash(token), desk.pepper.successor(token)
    now = await tx.now()
    # Whoever ends an account's sessions holds the account first; so do we on the one refresh a day that changes both.
    await tx.hold_unseen(used, desk.day(now))
    session = await tx.rotate(used, token_hash(successor), desk.sign_in.session_idle)
    session = session or await tx.session_before(used, ANSWER_GRACE)
    if session is not None:
        account = await tx.account(session.account_id)
        assert account is not None, "a session's account is never deleted before it"
        await note_seen(account, now, tx, desk)
        return SignedIn(account=account, tokens=_tokens(account, session, successor, now, desk))
    family = await tx.family_of(used)
    if family is None:
        return RefreshInvalid()
    if family.suspended:
        return AccountSuspended()
    if family.spent:
        await _end_reused(family.session_id, tx, desk)
        return RefreshReused()
    return RefreshInvalid()


async def logout(text: str, *, desk: Desk) -> None:
    """End the session that a refresh token, used or not, belongs to. Idempotent; an unknown token ends nothing.

    Raises RefreshInvalid for what is no token at all.
    """
    used = token_hash(token_of(text))
    async with desk.registry.transaction() as tx:
        family = await tx.family_of(used)
        if family is not None:
            await end(family.session_id, tx)


async def list_sessions(account_id: UUID, *, desk: Desk) -> Sequence[Device]:
    """The account's open sessions, latest used first; none of an account that nobody has."""
    async with desk.registry.transaction() as tx:
        return await tx.devices(AccountId(account_id), desk.sign_in.session_idle)


async def revoke_session(account_id: UUID, session_id: UUID, *, desk: Desk) -> None:
    """End one of the account's own sessions, its sockets too. Idempotent. Raises SessionUnknown, also for another's."""
    async with desk.registry.transaction() as tx:
        if await tx.owner_of(SessionId(session_id)) != account_id:
            raise SessionUnknown
        await end(SessionId(session_id), tx)


async def open_session(
    account: Account, device: str, opening: Opening, now: datetime, tx: Register, desk: Desk, *, created: bool = False
) -> SignedIn:
    """A new family of tokens; the longest unused ones beyond ten end. The caller holds the account.

    One that was `created` in this transaction has no others.
    """
    live = () if created else await tx.live_sessions(account.account_id, desk.sign_in.session_idle)
    for stale in live[desk.sign_in.sessions - 1 :]:
        await end(stale, tx)
    session_id = SessionId(desk.entropy.uuid7())
    token = opening.token(session_id.bytes)
    session = Session(
        session_id=session_id,
        account_id=account.account_id,
        token_hash=token_hash(token),
        used_at=now,
        expires_at=now + desk.sign_in.session_life,
    )
    await tx.insert_session(session, device, opening.key)
    return SignedIn(account=account, tokens=_tokens(account, session, token, now, desk), created=created)


async def answer_again(session: Session, opening: Opening, tx: Register, desk: Desk) -> SignedIn:
    """What the request that opened `session` was answered, with a fresh access token."""
    account = await tx.account(session.account_id)
    assert account is not None, "a session's account is never deleted before it"
    tokens = _tokens(account, session, opening.token(session.session_id.bytes), await tx.now(), desk)
    # A request that makes an account opens its first session at the same moment.
    return SignedIn(account=account, tokens=tokens, created=(account.since or account.created_at) == session.used_at)


async def _end_reused(session_id: SessionId, tx: Register, desk: Desk) -> None:
    """End a family whose used token came back, and write to its owner."""
    account_id = await end(session_id, tx)
    if account_id is None:
        return
    log.warning("refresh_reused", account_id=str(account_id), session_id=str(session_id))
    if contact := await tx.contact_of(account_id):
        address, locale = contact
        await tx.post(
            Letter(
                mail_id=desk.entropy.uuid7(),
                kind=LetterKind.SESSION_ENDED,
                address=address,
                locale=locale,
                sealed=b"",
                expires_at=await tx.now() + NOTICE_LIFE,
            )
        )


async def end(session_id: SessionId, tx: Register) -> AccountId | None:
    """End a session and tell the gateways; None when it has ended already."""
    account_id = await tx.end_session(session_id)
    if account_id is not None:
        revoked = SessionRevoked(account_id=account_id.bytes, session_id=session_id.bytes)
        await tx.publish(TOPIC, account_id.bytes, AuthEvent(session_revoked=revoked))
        metrics.sessions_ended.inc()
    return account_id


def _tokens(account: Account, session: Session, token: bytes, now: datetime, desk: Desk) -> Tokens:
    access_token, access_expires_at = desk.signer.sign(account, session.session_id, now)
    return Tokens(
        access_token=access_token,
        access_expires_at=access_expires_at,
        refresh_token=token_text(token),
        refresh_expires_at=refresh_expiry(session.used_at, session.expires_at, desk.sign_in.session_idle),
    )
