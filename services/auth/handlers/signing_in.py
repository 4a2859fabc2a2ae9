"""Signing in by an e-mailed code (P40)."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from libs.chassis.entropy import Entropy
from libs.chassis.errors import DomainError
from services.auth import metrics
from services.auth.domain.accounts import Account, AccountId, Letter, LetterKind, Login, SignedIn, Try, device_of
from services.auth.domain.addresses import email_of, locale_of, network_of
from services.auth.domain.errors import CodeMalformed, CodeSpent, CodeWrong, SignInPaused
from services.auth.domain.limits import (
    CODE_LIFE,
    CODES_PER_ADDRESS,
    DAY,
    FAILS_PER_ADDRESS,
    HOMES_MAX,
    HOUR,
    TRIES_MAX,
    fail_delay,
)
from services.auth.domain.names import ACCOUNT_NUMBERS, ANIMALS, suggested_name
from services.auth.domain.pepper import CODE_SPACE, Opening, Pepper, code_text, is_code, same
from services.auth.domain.refresh import ANSWER_GRACE
from services.auth.handlers.desk import ID_BYTES, Desk, check_id, publish_created, refuse_after, request_id_of
from services.auth.handlers.sessions import answer_again, open_session
from services.auth.ports import Register


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


async def start_login(command: StartLogin, *, desk: Desk) -> Login:
    """Queue a code to the address; what happens and how long it takes is the same for known and unknown ones (P40).

    Idempotent by request_id while the code lives. Raises EmailInvalid, NetworkInvalid, IdInvalid, RateLimited,
    SignInPaused.
    """
    email, network = email_of(command.email), network_of(command.network)
    request_id = request_id_of(command.request_id, desk.entropy)
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
        refuse_after(await tx.count_attempt(desk.pepper.subject(b"codes", network), (desk.codes,)), "network")
        budget = await _budget(tx, email, network, desk.pepper)
        refuse_after(await tx.count_attempt(desk.pepper.subject(b"mails", *budget), CODES_PER_ADDRESS), "address")
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
    check_id("login_id", command.login_id)
    request_id = request_id_of(command.request_id, desk.entropy)
    if not is_code(command.code):
        raise CodeMalformed
    opening = desk.pepper.opening(b"login", command.login_id, request_id, command.code.encode())
    async with desk.registry.transaction() as tx:
        answer = await _redeem(command, network, device, opening, tx, desk)
    if isinstance(answer, DomainError):
        metrics.codes.labels(answer.reason.lower()).inc()
        raise answer
    metrics.codes.labels("right").inc()
    if answer.created:
        metrics.accounts.labels("account").inc()
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
        return await answer_again(session, opening, tx, desk)
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
    return await open_session(account, device, opening, now, tx, desk, created=created)


async def _budget(tx: Register, email: str, network: bytes, pepper: Pepper) -> tuple[bytes, ...]:
    """Whose limits apply: the address' own at its home networks, the strangers' elsewhere."""
    home = await tx.is_home(email, pepper.subject(b"home", network))
    return (email.encode(), network) if home else (email.encode(),)


async def _refuse_guessing(fails: bytes, now: datetime, tx: Register) -> None:
    """Raises RateLimited when the address' wrong codes of the last hour or day ask for a pause."""
    day = await tx.recent_attempts(fails)
    hour = [moment for moment in day if moment > now - HOUR]
    if len(day) >= FAILS_PER_ADDRESS.maximum:
        refuse_after(day[-FAILS_PER_ADDRESS.maximum] + DAY - now, "fails")
    if hour:
        wait = hour[-1] + fail_delay(len(hour)) - now
        refuse_after(wait if wait > timedelta(0) else None, "fails")


async def _account_for(tried: Try, now: datetime, tx: Register, entropy: Entropy) -> tuple[Account, bool]:
    """The address' account and whether it was made just now; held until the end."""
    name = suggested_name(entropy.below(len(ANIMALS)), entropy.below(ACCOUNT_NUMBERS))
    made = Account(account_id=AccountId(entropy.uuid7()), name=name, guest=False, created_at=now)
    if await tx.insert_account(made, tried.email, tried.locale):
        await publish_created(made, tx)
        return made, True
    account = await tx.account_of(tried.email)
    assert account is not None, "the insert found it"
    return account, False
