"""One transaction over accounts, results, prizes and standings."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from libs.chassis.db import Transaction
from services.leagues.domain.results import AccountId, GameResult, Prize, WeekId
from services.leagues.domain.standing import Progress, Standing
from services.leagues.storage.tables import account, game_result, prize, standing

_PROGRESS = (account.c.experience, account.c.level, account.c.games)


class LeaguesTransaction(Transaction):
    """Implements `services.leagues.ports.Ledger` on PostgreSQL."""

    async def lock(self, account_id: AccountId) -> Progress:
        await self.connection.execute(insert(account).values(account_id=account_id).on_conflict_do_nothing())
        query = sa.select(*_PROGRESS).where(account.c.account_id == account_id).with_for_update()
        return _progress((await self.connection.execute(query)).one())

    async def create(self, account_id: AccountId, *, guest: bool) -> None:
        insertion = insert(account).values(account_id=account_id, guest=guest)
        known = sa.func.coalesce(account.c.guest, insertion.excluded.guest)
        await self.connection.execute(
            insertion.on_conflict_do_update(
                index_elements=[account.c.account_id], set_={"guest": sa.and_(known, insertion.excluded.guest)}
            )
        )

    async def insert_result(self, result: GameResult) -> bool:
        return await self._inserted(
            insert(game_result).values(
                table_id=result.table_id,
                account_id=result.account_id,
                week_id=result.week_id,
                finished_at=result.finished_at,
                place=result.place,
                own_bids=result.own_bids,
                own_made=result.own_made,
                rounds=result.rounds,
                counted=result.counted,
                experience=result.experience,
            )
        )

    async def insert_prize(self, won: Prize) -> bool:
        return await self._inserted(
            insert(prize).values(table_id=won.table_id, account_id=won.account_id, week_id=won.week_id, coins=won.coins)
        )

    async def _inserted(self, insertion: Any) -> bool:
        row = await self.connection.execute(insertion.on_conflict_do_nothing().returning(sa.literal(1)))
        return row.first() is not None

    async def add_progress(self, account_id: AccountId, *, experience: int, games: int) -> Progress:
        change = (
            sa.update(account)
            .where(account.c.account_id == account_id)
            .values(experience=account.c.experience + experience, games=account.c.games + games)
            .returning(*_PROGRESS)
        )
        return _progress((await self.connection.execute(change)).one())

    async def set_level(self, account_id: AccountId, level: int) -> None:
        await self.connection.execute(sa.update(account).where(account.c.account_id == account_id).values(level=level))

    async def add_points(self, account_id: AccountId, week_id: WeekId, *, points: int, games: int) -> None:
        insertion = insert(standing).values(account_id=account_id, week_id=week_id, points=points, games=games)
        await self.connection.execute(
            insertion.on_conflict_do_update(
                index_elements=[standing.c.account_id, standing.c.week_id],
                set_={
                    "points": standing.c.points + insertion.excluded.points,
                    "games": standing.c.games + insertion.excluded.games,
                },
            )
        )

    async def progress(self, account_id: AccountId) -> Progress | None:
        query = sa.select(*_PROGRESS).where(account.c.account_id == account_id)
        row = (await self.connection.execute(query)).one_or_none()
        return None if row is None else _progress(row)

    async def latest_places(self, account_id: AccountId, count: int) -> Sequence[int]:
        query = (
            sa.select(game_result.c.place)
            .where(game_result.c.account_id == account_id, game_result.c.counted)
            .order_by(game_result.c.finished_at.desc(), game_result.c.table_id.desc())
            .limit(count)
        )
        return (await self.connection.execute(query)).scalars().all()

    async def standing(self, account_id: AccountId, week_id: WeekId) -> Standing:
        query = (
            sa.select(account.c.guest, standing.c.points, standing.c.games)
            .select_from(
                account.outerjoin(
                    standing, sa.and_(standing.c.account_id == account.c.account_id, standing.c.week_id == week_id)
                )
            )
            .where(account.c.account_id == account_id)
        )
        row = (await self.connection.execute(query)).one_or_none()
        if row is None:
            return Standing(account_id=account_id, week_id=week_id)
        return Standing(
            account_id=account_id,
            week_id=week_id,
            points=row.points or 0,
            games=row.games or 0,
            ranked=row.guest is False,
        )

    async def different(self, limit: int) -> Sequence[AccountId]:
        earned = (
            sa.select(
                game_result.c.account_id,
                sa.func.sum(game_result.c.experience).label("experience"),
                sa.func.count().filter(game_result.c.counted).label("games"),
            )
            .group_by(game_result.c.account_id)
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
        weeks = _weeks()
        same = sa.and_(weeks.c.account_id == standing.c.account_id, weeks.c.week_id == standing.c.week_id)
        standings = (
            sa.select(sa.func.coalesce(weeks.c.account_id, standing.c.account_id))
            .select_from(weeks.join(standing, same, full=True))
            .where(
                sa.or_(
                    weeks.c.points.is_distinct_from(standing.c.points),
                    weeks.c.games.is_distinct_from(standing.c.games),
                )
            )
        )
        found = sa.union(totals, standings).limit(limit)
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
        own = game_result.c.account_id == account_id
        earned = sa.select(sa.func.coalesce(sa.func.sum(game_result.c.experience), 0)).where(own).scalar_subquery()
        games = sa.select(sa.func.count()).where(own, game_result.c.counted).scalar_subquery()
        await self.connection.execute(sa.delete(standing).where(standing.c.account_id == account_id))
        weeks = _weeks()
        await self.connection.execute(
            insert(standing).from_select(
                ["account_id", "week_id", "points", "games"], sa.select(weeks).where(weeks.c.account_id == account_id)
            )
        )
        change = (
            sa.update(account)
            .where(account.c.account_id == account_id)
            .values(experience=earned, games=games)
            .returning(*_PROGRESS)
        )
        return _progress((await self.connection.execute(change)).one())


def _weeks() -> sa.Subquery:
    """What `standing` must equal: points from prizes and games from results, by account and week."""
    rows = sa.union_all(
        sa.select(prize.c.account_id, prize.c.week_id, prize.c.coins.label("points"), sa.literal(0).label("games")),
        sa.select(game_result.c.account_id, game_result.c.week_id, sa.literal(0), sa.literal(1)).where(
            game_result.c.counted
        ),
    ).subquery("one")
    return (
        sa.select(
            rows.c.account_id,
            rows.c.week_id,
            sa.func.sum(rows.c.points).label("points"),
            sa.func.sum(rows.c.games).label("games"),
        )
        .group_by(rows.c.account_id, rows.c.week_id)
        .subquery("week")
    )


def _progress(row: Any) -> Progress:
    return Progress(experience=row.experience, level=row.level, games=row.games)
