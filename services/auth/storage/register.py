"""The transaction of auth over PostgreSQL."""

from collections.abc import Collection, Sequence
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from services.auth.domain.accounts import (
    Account,
    AccountId,
    Device,
    Family,
    Letter,
    LetterKind,
    Login,
    Session,
    SessionId,
    Try,
)
from services.auth.domain.limits import DAY, Limit
from services.auth.storage import statements as sql
from services.auth.storage.personal import PersonalTransaction, account_of


class AuthTransaction(PersonalTransaction):
    """`Register` over one connection; times are the database's."""

    async def count_attempt(self, subject: bytes, limits: Sequence[Limit]) -> timedelta | None:
        bounds = {
            "subject": subject,
            "periods": [limit.period for limit in limits],
            "maxima": [limit.maximum for limit in limits],
        }
        if await self._first(sql.COUNT_ATTEMPT, kept=DAY, **bounds):
            return None
        row = await self._first(sql.TIME_TO_WAIT, **bounds)
        assert row is not None, "an aggregate has a row"
        return row.wait or timedelta(0)

    async def note_attempt(self, subject: bytes) -> None:
        await self._first(sql.NOTE_ATTEMPT, subject=subject, kept=DAY)

    async def recent_attempts(self, subject: bytes) -> Sequence[datetime]:
        return [row.moment for row in await self._all(sql.RECENT_ATTEMPTS, subject=subject, kept=DAY)]

    async def serialize(self, subject: bytes) -> None:
        await self._run(sql.SERIALIZE, key=int.from_bytes(subject[:8], "big", signed=True))

    async def logins_since(self, moment: datetime, at_most: int) -> int:
        row = await self._first(sql.LOGINS_SINCE, moment=moment, at_most=at_most)
        return int(row.n) if row else 0

    async def login_asked(self, email: str, request_id: bytes) -> Login | None:
        row = await self._first(sql.LOGIN_ASKED, email=email, request_id=request_id)
        if row is None:
            return None
        return Login(
            login_id=bytes(row.login_id),
            email=email,
            code_hash=bytes(row.code_hash),
            locale=row.locale,
            expires_at=row.expires_at,
        )

    async def put_login(self, login: Login, request_id: bytes) -> None:
        await self._run(
            sql.PUT_LOGIN,
            email=login.email,
            login_id=login.login_id,
            request_id=request_id,
            code_hash=login.code_hash,
            locale=login.locale,
            expires_at=login.expires_at,
        )

    async def take_try(self, login_id: bytes, tries_max: int) -> Try | None:
        row = await self._first(sql.TAKE_TRY, login_id=login_id, tries_max=tries_max)
        if row is None:
            return None
        return Try(email=row.email, code_hash=bytes(row.code_hash), locale=row.locale, tries=row.tries, at=row.at)

    async def use_login(self, login_id: bytes, fails: bytes) -> None:
        await self._run(sql.USE_LOGIN, login_id=login_id, fails=fails)

    async def is_home(self, email: str, network: bytes, kept: timedelta) -> bool:
        return await self._first(sql.IS_HOME, email=email, network=network, kept=kept) is not None

    async def add_home(self, account_id: AccountId, network: bytes) -> None:
        await self._run(sql.ADD_HOME, account_id=account_id, network=network)

    async def drop_homes(self, account_id: AccountId, keep: int) -> None:
        await self._run(sql.DROP_HOMES, account_id=account_id, keep=keep)

    async def insert_guest(self, account: Account, opening_key: bytes) -> bool:
        return await self._insert_account(account, email=None, locale="", opening_key=opening_key)

    async def guest_opened(self, opening_key: bytes) -> Account | None:
        return account_of(await self._first(sql.GUEST_OPENED, opening_key=opening_key))

    async def insert_account(self, account: Account, email: str, locale: str) -> bool:
        return await self._insert_account(account, email=email, locale=locale, opening_key=None)

    async def account_of(self, email: str) -> Account | None:
        return account_of(await self._first(sql.ACCOUNT_OF, email=email))

    async def account(self, account_id: AccountId) -> Account | None:
        return account_of(await self._first(sql.ACCOUNT, account_id=account_id))

    async def accounts(self, account_ids: Collection[AccountId]) -> Sequence[Account]:
        rows = await self._all(sql.ACCOUNTS, account_ids=list(account_ids))
        return [account for row in rows if (account := account_of(row))]

    async def hold_account(self, account_id: AccountId) -> Account | None:
        return account_of(await self._first(sql.HOLD_ACCOUNT, account_id=account_id))

    async def was_deleted(self, account_id: AccountId) -> bool:
        return await self._first(sql.WAS_DELETED, account_id=account_id) is not None

    async def upgrade_guest(self, account_id: AccountId, email: str, locale: str, now: datetime) -> None:
        await self._run(sql.UPGRADE_GUEST, account_id=account_id, email=email, locale=locale, now=now)

    async def mark_seen(self, account_id: AccountId, day: date) -> bool:
        return await self._first(sql.MARK_SEEN, account_id=account_id, day=day) is not None

    async def hold_unseen(self, token_hash: bytes, day: date) -> None:
        await self._run(sql.HOLD_UNSEEN, token_hash=token_hash, day=day)

    async def contact_of(self, account_id: AccountId) -> tuple[str, str] | None:
        row = await self._first(sql.CONTACT_OF, account_id=account_id)
        return (row.email, row.locale) if row else None

    async def insert_session(self, session: Session, device: str, opening_key: bytes) -> None:
        await self._run(
            sql.INSERT_SESSION,
            session_id=session.session_id,
            account_id=session.account_id,
            device=device,
            token_hash=session.token_hash,
            opening_key=opening_key,
            used_at=session.used_at,
            expires_at=session.expires_at,
        )

    async def session_opened(self, opening_key: bytes, idle: timedelta) -> Session | None:
        return _session(await self._first(sql.SESSION_OPENED, opening_key=opening_key, idle=idle))

    async def live_sessions(self, account_id: AccountId, idle: timedelta) -> Sequence[SessionId]:
        return [device.session_id for device in await self.devices(account_id, idle)]

    async def open_sessions(self, account_id: AccountId) -> Sequence[SessionId]:
        return [SessionId(row.session_id) for row in await self._all(sql.OPEN_SESSIONS, account_id=account_id)]

    async def devices(self, account_id: AccountId, idle: timedelta) -> Sequence[Device]:
        rows = await self._all(sql.LIVE_SESSIONS, account_id=account_id, idle=idle)
        return [
            Device(
                session_id=SessionId(row.session_id),
                device=row.device,
                created_at=row.created_at,
                used_at=row.used_at,
                expires_at=row.expires_at,
            )
            for row in rows
        ]

    async def owner_of(self, session_id: SessionId) -> AccountId | None:
        row = await self._first(sql.OWNER_OF, session_id=session_id)
        return AccountId(row.account_id) if row else None

    async def session_opened_at(self, session_id: SessionId, account_id: AccountId) -> datetime | None:
        row = await self._first(sql.SESSION_OPENED_AT, session_id=session_id, account_id=account_id)
        return row.created_at if row else None

    async def close_sessions(self, account_id: AccountId) -> None:
        await self._run(sql.CLOSE_SESSIONS, account_id=account_id)

    async def rotate(self, token_hash: bytes, next_hash: bytes, idle: timedelta) -> Session | None:
        row = await self._first(sql.ROTATE, token_hash=token_hash, next_hash=next_hash, idle=idle)
        return _session(row)

    async def session_before(self, token_hash: bytes, grace: timedelta) -> Session | None:
        return _session(await self._first(sql.SESSION_BEFORE, token_hash=token_hash, grace=grace))

    async def family_of(self, token_hash: bytes) -> Family | None:
        row = await self._first(sql.FAMILY_OF, token_hash=token_hash)
        if row is None:
            return None
        return Family(session_id=SessionId(row.session_id), spent=row.spent, suspended=row.suspended)

    async def end_session(self, session_id: SessionId) -> AccountId | None:
        row = await self._first(sql.END_SESSION, session_id=session_id)
        return AccountId(row.account_id) if row else None

    async def post(self, letter: Letter) -> None:
        await self._run(
            sql.POST,
            mail_id=letter.mail_id,
            kind=letter.kind.value,
            address=letter.address,
            locale=letter.locale,
            sealed=letter.sealed,
            expires_at=letter.expires_at,
        )

    async def claim_mail(self, at_most: int, lease: timedelta) -> Sequence[tuple[Letter, int]]:
        rows = await self._all(sql.CLAIM_MAIL, at_most=at_most, lease=lease)
        return [(_letter(row), row.tries) for row in rows]

    async def postpone_mail(self, mail_id: UUID, pause: timedelta) -> None:
        await self._run(sql.POSTPONE_MAIL, mail_id=mail_id, pause=pause)

    async def delete_mail(self, mail_id: UUID) -> None:
        await self._run(sql.DELETE_MAIL, mail_id=mail_id)

    async def drop_expired_mail(self) -> int:
        return len(await self._all(sql.DROP_EXPIRED_MAIL))

    async def mails_waiting(self) -> int:
        row = await self._first(sql.MAILS_WAITING)
        return int(row.n) if row else 0

    async def sweep(self, home_kept: timedelta) -> None:
        await self._run(sql.DROP_OLD_HOMES, kept=home_kept)
        for statement, values in sql.SWEEPS:
            await self._run(statement, **values)

    async def _insert_account(
        self, account: Account, *, email: str | None, locale: str, opening_key: bytes | None
    ) -> bool:
        row = await self._first(
            sql.INSERT_ACCOUNT,
            account_id=account.account_id,
            name=account.name,
            guest=account.guest,
            email=email,
            locale=locale,
            opening_key=opening_key,
            created_at=account.created_at,
            since=account.since,
        )
        return row is not None


def _session(row: sa.Row[Any] | None) -> Session | None:
    if row is None:
        return None
    return Session(
        session_id=SessionId(row.session_id),
        account_id=AccountId(row.account_id),
        token_hash=bytes(row.token_hash),
        used_at=row.used_at,
        expires_at=row.expires_at,
    )


def _letter(row: sa.Row[Any]) -> Letter:
    return Letter(
        mail_id=row.mail_id,
        kind=LetterKind(row.kind),
        address=row.address,
        locale=row.locale,
        sealed=bytes(row.sealed),
        expires_at=row.expires_at,
    )
