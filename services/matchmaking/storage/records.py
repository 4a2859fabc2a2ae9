"""The transaction of matchmaking: everything the handlers ask of the database."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from libs.chassis.db import Transaction
from services.matchmaking.domain.ids import AccountId, TableId
from services.matchmaking.domain.matches import UNFINISHED, MatchState
from services.matchmaking.domain.tickets import Standing, Tier
from services.matchmaking.storage.matches import MatchRecords
from services.matchmaking.storage.schema import standing
from services.matchmaking.storage.tickets import TicketRecords


class MatchmakingTransaction(TicketRecords, MatchRecords, Transaction):
    """Implements `ports.Records`."""

    async def end_table(self, table_id: TableId, now: datetime) -> None:
        await self.move_match(table_id, (*UNFINISHED, MatchState.CREATED), MatchState.DONE)
        await self._end_seats(table_id, now)

    async def standing(self, account_id: AccountId) -> Standing:
        row = (
            await self.connection.execute(sa.select(standing).where(standing.c.account_id == account_id))
        ).one_or_none()
        return Standing() if row is None else Standing(level=row.level, tier=Tier(row.tier))

    async def raise_level(self, account_id: AccountId, level: int) -> None:
        fresh = insert(standing).values(account_id=account_id, level=level, tier=Tier.JACK)
        highest = sa.func.greatest(standing.c.level, level)
        await self.connection.execute(
            fresh.on_conflict_do_update(index_elements=[standing.c.account_id], set_={"level": highest})
        )

    async def set_tier(self, account_id: AccountId, tier: Tier) -> None:
        fresh = insert(standing).values(account_id=account_id, level=Standing().level, tier=tier)
        await self.connection.execute(
            fresh.on_conflict_do_update(index_elements=[standing.c.account_id], set_={"tier": tier})
        )
