"""Accounts, their totals, and the facts that totals are sums of."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from libs.chassis.db import Transaction
from services.leagues.domain.results import AccountId, GameKind, GameResult, Prize, PrizeReturn, TableId, WeekId
from services.leagues.domain.standing import Progress
from services.leagues.storage.sums import SUMS
from services.leagues.storage.tables import (
    account,
    friends_standing,
    game_result,
    prize,
    prize_return,
    standing,
    voided_game,
)

PROGRESS = (account.c.experience, account.c.level, account.c.games)


class Accounts(Transaction):
    """Implements `services.leagues.ports.Facts`."""

    async def lock(self, account_id: AccountId) -> Progress:
        await self.connection.execute(insert(account).values(account_id=account_id).on_conflict_do_nothing())
        # Not FOR UPDATE, which every insertion of a row that refers to the account would wait for.
        query = sa.select(*PROGRESS).where(account.c.account_id == account_id).with_for_update(key_share=True)
        return progress_of((await self.connection.execute(query)).one())

    async def lock_game(self, table_id: TableId) -> bool:
        await self.connection.execute(
            sa.text("select pg_advisory_xact_lock(hashtextextended('leagues.game:' || :table_id, 0))"),
            {"table_id": str(table_id)},
        )
        voided = sa.select(sa.exists().where(voided_game.c.table_id == table_id))
        return bool((await self.connection.execute(voided)).scalar_one())

    async def create(self, account_id: AccountId, *, guest: bool) -> None:
        insertion = insert(account).values(account_id=account_id, guest=guest)
        known = sa.func.coalesce(account.c.guest, insertion.excluded.guest)
        await self.connection.execute(
            insertion.on_conflict_do_update(
                index_elements=[account.c.account_id], set_={"guest": sa.and_(known, insertion.excluded.guest)}
            )
        )

    async def mark_deleted(self, account_id: AccountId) -> None:
        insertion = insert(account).values(account_id=account_id, deleted=True)
        await self.connection.execute(
            insertion.on_conflict_do_update(index_elements=[account.c.account_id], set_={"deleted": True})
        )

    async def insert_result(self, result: GameResult) -> bool:
        return await self.inserted(
            insert(game_result).values(
                table_id=result.table_id,
                account_id=result.account_id,
                kind=result.kind.value,
                week_id=result.week_id,
                finished_at=result.finished_at,
                place=result.place,
                own_bids=result.own_bids,
                own_made=result.own_made,
                rounds=result.rounds,
                counted=result.counted,
                experience=result.experience,
                score=result.score,
            )
        )

    async def void(self, table_id: TableId) -> bool:
        return await self.inserted(insert(voided_game).values(table_id=table_id))

    async def results_of_game(self, table_id: TableId) -> Sequence[GameResult]:
        query = sa.select(game_result).where(game_result.c.table_id == table_id).order_by(game_result.c.account_id)
        rows = (await self.connection.execute(query)).mappings()
        return [GameResult(**{**row, "kind": GameKind(row["kind"])}) for row in rows]

    async def insert_prize(self, won: Prize) -> bool:
        return await self.inserted(
            insert(prize).values(
                table_id=won.table_id,
                account_id=won.account_id,
                week_id=won.week_id,
                coins=won.coins,
                paid_at=won.paid_at,
            )
        )

    async def insert_return(self, gone: PrizeReturn) -> bool:
        return await self.inserted(
            insert(prize_return).values(
                table_id=gone.table_id, account_id=gone.account_id, week_id=gone.week_id, coins=gone.coins
            )
        )

    async def inserted(self, insertion: Any) -> bool:
        """False: the row was there, and nothing has changed."""
        row = await self.connection.execute(insertion.on_conflict_do_nothing().returning(sa.literal(1)))
        return row.first() is not None

    async def add_progress(self, account_id: AccountId, *, experience: int, games: int) -> Progress:
        change = (
            sa.update(account)
            .where(account.c.account_id == account_id)
            .values(experience=account.c.experience + experience, games=account.c.games + games)
            .returning(*PROGRESS)
        )
        return progress_of((await self.connection.execute(change)).one())

    async def set_level(self, account_id: AccountId, level: int) -> None:
        await self.connection.execute(sa.update(account).where(account.c.account_id == account_id).values(level=level))

    async def sum_week(self, account_id: AccountId, week_id: WeekId, kind: GameKind) -> None:
        table = standing if kind is GameKind.QUICK else friends_standing
        sums = SUMS[table]()
        await self.connection.execute(
            sa.delete(table).where(table.c.account_id == account_id, table.c.week_id == week_id)
        )
        await self.connection.execute(
            insert(table).from_select(
                ["account_id", "week_id", "points", "games", "reached_at"],
                sa.select(sums).where(sums.c.account_id == account_id, sums.c.week_id == week_id),
            )
        )

    async def progress(self, account_id: AccountId) -> Progress | None:
        query = sa.select(*PROGRESS).where(account.c.account_id == account_id)
        row = (await self.connection.execute(query)).one_or_none()
        return None if row is None else progress_of(row)


def progress_of(row: Any) -> Progress:
    """A row of PROGRESS."""
    return Progress(experience=row.experience, level=row.level, games=row.games)
