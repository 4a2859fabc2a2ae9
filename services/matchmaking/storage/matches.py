"""Queries over matches and pools."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from libs.house.modes import Mode
from services.matchmaking.domain.ids import TableId
from services.matchmaking.domain.matches import UNFINISHED, Match, MatchState
from services.matchmaking.domain.tickets import ENDED, TicketState
from services.matchmaking.ports import NewMatch
from services.matchmaking.storage.schema import match, pool_lease, ticket
from services.matchmaking.storage.tickets import UUIDS, ticket_of

# Built once: SQLAlchemy spends more on building it than PostgreSQL on answering.
_table_id = sa.bindparam("table_id", type_=sa.Uuid)
_MATCH = sa.select(match).where(match.c.table_id == _table_id)
_ITS_TICKETS = sa.select(ticket).where(ticket.c.table_id == _table_id).order_by(ticket.c.ticket_id)
_unfinished = match.c.state.in_(UNFINISHED)


class MatchRecords:
    """The part of a transaction that knows matches and pools."""

    connection: AsyncConnection

    async def hold_pool(self, mode: Mode, owner: UUID, now: datetime, until: datetime) -> bool:
        fresh = insert(pool_lease).values(mode=mode, owner=owner, until=until)
        query = fresh.on_conflict_do_update(
            index_elements=[pool_lease.c.mode],
            set_={"owner": owner, "until": until},
            where=sa.or_(pool_lease.c.owner == owner, pool_lease.c.until <= now),
        ).returning(pool_lease.c.owner)
        return (await self.connection.execute(query)).one_or_none() is not None

    async def leave_pools(self, owner: UUID) -> None:
        await self.connection.execute(sa.delete(pool_lease).where(pool_lease.c.owner == owner))

    async def insert_matches(self, matches: Sequence[NewMatch], now: datetime, next_try_at: datetime) -> None:
        if not matches:
            return
        # Arrays: two statements, however many tables.
        made = (
            sa.func.unnest(
                sa.bindparam("made", [each.table_id for each in matches], type_=UUIDS),
                sa.bindparam("modes", [each.mode.value for each in matches], type_=sa.ARRAY(sa.Text)),
            )
            .table_valued(sa.column("table_id", sa.Uuid), sa.column("mode", sa.Text), name="made")
            .render_derived()
        )
        columns = (match.c.table_id, match.c.mode, match.c.state, match.c.created_at, match.c.next_try_at)
        rows = sa.select(
            made.c.table_id,
            made.c.mode,
            sa.literal(MatchState.FORMING.value, sa.Text),
            sa.literal(now, sa.DateTime(timezone=True)),
            sa.literal(next_try_at, sa.DateTime(timezone=True)),
        )
        await self.connection.execute(sa.insert(match).from_select(columns, rows))
        pairs = [(ticket_id, each.table_id) for each in matches for ticket_id in each.ticket_ids]
        placed = (
            sa.func.unnest(
                sa.bindparam("tickets", [ticket_id for ticket_id, _ in pairs], type_=UUIDS),
                sa.bindparam("tables", [table_id for _, table_id in pairs], type_=UUIDS),
            )
            .table_valued(sa.column("ticket_id", sa.Uuid), sa.column("table_id", sa.Uuid), name="placed")
            .render_derived()
        )
        moved = await self.connection.execute(
            sa.update(ticket)
            .where(ticket.c.ticket_id == placed.c.ticket_id, ticket.c.state == TicketState.WAITING)
            .values(state=TicketState.MATCHED, table_id=placed.c.table_id, changed_at=now)
        )
        assert moved.rowcount == len(pairs), "tickets to be matched are locked"

    async def match(self, table_id: TableId) -> Match | None:
        given = {"table_id": table_id}
        found = (await self.connection.execute(_MATCH, given)).one_or_none()
        if found is None:
            return None
        tickets = tuple(ticket_of(row) for row in await self.connection.execute(_ITS_TICKETS, given))
        return Match(
            table_id=table_id,
            mode=Mode(found.mode),
            state=MatchState(found.state),
            created_at=found.created_at,
            tickets=tickets,
        )

    async def take_due(self, now: datetime, until: datetime, limit: int) -> Sequence[TableId]:
        due = (
            sa.select(match.c.table_id)
            .where(_unfinished, match.c.next_try_at <= now)
            .order_by(match.c.next_try_at)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        query = sa.update(match).where(match.c.table_id.in_(due)).values(next_try_at=until).returning(match.c.table_id)
        return [TableId(row.table_id) for row in await self.connection.execute(query)]

    async def postpone(self, table_id: TableId, until: datetime) -> None:
        await self.connection.execute(
            sa.update(match).where(match.c.table_id == table_id, _unfinished).values(next_try_at=until)
        )

    async def move_match(self, table_id: TableId, came_from: Sequence[MatchState], to: MatchState) -> bool:
        query = sa.update(match).where(match.c.table_id == table_id, match.c.state.in_(came_from)).values(state=to)
        return bool((await self.connection.execute(query)).rowcount)

    async def forget_ended(self, before: datetime) -> int:
        gone = await self.connection.execute(
            # By the ended states, not by "not the live ones": only so is the partial index of ended tickets used.
            sa.delete(ticket).where(ticket.c.state.in_(ENDED), ticket.c.changed_at < before)
        )
        named = sa.select(ticket.c.table_id).where(ticket.c.table_id == match.c.table_id).exists()
        await self.connection.execute(
            sa.delete(match).where(match.c.state.not_in(UNFINISHED), match.c.created_at < before, ~named)
        )
        return gone.rowcount
