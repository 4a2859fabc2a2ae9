"""Signing in by an e-mailed code (P40)."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from libs.chassis.errors import DomainError
from services.auth import metrics
from services.auth.domain.accounts import Account, AccountId, Letter, LetterKind, Login, SignedIn, Try, device_of
from services.auth.domain.addresses import email_of, locale_of, mailbox_of, network_of
from services.auth.domain.errors import (
    AccountSuspended,
    CodeMalformed,
    CodeSpent,
    CodeWrong,
    GuestWouldBeDropped,
    SignInPaused,
)
from services.auth.domain.limits import DAY, HOUR, codes_per_address, fail_delay
from services.auth.domain.names import ACCOUNT_NUMBERS, ANIMALS, suggested_name
from services.auth.domain.pepper import CODE_SPACE, Opening, code_text, is_code, same
from services.auth.domain.refresh import ANSWER_GRACE
from services.auth.handlers.deletion import erase
from services.auth.handlers.desk import (
    ID_BYTES,
    Desk,
    check_id,
    login_subject,
    note_seen,
    publish_created,
    publish_upgraded,
    refuse_after,
    request_id_of,
)
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
    """`request_id`: 16 bytes that a repeated request repeats, or empty. `guest_id`: the guest who asks, or empty."""

    login_id: bytes
    code: str
    device: str
    network: str
    request_id: bytes = b""
    guest_id: bytes = b""
    drop_guest: bool = False


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
        await tx.serialize(login_subject(email, desk))
        if asked := await tx.login_asked(email, request_id):
            return asked
        now = await tx.now()
        if await tx.logins_since(now - HOUR, desk.codes_in_all) >= desk.codes_in_all:
            metrics.codes.labels("paused").inc()
            raise SignInPaused
        refuse_after(await tx.count_attempt(desk.pepper.subject(b"codes", network), (desk.codes,)), "network")
        _, *home = await _budget(tx, email, network, desk)
        limits = codes_per_address(desk.sign_in)
        refuse_after(
            await tx.count_attempt(desk.pepper.subject(b"mails", mailbox_of(email).encode(), *home), limits), "address"
        )
        login = Login(
            login_id=login_id,
            email=email,
            code_hash=desk.pepper.code_hash(login_id, code),
            locale=locale_of(command.locale),
            expires_at=now + desk.sign_in.code_life,
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
    token is unused. A guest who signs in with a new address becomes the account, with the same id; with a known address
    the guest is erased, once that is agreed to (P42). A guest id that is no guest (any more) changes nothing.

    Raises CodeWrong (counted), CodeSpent, RateLimited, GuestWouldBeDropped and AccountSuspended (not counted: the code
    stays good), CodeMalformed, IdInvalid, DeviceInvalid, NetworkInvalid.
    """
    network, device = network_of(command.network), device_of(command.device)
    check_id("login_id", command.login_id)
    if command.guest_id:
        check_id("guest_id", command.guest_id)
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
    """The session, or the refusal to raise once the try is committed. What it raises itself is not counted as a try."""
    tried = await tx.take_try(command.login_id, desk.sign_in.tries)
    if tried is None:
        session = await tx.session_opened(opening.key, desk.sign_in.session_idle)
        if session is None or await tx.now() > session.used_at + ANSWER_GRACE:
            return CodeSpent()
        return await answer_again(session, opening, tx, desk)
    now = tried.at
    fails = desk.pepper.subject(b"fails", *await _budget(tx, tried.email, network, desk))
    await _refuse_guessing(fails, now, tx, desk)
    if not same(tried.code_hash, desk.pepper.code_hash(command.login_id, command.code)):
        await tx.note_attempt(fails)
        return CodeWrong(tries_left=desk.sign_in.tries - tried.tries)
    await tx.use_login(command.login_id, fails)
    account, created = await _account_for(tried, command, now, tx, desk)
    await tx.add_home(account.account_id, desk.pepper.subject(b"home", network))
    if not created:
        await tx.drop_homes(account.account_id, desk.sign_in.homes)
    await note_seen(account, now, tx, desk)
    return await open_session(account, device, opening, now, tx, desk, created=created)


async def _budget(tx: Register, email: str, network: bytes, desk: Desk) -> tuple[bytes, ...]:
    """Whose limits apply: the address' own at its home networks, the strangers' elsewhere."""
    home = await tx.is_home(email, desk.pepper.subject(b"home", network), desk.sign_in.home_kept)
    return (email.encode(), network) if home else (email.encode(),)


async def _refuse_guessing(fails: bytes, now: datetime, tx: Register, desk: Desk) -> None:
    """Raises RateLimited when the address' wrong codes of the last hour or day ask for a pause."""
    day = await tx.recent_attempts(fails)
    hour = [moment for moment in day if moment > now - HOUR]
    if len(day) >= desk.sign_in.fails_day:
        refuse_after(day[-desk.sign_in.fails_day] + DAY - now, "fails")
    if hour:
        wait = hour[-1] + fail_delay(len(hour), desk.sign_in) - now
        refuse_after(wait if wait > timedelta(0) else None, "fails")


async def _account_for(
    tried: Try, command: FinishLogin, now: datetime, tx: Register, desk: Desk
) -> tuple[Account, bool]:
    """The address' account and whether it became one just now; held until the end.

    Raises GuestWouldBeDropped, AccountSuspended.
    """
    known = await tx.account_of(tried.email)
    guest = await _guest_of(command.guest_id, tx)
    if known is not None:
        if known.suspended:
            raise AccountSuspended
        if guest is not None:
            if not command.drop_guest:
                raise GuestWouldBeDropped
            await erase(guest.account_id, tx, desk)
        return known, False
    if guest is not None:
        return await _upgrade(guest, tried, now, tx), True
    name = suggested_name(desk.entropy.below(len(ANIMALS)), desk.entropy.below(ACCOUNT_NUMBERS))
    made = Account(account_id=AccountId(desk.entropy.uuid7()), name=name, guest=False, created_at=now, since=now)
    inserted = await tx.insert_account(made, tried.email, tried.locale)
    assert inserted, "one login an address, held by this transaction"
    await publish_created(made, tx)
    return made, True


async def _guest_of(guest_id: bytes, tx: Register) -> Account | None:
    """The guest, held until the end; None for who is no guest, or became an account or was erased meanwhile."""
    if not guest_id:
        return None
    account = await tx.hold_account(AccountId(UUID(bytes=guest_id)))
    return account if account is not None and account.guest else None


async def _upgrade(guest: Account, tried: Try, now: datetime, tx: Register) -> Account:
    """The guest as an account: same id, name and all it has earned (P42, X20). Raises AccountSuspended.

    Its sessions as a guest can be renewed no more. They are not revoked: the access token that asked carries a repeated
    request, and keeps the socket of a running game open. For all else the gateways refuse it once they hear of this.
    """
    if guest.suspended:
        raise AccountSuspended
    await tx.upgrade_guest(guest.account_id, tried.email, tried.locale, now)
    await tx.close_sessions(guest.account_id)
    account = replace(guest, guest=False, since=now)
    await publish_upgraded(account, tx)
    return account
