"""Weeks: the row that refunds share and closing takes alone (X6), and the totals that stand from then on (E8)."""

from collections.abc import Collection, Sequence

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from libs.chassis.db import Transaction
from services.wallet.domain.holds import GameState
from services.wallet.domain.ledger import AccountId, TableId
from services.wallet.domain.weeks import WeekTotal
from services.wallet.storage.tables import game, week, week_total

SETTLED = (GameState.FINISHED, GameState.VOIDED)

# A game that was voided, or refunded for this account, has a reversal; what was given back is no prize of the week.
_KEEP = sa.text("""
insert into wallet.week_total (week_id, account_id, coins, prizes)
select f.week_id, p.account_id, sum(p.amount), count(*)
from wallet.finished_game f
join wallet.transfer t on t.table_id = f.table_id and t.reason = 'prize'
join wallet.posting p on p.transfer_id = t.id and p.account_id is not null
where f.week_id = :week_id
  and not exists (select from wallet.reversal r where r.table_id = f.table_id and r.account_id = p.account_id)
group by f.week_id, p.account_id
""")


class WeekRecords(Transaction):
    """Part of `services.wallet.ports.Ledger`."""

    async def share_week(self, week_id: str) -> bool:
        """Whether it is sealed; until the end of this transaction that cannot change."""
        query = sa.select(week.c.sealed_at).where(week.c.week_id == week_id).with_for_update(read=True)
        row = (await self.connection.execute(query)).one_or_none()
        if row is None:
            await self.connection.execute(insert(week).values(week_id=week_id).on_conflict_do_nothing())
            row = (await self.connection.execute(query)).one()
        return row.sealed_at is not None

    async def is_sealed(self, week_id: str) -> bool:
        query = sa.select(week.c.sealed_at).where(week.c.week_id == week_id)
        return (await self.connection.execute(query)).scalar_one_or_none() is not None

    async def seal(self, week_id: str) -> None:
        insertion = insert(week).values(week_id=week_id, sealed_at=sa.func.clock_timestamp())
        sealed = await self.connection.execute(
            insertion.on_conflict_do_update(
                index_elements=[week.c.week_id],
                set_={"sealed_at": insertion.excluded.sealed_at},
                where=week.c.sealed_at.is_(None),
            ).returning(week.c.week_id)
        )
        if sealed.first() is not None:
            # A statement of its own: its snapshot is younger than the lock, and so sees every refund that came first.
            await self.connection.execute(_KEEP, {"week_id": week_id})

    async def week_totals(self, week_id: str, *, after: AccountId | None, limit: int) -> Sequence[WeekTotal]:
        query = (
            sa.select(week_total).where(week_total.c.week_id == week_id).order_by(week_total.c.account_id).limit(limit)
        )
        if after is not None:
            query = query.where(week_total.c.account_id > after)
        return [
            WeekTotal(account_id=AccountId(row.account_id), coins=row.coins, prizes=row.prizes)
            for row in await self.connection.execute(query)
        ]

    async def settled(self, tables: Collection[TableId]) -> int:
        query = sa.select(sa.func.count()).where(
            game.c.table_id == sa.any_(sa.cast(list(tables), sa.ARRAY(sa.Uuid))), game.c.state.in_(SETTLED)
        )
        return int((await self.connection.execute(query)).scalar_one())
