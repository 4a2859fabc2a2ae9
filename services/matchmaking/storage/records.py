"""The transaction of matchmaking: everything the handlers ask of the database."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from libs.chassis.db import Transaction
from services.matchmaking.domain.errors import AccountDeleted
from services.matchmaking.domain.ids import AccountId, TableId
from services.matchmaking.domain.matches import UNFINISHED, MatchState
from services.matchmaking.domain.tickets import LIVE, Standing, Tier
from services.matchmaking.ports import Visit
from services.matchmaking.storage.matches import MatchRecords
from services.matchmaking.storage.schema import admission, standing, ticket
from services.matchmaking.storage.tickets import TicketRecords, ticket_of

NEVER = datetime.min.replace(tzinfo=UTC)  # nothing was told yet

# Built once: SQLAlchemy spends more on building it than PostgreSQL on answering.
_me = sa.select(sa.bindparam("account_id", type_=sa.Uuid).label("me")).subquery()
# Named apart: a ticket's columns are read by their own names, and two tables have a tier.
_said = sa.select(standing.c.account_id, standing.c.level, standing.c.tier.label("league")).subquery()
_VISIT = sa.select(admission.c.closed_reason, _said.c.level, _said.c.league, ticket).select_from(
    _me.outerjoin(admission, admission.c.account_id == _me.c.me)
    .outerjoin(_said, _said.c.account_id == _me.c.me)
    .outerjoin(ticket, sa.and_(ticket.c.account_id == _me.c.me, ticket.c.state.in_(LIVE)))
)


class MatchmakingTransaction(TicketRecords, MatchRecords, Transaction):
    """Implements `ports.Records`."""

    async def end_table(self, table_id: TableId, now: datetime) -> None:
        await self.move_match(table_id, (*UNFINISHED, MatchState.CREATED), MatchState.DONE)
        await self._end_seats(table_id, now)

    async def visit(self, account_id: AccountId) -> Visit:
        row = (await self.connection.execute(_VISIT, {"account_id": account_id})).one()
        return Visit(
            closed_reason=row.closed_reason or "",
            standing=Standing() if row.level is None else Standing(level=row.level, tier=Tier(row.league)),
            ticket=None if row.ticket_id is None else ticket_of(row),
        )

    async def set_level(self, account_id: AccountId, level: int, told_at: datetime) -> None:
        fresh = insert(standing).values(
            account_id=account_id, level=level, tier=Standing().tier, level_told_at=told_at, tier_told_at=NEVER
        )
        await self.connection.execute(
            fresh.on_conflict_do_update(
                index_elements=[standing.c.account_id],
                set_={"level": level, "level_told_at": told_at},
                where=standing.c.level_told_at <= told_at,
            )
        )

    async def set_tier(self, account_id: AccountId, tier: Tier, told_at: datetime) -> None:
        fresh = insert(standing).values(
            account_id=account_id, level=Standing().level, tier=tier, level_told_at=NEVER, tier_told_at=told_at
        )
        await self.connection.execute(
            fresh.on_conflict_do_update(
                index_elements=[standing.c.account_id],
                set_={"tier": tier, "tier_told_at": told_at},
                where=standing.c.tier_told_at <= told_at,
            )
        )

    async def forget_standing(self, account_id: AccountId) -> None:
        await self.connection.execute(sa.delete(standing).where(standing.c.account_id == account_id))

    async def closed_reasons(self, account_ids: Sequence[AccountId]) -> Mapping[AccountId, str]:
        query = sa.select(admission.c.account_id, admission.c.closed_reason).where(
            admission.c.account_id.in_(list(account_ids)), admission.c.closed_reason != ""
        )
        return {AccountId(row.account_id): row.closed_reason for row in await self.connection.execute(query)}

    async def set_closed_reason(self, account_id: AccountId, reason: str, told_at: datetime) -> bool:
        fresh = insert(admission).values(account_id=account_id, closed_reason=reason, told_at=told_at)
        query = fresh.on_conflict_do_update(
            index_elements=[admission.c.account_id],
            set_={"closed_reason": reason, "told_at": told_at},
            # Nobody comes back from a deletion.
            where=sa.and_(admission.c.told_at <= told_at, admission.c.closed_reason != AccountDeleted.reason),
        ).returning(admission.c.account_id)
        return (await self.connection.execute(query)).one_or_none() is not None
