"""Queries over tickets."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from libs.house.modes import Coffee, Mode
from libs.house.names import ERASED_NAME
from services.matchmaking.domain.errors import TABLE_FAILED
from services.matchmaking.domain.ids import AccountId, TableId, TicketId
from services.matchmaking.domain.matches import TABLES_TRIED
from services.matchmaking.domain.tickets import LIVE, InLine, Ticket, TicketState, Tier, Waiting, Wish
from services.matchmaking.ports import Pool
from services.matchmaking.storage.schema import ticket

UUIDS = sa.ARRAY(sa.Uuid)
UNLINKED = b""

WAITING_COLUMNS = (ticket.c.ticket_id, ticket.c.room, ticket.c.tier, ticket.c.created_at, ticket.c.linkage)
TIERS = {tier.value: tier for tier in Tier}

# The predicate of the unique index `seat_claim`; ON CONFLICT has to repeat it.
LIVE_SQL = "state in ('waiting', 'matched', 'seated')"

_live = ticket.c.state.in_(LIVE)
_waiting = ticket.c.state == TicketState.WAITING
_matched = ticket.c.state == TicketState.MATCHED
_unseated = ticket.c.state.in_((TicketState.WAITING, TicketState.MATCHED))
_at_table = ticket.c.state.in_((TicketState.MATCHED, TicketState.SEATED))


def ticket_of(row: Any) -> Ticket:
    """The domain's ticket of a whole row."""
    return Ticket(
        ticket_id=TicketId(row.ticket_id),
        wish=Wish(
            account_id=AccountId(row.account_id),
            guest=row.guest,
            name=row.name,
            room=row.room,
            mode=Mode(row.mode),
            coffee=Coffee(row.coffee),
            linkage=row.linkage,
        ),
        tier=Tier(row.tier),
        created_at=row.created_at,
        changed_at=row.changed_at,
        state=TicketState(row.state),
        table_id=None if row.table_id is None else TableId(row.table_id),
        failures=row.failures,
        dropped_reason=row.dropped_reason,
    )


# Built once: SQLAlchemy spends more on building it than PostgreSQL on answering.
_INSERT = (
    insert(ticket)
    .on_conflict_do_nothing(index_elements=[ticket.c.account_id], index_where=sa.text(LIVE_SQL))
    .returning(ticket)
)
_age = (ticket.c.created_at, ticket.c.ticket_id)
_line = (
    sa.select(
        *WAITING_COLUMNS,
        sa.func.row_number().over(partition_by=ticket.c.room, order_by=_age).label("position"),
        sa.func.count().over(partition_by=ticket.c.room).label("waiting"),
        sa.func.row_number().over(order_by=_age).label("place"),
    )
    .where(ticket.c.mode == sa.bindparam("mode", type_=sa.Text), _waiting)
    .subquery()
)
_POOL = (
    sa.select(_line)
    .where(
        sa.or_(
            _line.c.place <= sa.bindparam("shown", type_=sa.BigInteger),
            _line.c.ticket_id == sa.func.any(sa.bindparam("asked", type_=UUIDS)),
        )
    )
    .order_by(_line.c.place)
)


class TicketRecords:
    """The part of a transaction that knows tickets."""

    connection: AsyncConnection

    async def live_ticket(self, account_id: AccountId) -> Ticket | None:
        query = sa.select(ticket).where(ticket.c.account_id == account_id, _live)
        row = (await self.connection.execute(query)).one_or_none()
        return None if row is None else ticket_of(row)

    async def latest_tickets(self, account_ids: Sequence[AccountId]) -> Mapping[AccountId, Ticket]:
        # One index probe an account; DISTINCT ON would read every ticket they ever had.
        asked = (
            sa.func.unnest(sa.bindparam("asked", list(account_ids), type_=UUIDS))
            .table_valued(sa.column("account_id", sa.Uuid), name="asked")
            .render_derived()
        )
        latest = (
            sa.select(ticket)
            .where(ticket.c.account_id == asked.c.account_id)
            .order_by(ticket.c.created_at.desc(), ticket.c.ticket_id.desc())
            .limit(1)
            .lateral("latest")
        )
        rows = await self.connection.execute(sa.select(latest).select_from(asked.join(latest, sa.true())))
        return {AccountId(row.account_id): ticket_of(row) for row in rows}

    async def insert_ticket(self, ticket_id: TicketId, wish: Wish, tier: Tier, now: datetime) -> Ticket | None:
        given = {
            "ticket_id": ticket_id,
            "account_id": wish.account_id,
            "guest": wish.guest,
            "name": wish.name,
            "room": wish.room,
            "mode": wish.mode,
            "coffee": wish.coffee,
            "tier": tier,
            "created_at": now,
            "changed_at": now,
            "state": TicketState.WAITING,
            "linkage": wish.linkage,
        }
        row = (await self.connection.execute(_INSERT, given)).one_or_none()
        return None if row is None else ticket_of(row)

    async def cancel_ticket(self, account_id: AccountId, now: datetime) -> bool:
        query = (
            sa.update(ticket)
            .where(ticket.c.account_id == account_id, _waiting)
            .values(state=TicketState.CANCELLED, changed_at=now, linkage=UNLINKED)
        )
        return bool((await self.connection.execute(query)).rowcount)

    async def shut_out_ticket(self, account_id: AccountId, reason: str, now: datetime) -> Ticket | None:
        query = (
            sa.update(ticket)
            .where(ticket.c.account_id == account_id, _waiting)
            .values(state=TicketState.CANCELLED, dropped_reason=reason, changed_at=now, linkage=UNLINKED)
            .returning(ticket)
        )
        row = (await self.connection.execute(query)).one_or_none()
        return None if row is None else ticket_of(row)

    async def rename(self, account_id: AccountId, name: str, *, guest: bool | None = None) -> None:
        values: dict[str, object] = {"name": name} if guest is None else {"name": name, "guest": guest}
        query = sa.update(ticket).where(ticket.c.account_id == account_id, _unseated).values(**values)
        await self.connection.execute(query)

    async def erase_names(self, account_id: AccountId) -> None:
        await self.connection.execute(
            sa.update(ticket).where(ticket.c.account_id == account_id).values(name=ERASED_NAME)
        )

    async def pool(self, mode: Mode, limit: int, asked: Sequence[TicketId]) -> Pool:
        given = {"mode": mode.value, "shown": limit, "asked": list(asked)}
        rows = list(await self.connection.execute(_POOL, given))
        wanted = set(asked)
        return Pool(
            oldest=tuple(_waiting_of(*row[: len(WAITING_COLUMNS)]) for row in rows if row.place <= limit),
            lines={
                TicketId(row.ticket_id): InLine(position=row.position, waiting=row.waiting)
                for row in rows
                if row.ticket_id in wanted
            },
        )

    async def waiting(self, mode: Mode, limit: int) -> Sequence[Waiting]:
        query = (
            sa.select(*WAITING_COLUMNS)
            .where(ticket.c.mode == mode, _waiting)
            .order_by(ticket.c.created_at, ticket.c.ticket_id)
            .limit(limit)
        )
        return [_waiting_of(*row) for row in await self.connection.execute(query)]

    async def lock_waiting(self, ticket_ids: Sequence[TicketId]) -> frozenset[TicketId]:
        if not ticket_ids:
            return frozenset()
        ids = sa.bindparam("ids", list(ticket_ids), type_=UUIDS)
        query = sa.select(ticket.c.ticket_id).where(ticket.c.ticket_id == sa.func.any(ids), _waiting)
        rows = await self.connection.execute(query.with_for_update(skip_locked=True))
        return frozenset(TicketId(row.ticket_id) for row in rows)

    async def waiting_by_mode(self) -> Mapping[Mode, int]:
        query = sa.select(ticket.c.mode, sa.func.count()).where(_waiting).group_by(ticket.c.mode)
        return {Mode(mode): count for mode, count in await self.connection.execute(query)}

    async def waiting_by_room(self) -> Mapping[int, int]:
        query = sa.select(ticket.c.room, sa.func.count().label("people")).where(_waiting).group_by(ticket.c.room)
        return {row.room: row.people for row in await self.connection.execute(query)}

    async def drop_tickets(
        self, table_id: TableId, reasons: Mapping[AccountId, str], now: datetime
    ) -> Sequence[Ticket]:
        reason = sa.case(*((ticket.c.account_id == account_id, text) for account_id, text in reasons.items()))
        query = (
            sa.update(ticket)
            .where(ticket.c.table_id == table_id, _matched, ticket.c.account_id.in_(list(reasons)))
            .values(state=TicketState.DROPPED, dropped_reason=reason, changed_at=now, linkage=UNLINKED)
            .returning(ticket)
        )
        return await self._changed(query)

    async def seat_tickets(self, table_id: TableId, now: datetime) -> Sequence[Ticket]:
        query = (
            sa.update(ticket)
            .where(ticket.c.table_id == table_id, _matched)
            .values(state=TicketState.SEATED, changed_at=now, linkage=UNLINKED)
            .returning(ticket)
        )
        return await self._changed(query)

    async def return_tickets(self, table_id: TableId, now: datetime) -> Sequence[Ticket]:
        given_up = ticket.c.failures + 1 >= TABLES_TRIED
        query = (
            sa.update(ticket)
            .where(ticket.c.table_id == table_id, _matched)
            .values(
                failures=ticket.c.failures + 1,
                state=sa.case((given_up, TicketState.DROPPED), else_=TicketState.WAITING),
                dropped_reason=sa.case((given_up, TABLE_FAILED), else_=""),
                table_id=sa.case((given_up, ticket.c.table_id), else_=None),
                linkage=sa.case((given_up, UNLINKED), else_=ticket.c.linkage),
                changed_at=now,
            )
            .returning(ticket)
        )
        return await self._changed(query)

    async def end_seat(self, table_id: TableId, account_id: AccountId, now: datetime) -> bool:
        query = (
            sa.update(ticket)
            .where(ticket.c.table_id == table_id, ticket.c.account_id == account_id, _at_table)
            .values(state=TicketState.DONE, changed_at=now, linkage=UNLINKED)
        )
        return bool((await self.connection.execute(query)).rowcount)

    async def _end_seats(self, table_id: TableId, now: datetime) -> None:
        await self.connection.execute(
            sa.update(ticket)
            .where(ticket.c.table_id == table_id, _at_table)
            .values(state=TicketState.DONE, changed_at=now, linkage=UNLINKED)
        )

    async def _changed(self, query: sa.sql.dml.ReturningUpdate[Any]) -> Sequence[Ticket]:
        return [ticket_of(row) for row in await self.connection.execute(query)]


def _waiting_of(ticket_id: Any, room: int, tier: int, created_at: datetime, linkage: bytes) -> Waiting:
    """Of `WAITING_COLUMNS`; thousands a second, so by place and not by name."""
    return Waiting(ticket_id=TicketId(ticket_id), room=room, tier=TIERS[tier], created_at=created_at, linkage=linkage)
