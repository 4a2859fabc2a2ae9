"""Sessions: opened at a sign-in, carried on by refresh tokens, ended by their owner, by age or by a token's reuse."""

from datetime import datetime, timedelta

import structlog

from libs.chassis.errors import DomainError
from services.auth import metrics
from services.auth.domain.accounts import Account, AccountId, Letter, LetterKind, Session, SessionId, SignedIn, Tokens
from services.auth.domain.errors import RefreshInvalid, RefreshReused
from services.auth.domain.pepper import Opening
from services.auth.domain.refresh import (
    ANSWER_GRACE,
    SESSION_LIFE,
    SESSIONS_MAX,
    refresh_expiry,
    token_hash,
    token_of,
    token_text,
)
from services.auth.handlers.desk import TOPIC, Desk
from services.auth.ports import Register
from whist.auth.v1.events_pb2 import AuthEvent, SessionRevoked

log = structlog.get_logger()

NOTICE_LIFE = timedelta(days=2)  # a warning is worth sending for as long as a mail server may be down


async def refresh(text: str, *, desk: Desk) -> SignedIn:
    """Exchange a refresh token for its successor and a new access token.

    A token whose answer was lost may be sent again for 10 s, while its successor is unused, and is answered alike.
    Raises RefreshInvalid, and RefreshReused: the whole family is over, its sockets are closed, its owner is told.
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
    session = await tx.rotate(used, token_hash(successor)) or await tx.session_before(used, ANSWER_GRACE)
    if session is not None:
        account = await tx.account(session.account_id)
        assert account is not None, "a session's account is never deleted before it"
        return SignedIn(account=account, tokens=_tokens(account, session, successor, await tx.now(), desk))
    match await tx.family_of(used):
        case (session_id, True):
            await _end_reused(session_id, tx, desk)
            return RefreshReused()
        case _:
            return RefreshInvalid()


async def logout(text: str, *, desk: Desk) -> None:
    """End the session that a refresh token, used or not, belongs to. Idempotent; an unknown token ends nothing.

    Raises RefreshInvalid for what is no token at all.
    """
    used = token_hash(token_of(text))
    async with desk.registry.transaction() as tx:
        family = await tx.family_of(used)
        if family is not None:
            await _end(family[0], tx)


async def open_session(
    account: Account, device: str, opening: Opening, now: datetime, tx: Register, desk: Desk, *, created: bool = False
) -> SignedIn:
    """A new family of tokens; the longest unused ones beyond ten end."""
    for stale in (await tx.live_sessions(account.account_id))[SESSIONS_MAX - 1 :]:
        await _end(stale, tx)
    session_id = SessionId(desk.entropy.uuid7())
    token = opening.token(session_id.bytes)
    session = Session(
        session_id=session_id,
        account_id=account.account_id,
        token_hash=token_hash(token),
        used_at=now,
        expires_at=now + SESSION_LIFE,
    )
    await tx.insert_session(session, device, opening.key)
    return SignedIn(account=account, tokens=_tokens(account, session, token, now, desk), created=created)


async def answer_again(session: Session, opening: Opening, tx: Register, desk: Desk) -> SignedIn:
    """What the request that opened `session` was answered, with a fresh access token."""
    account = await tx.account(session.account_id)
    assert account is not None, "a session's account is never deleted before it"
    tokens = _tokens(account, session, opening.token(session.session_id.bytes), await tx.now(), desk)
    # A request that makes an account opens its first session at the same moment.
    return SignedIn(account=account, tokens=tokens, created=account.created_at == session.used_at)


async def _end_reused(session_id: SessionId, tx: Register, desk: Desk) -> None:
    """End a family whose used token came back, and write to its owner."""
    account_id = await _end(session_id, tx)
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


async def _end(session_id: SessionId, tx: Register) -> AccountId | None:
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
        refresh_expires_at=refresh_expiry(session.used_at, session.expires_at),
    )
