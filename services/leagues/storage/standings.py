"""What is shown of an account's week and form, and the weekly leaderboard of friends' games."""

from collections.abc import Sequence

import sqlalchemy as sa

from libs.chassis.db import Transaction
from services.leagues.domain.league import Place, Score
from services.leagues.domain.results import AccountId, GameKind, WeekId
from services.leagues.storage.sums import valid_results
from services.leagues.storage.tables import account, friends_standing, standing


class Standings(Transaction):
    """Implements `services.leagues.ports.Shown`."""

    async def latest_places(self, account_id: AccountId, count: int) -> Sequence[int]:
        results = valid_results()
        query = (
            sa.select(results.c.place)
            .where(results.c.account_id == account_id, results.c.counted, results.c.kind == GameKind.QUICK.value)
            .order_by(results.c.finished_at.desc(), results.c.table_id.desc())
            .limit(count)
        )
        return (await self.connection.execute(query)).scalars().all()

    async def is_ranked(self, account_id: AccountId) -> bool:
        query = sa.select(ranked()).where(account.c.account_id == account_id)
        return bool((await self.connection.execute(query)).scalar_one_or_none())

    async def week_score(self, account_id: AccountId, week_id: WeekId) -> Score:
        query = sa.select(standing).where(standing.c.account_id == account_id, standing.c.week_id == week_id)
        row = (await self.connection.execute(query)).one_or_none()
        if row is None:
            return Score(account_id=account_id, points=0, games=0, reached_at=None)
        return Score(account_id=account_id, points=row.points, games=row.games, reached_at=row.reached_at)

    async def leaderboard(self, week_id: WeekId, limit: int) -> Sequence[Place]:
        own = friends_standing.c
        query = (
            sa.select(own.account_id, own.points, own.games)
            .select_from(friends_standing.join(account, account.c.account_id == own.account_id))
            .where(own.week_id == week_id, ranked())
            .order_by(own.points.desc(), own.games, own.reached_at, own.account_id)
            .limit(limit)
        )
        rows = (await self.connection.execute(query)).all()
        return [
            Place(account_id=AccountId(row.account_id), rank=rank, points=row.points, games=row.games)
            for rank, row in enumerate(rows, start=1)
        ]

    async def leaderboard_place(self, account_id: AccountId, week_id: WeekId) -> Place | None:
        mine, other = friends_standing.alias("mine"), friends_standing.alias("other")

        def order(side: sa.FromClause) -> sa.Tuple:
            # Only the points descend; negated, one comparison of rows says who is ahead.
            return sa.tuple_(-side.c.points, side.c.games, side.c.reached_at, side.c.account_id)

        ahead = (
            sa.select(sa.func.count())
            .select_from(other.join(account, account.c.account_id == other.c.account_id))
            .where(
                other.c.week_id == week_id,
                other.c.points >= mine.c.points,  # what the index can find
                order(other) < order(mine),
                ranked(),
            )
            .correlate(mine)
            .scalar_subquery()
        )
        query = sa.select(mine.c.points, mine.c.games, ahead.label("ahead")).where(
            mine.c.account_id == account_id, mine.c.week_id == week_id
        )
        row = (await self.connection.execute(query)).one_or_none()
        if row is None:
            return None
        rank = row.ahead + 1 if await self.is_ranked(account_id) else 0
        return Place(account_id=account_id, rank=rank, points=row.points, games=row.games)


def ranked() -> sa.ColumnElement[bool]:
    """Accounts are, guests and whoever auth has not told of are not (P42); nor are those that are gone (P45)."""
    return sa.and_(account.c.guest.is_(sa.false()), ~account.c.deleted)
