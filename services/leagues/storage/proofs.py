"""The proof that stored totals are the sums they stand for, and their writing anew."""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from libs.chassis.db import Transaction
from services.leagues.domain.results import AccountId
from services.leagues.domain.standing import Progress
from services.leagues.storage.accounts import PROGRESS, progress_of
from services.leagues.storage.sums import SUMS, earning
from services.leagues.storage.tables import account


class Proofs(Transaction):
    """Implements `services.leagues.ports.Proofs`."""

    async def different(self, limit: int) -> Sequence[AccountId]:
        one = earning()
        earned = (
            sa.select(
                one.c.account_id,
                sa.func.sum(one.c.experience).label("experience"),
                sa.func.sum(one.c.games).label("games"),
            )
            .group_by(one.c.account_id)
            .subquery("earned")
        )
        totals = (
            sa.select(account.c.account_id)
            .select_from(account.outerjoin(earned, earned.c.account_id == account.c.account_id))
            .where(
                sa.or_(
                    account.c.experience != sa.func.coalesce(earned.c.experience, 0),
                    account.c.games != sa.func.coalesce(earned.c.games, 0),
                )
            )
        )
        found = sa.union(totals, *(_differing(table) for table in SUMS)).limit(limit)
        return [AccountId(one) for one in (await self.connection.execute(found)).scalars()]

    async def level_spans(self) -> Sequence[tuple[int, int, int]]:
        query = sa.select(
            account.c.level, sa.func.min(account.c.experience), sa.func.max(account.c.experience)
        ).group_by(account.c.level)
        return [(level, least, most) for level, least, most in (await self.connection.execute(query)).all()]

    async def accounts_at(self, level: int, limit: int) -> Sequence[AccountId]:
        query = sa.select(account.c.account_id).where(account.c.level == level).limit(limit)
        return [AccountId(one) for one in (await self.connection.execute(query)).scalars()]

    async def rebuild(self, account_id: AccountId) -> Progress:
        one = earning()
        own = one.c.account_id == account_id
        earned = sa.select(sa.func.coalesce(sa.func.sum(one.c.experience), 0)).where(own).scalar_subquery()
        games = sa.select(sa.func.coalesce(sa.func.sum(one.c.games), 0)).where(own).scalar_subquery()
        for table, sums_of in SUMS.items():
            sums = sums_of()
            await self.connection.execute(sa.delete(table).where(table.c.account_id == account_id))
            await self.connection.execute(
                insert(table).from_select(
                    ["account_id", "week_id", "points", "games", "reached_at"],
                    sa.select(sums).where(sums.c.account_id == account_id),
                )
            )
        change = (
            sa.update(account)
            .where(account.c.account_id == account_id)
            .values(experience=earned, games=games)
            .returning(*PROGRESS)
        )
        return progress_of((await self.connection.execute(change)).one())


def _differing(table: sa.Table) -> sa.Select[tuple[AccountId]]:
    """Accounts with a week in `table` that is not the sum it stands for, a missing or needless one among them."""
    sums = SUMS[table]()
    same = sa.and_(sums.c.account_id == table.c.account_id, sums.c.week_id == table.c.week_id)
    columns = ("points", "games", "reached_at")
    return (
        sa.select(sa.func.coalesce(sums.c.account_id, table.c.account_id).label("account_id"))
        .select_from(sums.join(table, same, full=True))
        .where(sa.or_(*(sums.c[name].is_distinct_from(table.c[name]) for name in columns)))
    )
