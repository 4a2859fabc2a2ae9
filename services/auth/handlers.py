"""Use cases of auth, one transaction each.

A refusal that must be remembered (a wrong code, a token that came back) is committed first and raised afterwards.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from uuid import UUID

import structlog

from libs.chassis.entropy import Entropy
from libs.chassis.errors import DomainError
from services.auth import metrics
from services.auth.domain.accounts import (
    Account,
    AccountId,
    Letter,
    LetterKind,
    Login,
    Session,
    SessionId,
    SignedIn,
    Tokens,
    Try,
    device_of,
)
from services.auth.domain.addresses import email_of, locale_of, network_of
from services.auth.domain.errors import (
    AccountUnknown,
    CodeMalformed,
    CodeSpent,
    CodeWrong,
    IdInvalid,
    RateLimited,
    RefreshInvalid,
    RefreshReused,
    SignInPaused,
)
from services.auth.domain.limits import (
    CODE_LIFE,
    CODES_PER_ADDRESS,
    DAY,
    FAILS_PER_ADDRESS,
    HOMES_MAX,
    HOUR,
    TRIES_MAX,
    Limit,
    fail_delay,
)
from services.auth.domain.names import ACCOUNT_NUMBERS, ANIMALS, GUEST_NUMBERS, suggested_name
from services.auth.domain.pepper import CODE_SPACE, Opening, Pepper, code_text, is_code, same
from services.auth.domain.refresh import (
    ANSWER_GRACE,
    SESSION_LIFE,
    SESSIONS_MAX,
    refresh_expiry,
    token_hash,
    token_of,
    token_text,
)
from services.auth.ports import Register, Registry, Sealer, Signer
from whist.auth.v1.events_pb2 import AccountCreated, AuthEvent, SessionRevoked

log = structlog.get_logger()

TOPIC = "whist.auth.events.v1"
ID_BYTES = 16
NOTICE_LIFE = timedelta(days=2)  # a warning is worth sending for as long as a mail server may be down


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


@dataclass(frozen=True, slots=True, kw_only=True)
class StartLogin:
    """`request_id`: 16 bytes that a repeated request repeats, or empty."""

    email: str
    network: str
    locale: str
    request_id: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishLogin:
    """`request_id`: 16 bytes that a repeated request repeats, or empty."""

    login_id: bytes
    code: str
    device: str
    network: str
    request_id: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateGuest:
    """`request_id`: 16 bytes that a repeated request repeats."""

    device: str
    network: str
    request_id: bytes


async def start_login(command: StartLogin, *, desk: Desk) -> Login:
    """Queue a code to the address; what happens and how long it takes is the same for known and unknown ones (P40).

    Idempotent by request_id while the code lives. Raises EmailInvalid, NetworkInvalid, IdInvalid, RateLimited,
    SignInPaused.
    """
    email, network = email_of(command.email), network_of(command.network)
    request_id = _request_id(command.request_id, desk.entropy)
    login_id, code = desk.entropy.bytes(ID_BYTES), code_text(desk.entropy.below(CODE_SPACE))
    mail_id = desk.entropy.uuid7()
    async with desk.registry.transaction() as tx:
        # Two sendings of one request meet here, and the second finds what the first has done.
        await tx.serialize(desk.pepper.subject(b"login", email.encode()))
        if asked := await tx.login_asked(email, request_id):
            return asked
        now = await tx.now()
        if await tx.logins_since(now - HOUR, desk.codes_in_all) >= desk.codes_in_all:
            metrics.codes.labels("paused").inc()
            raise SignInPaused
        _refuse_after(await tx.count_attempt(desk.pepper.subject(b"codes", network), (desk.codes,)), "network")
        budget = await _budget(tx, email, network, desk.pepper)
        _refuse_after(await tx.count_attempt(desk.pepper.subject(b"mails", *budget), CODES_PER_ADDRESS), "address")
        login = Login(
            login_id=login_id,
            email=email,
            code_hash=desk.pepper.code_hash(login_id, code),
            locale=locale_of(command.locale),
            expires_at=now + CODE_LIFE,
        )
        await tx.put_login(login, request_id)
        await tx.post(
            Letter(
                mail_id=mail_id,
                kind=LetterKind.CODE,
                address=email,
                locale=login.locale,
                sealed=desk.sealer.seal(mail_id.bytes, code),
                expires_at=login.expires_at,
            )
        )
    metrics.codes.labels("asked").inc()
    desk.wake_mail()
    return login


async def finish_login(command: FinishLogin, *, desk: Desk) -> SignedIn:
    """Exchange a code for a session, and make the account at its first sign-in (P40).

    A code opens one session. The same request_id within 10 s is answered with that session again, while its first
    token is unused. Raises CodeWrong (counted), CodeSpent, RateLimited (not counted), CodeMalformed, IdInvalid,
    DeviceInvalid, NetworkInvalid.
    """
    network, device = network_of(command.network), device_of(command.device)
    _check_id("login_id", command.login_id)
    request_id = _request_id(command.request_id, desk.entropy)
    if not is_code(command.code):
        raise CodeMalformed
    opening = desk.pepper.opening(b"login", command.login_id, request_id, command.code.encode())
    async with desk.registry.transaction() as tx:
        answer = await _redeem(command, network, device, opening, tx, desk)
    if isinstance(answer, DomainError):
        metrics.codes.labels(answer.reason.lower()).inc()
        raise answer
    metrics.codes.labels("right").inc()
    return answer


async def _redeem(
    command: FinishLogin, network: bytes, device: str, opening: Opening, tx: Register, desk: Desk
) -> SignedIn | DomainError:
    """The session, or the refusal to raise once the try is committed. Raises RateLimited: the try does not count."""
    tried = await tx.take_try(command.login_id, TRIES_MAX)
    if tried is None:
        session = await tx.session_opened(opening.key)
        if session is None or await tx.now() > session.used_at + ANSWER_GRACE:
            return CodeSpent()
        return await _answer_again(session, opening, tx, desk)
    now = await tx.now()
    fails = desk.pepper.subject(b"fails", *await _budget(tx, tried.email, network, desk.pepper))
    await _refuse_guessing(fails, now, tx)
    if not same(tried.code_hash, desk.pepper.code_hash(command.login_id, command.code)):
        await tx.note_attempt(fails)
        return CodeWrong(tries_left=TRIES_MAX - tried.tries)
    await tx.delete_login(command.login_id)
    await tx.forget_attempts(fails)
    account, created = await _account_for(tried, now, tx, desk.entropy)
    await tx.add_home(account.account_id, desk.pepper.subject(b"home", network), HOMES_MAX)
    return await _open_session(account, device, opening, now, tx, desk, created=created)


async def create_guest(command: CreateGuest, *, desk: Desk) -> SignedIn:
    """Let somebody play at once (P42). Idempotent by request_id for a day: the same guest, and the same session while
    its first token is unused.

    Raises RateLimited, IdInvalid, DeviceInvalid, NetworkInvalid.
    """
    network, device = network_of(command.network), device_of(command.device)
    _check_id("request_id", command.request_id)
    opening = desk.pepper.opening(b"guest", command.request_id)
    name = suggested_name(desk.entropy.below(len(ANIMALS)), desk.entropy.below(GUEST_NUMBERS))
    account_id = AccountId(desk.entropy.uuid7())
    async with desk.registry.transaction() as tx:
        now = await tx.now()
        account = Account(account_id=account_id, name=name, guest=True, created_at=now)
        if not await tx.insert_guest(account, opening.key):
            return await _same_guest(device, opening, tx, desk)
        _refuse_after(await tx.count_attempt(desk.pepper.subject(b"guests", network), (desk.guests,)), "network")
        await _publish_created(account, tx)
        answer = await _open_session(account, device, opening, now, tx, desk, created=True)
    metrics.accounts.labels("guest").inc()
    return answer


async def _same_guest(device: str, opening: Opening, tx: Register, desk: Desk) -> SignedIn:
    account = await tx.guest_opened(opening.key)
    assert account is not None, "the twin that made the guest has committed"
    if session := await tx.session_opened(opening.key):
        return await _answer_again(session, opening, tx, desk)
    await tx.hold_account(account.account_id)
    another = desk.pepper.opening(b"guest again", desk.entropy.bytes(ID_BYTES))
    return await _open_session(account, device, another, await tx.now(), tx, desk)


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


async def get_account(account_id: UUID, *, desk: Desk) -> Account:
    """Public facts of one account. Raises AccountUnknown."""
    async with desk.registry.transaction() as tx:
        account = await tx.account(AccountId(account_id))
    if account is None:
        raise AccountUnknown
    return account


async def _budget(tx: Register, email: str, network: bytes, pepper: Pepper) -> tuple[bytes, ...]:
    """Whose limits apply: the address' own at its home networks, the strangers' elsewhere."""
    home = await tx.is_home(email, pepper.subject(b"home", network))
    return (email.encode(), network) if home else (email.encode(),)


def _refuse_after(wait: timedelta | None, counted: str) -> None:
    """Raises RateLimited when there is something to wait for."""
    if wait is not None:
        metrics.refused.labels(counted).inc()
        raise RateLimited(retry_after_seconds=max(1, ceil(wait.total_seconds())))


async def _refuse_guessing(fails: bytes, now: datetime, tx: Register) -> None:
    """Raises RateLimited when the address' wrong codes of the last hour or day ask for a pause."""
    day = await tx.recent_attempts(fails)
    hour = [moment for moment in day if moment > now - HOUR]
    if len(day) >= FAILS_PER_ADDRESS.maximum:
        _refuse_after(day[-FAILS_PER_ADDRESS.maximum] + DAY - now, "fails")
    if hour:
        wait = hour[-1] + fail_delay(len(hour)) - now
        _refuse_after(wait if wait > timedelta(0) else None, "fails")


async def _account_for(tried: Try, now: datetime, tx: Register, entropy: Entropy) -> tuple[Account, bool]:
    """The address' account and whether it was made just now; held until the end."""
    name = suggested_name(entropy.below(len(ANIMALS)), entropy.below(ACCOUNT_NUMBERS))
    made = Account(account_id=AccountId(entropy.uuid7()), name=name, guest=False, created_at=now)
    if await tx.insert_account(made, tried.email, tried.locale):
        await _publish_created(made, tx)
        metrics.accounts.labels("account").inc()
        return made, True
    account = await tx.account_of(tried.email)
    assert account is not None, "the insert found it"
    return account, False


async def _open_session(
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


async def _answer_again(session: Session, opening: Opening, tx: Register, desk: Desk) -> SignedIn:
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


async def _publish_created(account: Account, tx: Register) -> None:
    created = AccountCreated(account_id=account.account_id.bytes, name=account.name, guest=account.guest)
    await tx.publish(TOPIC, account.account_id.bytes, AuthEvent(account_created=created))


def _tokens(account: Account, session: Session, token: bytes, now: datetime, desk: Desk) -> Tokens:
    access_token, access_expires_at = desk.signer.sign(account, session.session_id, now)
    return Tokens(
        access_token=access_token,
        access_expires_at=access_expires_at,
        refresh_token=token_text(token),
        refresh_expires_at=refresh_expiry(session.used_at, session.expires_at),
    )


def _check_id(field: str, value: bytes) -> None:
    if len(value) != ID_BYTES:
        raise IdInvalid(field=field, bytes=ID_BYTES)


def _request_id(value: bytes, entropy: Entropy) -> bytes:
    """The request's id, or one that no other request has."""
    if not value:
        return entropy.bytes(ID_BYTES)
    _check_id("request_id", value)
    return value
