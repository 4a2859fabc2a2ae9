"""Names, suspension, erasing and exporting: the part of auth's transaction that knows whole persons."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from libs.chassis.db.database import Transaction
from services.auth.domain.accounts import Account, AccountId, Found, Personal
from services.auth.storage import statements as sql


class PersonalTransaction(Transaction):
    """`Register` in part, over one connection; times are the database's."""

    async def named_at(self, account_id: AccountId) -> datetime | None:
        row = await self._first(sql.NAMED_AT, account_id=account_id)
        return row.named_at if row else None

    async def claim_names(self, account_id: AccountId, skeletons: Collection[bytes]) -> bool:
        wanted = sorted(set(skeletons))
        taken = await self._all(sql.CLAIM_NAMES, account_id=account_id, skeletons=wanted)
        return len(taken) == len(wanted)

    async def give_up_names(self, account_id: AccountId, keep: Collection[bytes], held: timedelta) -> None:
        await self._run(sql.GIVE_UP_NAMES, account_id=account_id, keep=list(keep), held=held)

    async def disown_names(self, account_id: AccountId, held: timedelta) -> None:
        await self._run(sql.DISOWN_NAMES, account_id=account_id, held=held)

    async def set_name(self, account_id: AccountId, name: str, now: datetime) -> None:
        await self._run(sql.SET_NAME, account_id=account_id, name=name, now=now)

    async def set_suspended(self, account_id: AccountId, *, suspended: bool) -> None:
        await self._run(sql.SET_SUSPENDED, account_id=account_id, suspended=suspended)

    async def forget_login(self, email: str) -> None:
        await self._run(sql.FORGET_LOGIN, email=email)
        await self._run(sql.FORGET_MAIL, email=email)

    async def erase_account(self, account_id: AccountId) -> None:
        for statement in sql.ERASE_ACCOUNT:
            await self._run(statement, account_id=account_id)

    async def personal(self, account_id: AccountId) -> Personal | None:
        row = await self._first(sql.PERSONAL, account_id=account_id)
        account = account_of(row)
        if row is None or account is None:
            return None
        return Personal(
            account=account,
            email=row.email or "",
            locale=row.locale,
            seen_on=row.seen_on,
            named_at=row.named_at,
            suspended_at=row.suspended_at,
            homes=tuple(row.homes),
        )

    async def find_by_id(self, account_id: AccountId) -> Sequence[Found]:
        return _found(await self._all(sql.FIND_BY_ID, account_id=account_id))

    async def find_by_email(self, email: str) -> Sequence[Found]:
        return _found(await self._all(sql.FIND_BY_EMAIL, email=email))

    async def find_by_name(self, name: str, at_most: int) -> Sequence[Found]:
        return _found(await self._all(sql.FIND_BY_NAME, name=name, at_most=at_most))

    async def acts_on(self, subject: str) -> Sequence[tuple[str, datetime]]:
        return [(row.act, row.at) for row in await self._all(sql.ACTS_ON, subject=subject)]

    async def _run(self, statement: sa.TextClause, **values: object) -> None:
        await self.connection.execute(statement, values)

    async def _first(self, statement: sa.TextClause, **values: object) -> sa.Row[Any] | None:
        return (await self.connection.execute(statement, values)).first()

    async def _all(self, statement: sa.TextClause, **values: object) -> Sequence[sa.Row[Any]]:
        return (await self.connection.execute(statement, values)).all()


def account_of(row: sa.Row[Any] | None) -> Account | None:
    """The account of a row; None for no row."""
    if row is None:
        return None
    return Account(
        account_id=AccountId(row.account_id),
        name=row.name,
        guest=row.guest,
        created_at=row.created_at,
        since=row.account_since,
        named=row.named,
        suspended=row.suspended,
    )


def _found(rows: Sequence[sa.Row[Any]]) -> list[Found]:
    return [
        Found(
            account=account,
            email=row.email or "",
            deleted=row.deleted_at is not None,
            sessions=row.sessions,
            seen_at=row.seen_at,
        )
        for row in rows
        if (account := account_of(row))
    ]
