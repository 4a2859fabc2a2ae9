"""Friends' tables before their deal, and chat: rows, leases by the database's clock, one change at a time."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, BYTEA, JSONB
from sqlalchemy.dialects.postgresql import UUID as PG_UUID

from libs.house.bots import Strength
from services.tables.domain.entries import SeatFacts
from services.tables.domain.errors import AlreadySeated, SeatTaken
from services.tables.domain.waiting import Choices, Stage, WaitingTable
from services.tables.storage.silences import SilenceRecords
from services.tables.storage.store import TablesTransaction

LINES_MAX = 50  # of chat, for whoever comes in
KEPT_LINES = timedelta(days=30)
KEPT_TABLES = timedelta(days=1)  # after its end: so long may a rematch be asked for

_INSERT = sa.text("""
insert into tables.friends_table (table_id, opened_by, stage, host, choices, listed, people_until)
values (:table_id, :opened_by, 'waiting', :host, :choices, :listed, clock_timestamp() + :deserted)
on conflict (opened_by) do nothing
""").bindparams(sa.bindparam("choices", type_=JSONB))
_TABLES = """
select t.table_id, t.stage, t.version, t.spoken, t.host, t.choices, t.barred,
       s.seat, s.account, s.name, s.guest, s.waiting and s.lease_until < clock_timestamp() as expired
  from {chosen} t left join tables.friends_seat s using (table_id)
 order by t.created_at desc, t.table_id, s.seat
"""
_OPENED_BY = sa.text("select table_id from tables.friends_table where opened_by = :opened_by")
# Not "for update": a journal row that seats somebody there need not wait for a line of chat.
_LOCK = sa.text("select 1 from tables.friends_table where table_id = :table_id for no key update")
_GET = sa.text(_TABLES.format(chosen="(select * from tables.friends_table where table_id = :table_id)"))
_LIST = sa.text(
    _TABLES.format(
        chosen="""(
  select f.* from tables.friends_table f left join tables.table_head h using (table_id)
   where f.listed and ((f.stage = 'waiting' and f.people_until > clock_timestamp())
                    or (f.stage = 'dealt' and h.status = 'live'))
   order by f.created_at desc limit :most)"""
    )
)
_REQUEST = sa.text("""
insert into tables.friends_request (table_id, request_id) values (:table_id, :request_id) on conflict do nothing
""")
_UPDATE = sa.text("""
update tables.friends_table
   set stage = :stage, version = version + 1, host = :host, choices = :choices, listed = :listed, barred = :barred,
       changed_at = clock_timestamp()
 where table_id = :table_id and version = :version
""").bindparams(sa.bindparam("choices", type_=JSONB), sa.bindparam("barred", type_=ARRAY(BYTEA)))
_UNSEAT = sa.text("delete from tables.friends_seat where table_id = :table_id and seat = :seat")
_SEAT = sa.text("""
insert into tables.friends_seat (table_id, seat, account, name, guest, lease_until)
values (:table_id, :seat, :account, :name, :guest, clock_timestamp() + :lease)
on conflict do nothing
""")
_SETTLE = sa.text("update tables.friends_seat set waiting = false where table_id = :table_id")
# The tables first and in one order, as everybody who changes one: a deal that waits for a seat's row while the seat's
# renewal waits for the table's would be a deadlock.
_RENEW = sa.text("""
with seen as (
  select * from unnest(cast(:tables as uuid[]), cast(:accounts as bytea[])) as s(table_id, account)
), held as (
  select t.table_id from tables.friends_table t
   where t.stage = 'waiting' and t.table_id in (
     select f.table_id from tables.friends_seat f join seen using (table_id, account) where f.waiting)
   order by t.table_id for no key update of t
), seat as (
  update tables.friends_seat f set lease_until = clock_timestamp() + :lease
    from seen join held using (table_id)
   where f.table_id = seen.table_id and f.account = seen.account and f.waiting
  returning f.table_id
)
update tables.friends_table t set people_until = clock_timestamp() + :deserted
 where t.stage = 'waiting' and t.table_id in (select table_id from seat)
""").bindparams(
    sa.bindparam("tables", type_=ARRAY(PG_UUID(as_uuid=True))), sa.bindparam("accounts", type_=ARRAY(BYTEA))
)
_LEFT = sa.text("""
select distinct t.table_id from tables.friends_table t left join tables.friends_seat s using (table_id)
 where t.stage = 'waiting' and (t.people_until < clock_timestamp() or s.lease_until < clock_timestamp()) limit :most
""")
_DESERTED = sa.text("""
select people_until < clock_timestamp() from tables.friends_table where table_id = :table_id
""")
_VERSIONS = sa.text("""
select table_id, version, spoken from tables.friends_table where table_id = any(:tables)
""").bindparams(sa.bindparam("tables", type_=ARRAY(PG_UUID(as_uuid=True))))
_SAY = sa.text("""
insert into tables.chat_line (table_id, request_id, account, name, words)
values (:table_id, :request_id, :account, :name, :words)
on conflict (table_id, request_id) do nothing returning line
""")
_SAID = sa.text("select line from tables.chat_line where table_id = :table_id and request_id = :request_id")
_SPOKEN = sa.text("update tables.friends_table set spoken = :line where table_id = :table_id")
_LINES = sa.text("""
select line, account, name, words, at from (
  select * from tables.chat_line where table_id = :table_id and line > :since order by line desc limit :most
) newest order by line
""")
_MUTE = sa.text("insert into tables.chat_mute (account, muted) values (:account, :muted) on conflict do nothing")
_UNMUTE = sa.text("delete from tables.chat_mute where account = :account and muted = :muted")
_MUTED = sa.text("select muted from tables.chat_mute where account = :account")
_REPORT = sa.text("""
insert into tables.chat_report (report_id, table_id, reporter, reported, words, lines)
select :report_id, :table_id, :reporter, :reported, :words, coalesce((
  select jsonb_agg(jsonb_build_array(l.line, l.at, l.words) order by l.line) from (
    select * from tables.chat_line where table_id = :table_id and account = :reported order by line desc limit :most) l
), '[]')
on conflict (report_id) do nothing
""")
_FORGET_LINES = sa.text("delete from tables.chat_line where at < clock_timestamp() - cast(:kept as interval)")
_FORGET_TABLES = sa.text("""
delete from tables.friends_table t
 where (t.stage = 'closed' and t.changed_at < clock_timestamp() - cast(:kept as interval))
    or (t.stage = 'dealt' and exists (
       select from tables.table_head h
        where h.table_id = t.table_id and h.ended_at < clock_timestamp() - cast(:kept as interval)))
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """How long a person, and a table without people, may be silent."""

    seat: timedelta
    deserted: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of chat."""

    line: int
    account: bytes
    name: str
    words: str
    at: datetime


class FriendsTransaction(SilenceRecords, TablesTransaction):
    """What one transaction can do with friends' tables and chat, besides live tables."""

    async def insert_waiting(self, table: WaitingTable, opened_by: UUID, lease: Lease) -> UUID:
        """Write a new table with its people; returns its id, or that of the table which `opened_by` has made before.

        Raises AlreadySeated.
        """
        done = await self.connection.execute(
            _INSERT,
            {
                "table_id": table.table_id,
                "opened_by": opened_by,
                "host": table.host,
                "choices": _plain(table.choices),
                "listed": table.choices.listed,
                "deserted": lease.deserted,
            },
        )
        if not done.rowcount:
            first = await self.opened_by(opened_by)
            assert first is not None, "the insert has met it"
            return first
        await self._claim(table.table_id, [person.account for person in table.people])
        for seat, person in enumerate(table.chairs):
            if person is not None:
                await self._seat(table.table_id, seat, person, lease)
        return table.table_id

    async def opened_by(self, opened_by: UUID) -> UUID | None:
        """The table that this command has made."""
        first = (await self.connection.execute(_OPENED_BY, {"opened_by": opened_by})).scalar_one_or_none()
        return None if first is None else UUID(bytes=first.bytes)

    async def lock_waiting(self, table_id: UUID) -> tuple[WaitingTable, list[bytes]] | None:
        """The table, and the accounts whose lease is over; nobody else changes it until this transaction ends."""
        if (await self.connection.execute(_LOCK, {"table_id": table_id})).one_or_none() is None:
            return None
        rows = (await self.connection.execute(_GET, {"table_id": table_id})).all()
        return _tables(rows)[0], [bytes(row.account) for row in rows if row.expired]

    async def waiting(self, table_id: UUID) -> WaitingTable | None:
        """The table as it stands."""
        found = _tables((await self.connection.execute(_GET, {"table_id": table_id})).all())
        return found[0] if found else None

    async def listed(self, most: int) -> list[WaitingTable]:
        """Listed tables whose lease runs, or whose game does; newest first."""
        return _tables((await self.connection.execute(_LIST, {"most": most})).all())

    async def note_request(self, table_id: UUID, request_id: UUID) -> bool:
        """False: this command has been carried out before."""
        done = await self.connection.execute(_REQUEST, {"table_id": table_id, "request_id": request_id})
        return bool(done.rowcount)

    async def keep_waiting(self, before: WaitingTable, after: WaitingTable, lease: Lease) -> None:
        """Write a locked table's change. Raises AlreadySeated: somebody who sits down has a seat elsewhere."""
        done = await self.connection.execute(
            _UPDATE,
            {
                "table_id": after.table_id,
                "stage": after.stage.value,
                "version": before.version,
                "host": after.host,
                "choices": _plain(after.choices),
                "listed": after.choices.listed,
                "barred": sorted(after.barred),
            },
        )
        assert done.rowcount == 1, "the table is locked"
        # Who moves leaves the old seat first: an account sits once.
        after_closing = after.chairs if after.stage is not Stage.CLOSED else (None,) * len(after.chairs)
        width = max(len(before.chairs), len(after_closing))
        old, new = (chairs + (None,) * (width - len(chairs)) for chairs in (before.chairs, after_closing))
        changed = [seat for seat in range(width) if old[seat] != new[seat]]
        were, are = ({person.account for person in chairs if person is not None} for chairs in (old, new))
        await self._claim(after.table_id, are - were)
        if were - are:
            await self.free_seats(after.table_id, were - are)
        for seat in changed:
            if old[seat] is not None:
                await self.connection.execute(_UNSEAT, {"table_id": after.table_id, "seat": seat})
        for seat in changed:
            person = new[seat]
            if person is not None:
                await self._seat(after.table_id, seat, person, lease)
        if after.stage is Stage.DEALT:
            await self.connection.execute(_SETTLE, {"table_id": after.table_id})

    async def _seat(self, table_id: UUID, seat: int, person: SeatFacts, lease: Lease) -> None:
        done = await self.connection.execute(
            _SEAT,
            {
                "table_id": table_id,
                "seat": seat,
                "account": person.account,
                "name": person.name,
                "guest": person.guest,
                "lease": lease.seat,
            },
        )
        if not done.rowcount:
            raise SeatTaken(seat=seat)

    async def _claim(self, table_id: UUID, accounts: Collection[bytes]) -> None:
        """Raises AlreadySeated, with one of the tables at which they sit."""
        if accounts:
            for at in (await self.claim_seats(table_id, accounts)).values():
                raise AlreadySeated(table=at.hex)

    async def renew(self, present: Collection[tuple[UUID, bytes]], lease: Lease) -> None:
        """These accounts are there: their seats, and the tables at which they sit, are kept."""
        await self.connection.execute(
            _RENEW,
            {
                "tables": [table_id for table_id, _ in present],
                "accounts": [account for _, account in present],
                "lease": lease.seat,
                "deserted": lease.deserted,
            },
        )

    async def left(self, most: int) -> list[UUID]:
        """Tables at which a lease is over, their own or a seat's."""
        return [row.table_id for row in await self.connection.execute(_LEFT, {"most": most})]

    async def is_deserted(self, table_id: UUID) -> bool:
        return bool((await self.connection.execute(_DESERTED, {"table_id": table_id})).scalar_one())

    async def versions(self, tables: Sequence[UUID]) -> dict[UUID, tuple[int, int]]:
        """By table: its version and its newest chat line; what is gone is absent."""
        found = await self.connection.execute(_VERSIONS, {"tables": list(tables)})
        return {UUID(bytes=row.table_id.bytes): (row.version, row.spoken) for row in found}

    async def said(self, table_id: UUID, request_id: UUID) -> int | None:
        """The number of the line that this command became."""
        found = await self.connection.execute(_SAID, {"table_id": table_id, "request_id": request_id})
        line: int | None = found.scalar_one_or_none()
        return line

    async def say(self, table_id: UUID, request_id: UUID, who: SeatFacts, words: str) -> int:
        """The line's number; a repeat's is the first's. The table must be locked, so that numbers ascend by commit."""
        found = await self.connection.execute(
            _SAY,
            {
                "table_id": table_id,
                "request_id": request_id,
                "account": who.account,
                "name": who.name,
                "words": words,
            },
        )
        line: int | None = found.scalar_one_or_none()
        if line is not None:
            await self.connection.execute(_SPOKEN, {"table_id": table_id, "line": line})
            return line
        first = await self.said(table_id, request_id)
        assert first is not None, "the insert has met it"
        return first

    async def lines(self, table_id: UUID, since: int) -> list[Line]:
        """The newest lines after `since`, in order, fifty at most."""
        found = await self.connection.execute(_LINES, {"table_id": table_id, "since": since, "most": LINES_MAX})
        return [
            Line(line=row.line, account=bytes(row.account), name=row.name, words=row.words, at=row.at) for row in found
        ]

    async def mute(self, account: bytes, muted: bytes, *, mute: bool) -> None:
        await self.connection.execute(_MUTE if mute else _UNMUTE, {"account": account, "muted": muted})

    async def muted(self, account: bytes) -> frozenset[bytes]:
        """Whose lines this account does not want to see."""
        return frozenset(bytes(row.muted) for row in await self.connection.execute(_MUTED, {"account": account}))

    async def report(self, report_id: UUID, table_id: UUID, reporter: bytes, reported: bytes, words: str) -> None:
        """Keep a complaint with what the other said last. Idempotent by `report_id`."""
        await self.connection.execute(
            _REPORT,
            {
                "report_id": report_id,
                "table_id": table_id,
                "reporter": reporter,
                "reported": reported,
                "words": words,
                "most": LINES_MAX,
            },
        )

    async def forget_old(self) -> None:
        """Drop chat after thirty days, and tables a day after their end."""
        await self.connection.execute(_FORGET_LINES, {"kept": KEPT_LINES})
        await self.connection.execute(_FORGET_TABLES, {"kept": KEPT_TABLES})


def _plain(choices: Choices) -> dict[str, Any]:
    return {
        "game": choices.game,
        "options": dict(choices.options),
        "players": choices.players,
        "bid_seconds": choices.bid_seconds,
        "bots": choices.bots.value,
        "listed": choices.listed,
        "spectators": choices.spectators,
        "open_chat": choices.open_chat,
    }


def _choices(plain: Mapping[str, Any]) -> Choices:
    return Choices(**{**plain, "bots": Strength(plain["bots"])})


def _tables(rows: Sequence[Any]) -> list[WaitingTable]:
    """One table a run of rows, one row a person."""
    by_table: dict[UUID, list[Any]] = {}
    for row in rows:
        by_table.setdefault(UUID(bytes=row.table_id.bytes), []).append(row)
    return [_table(table_id, rows) for table_id, rows in by_table.items()]


def _table(table_id: UUID, rows: Sequence[Any]) -> WaitingTable:
    first = rows[0]
    choices = _choices(first.choices if isinstance(first.choices, dict) else json.loads(first.choices))
    chairs: list[SeatFacts | None] = [None] * choices.players
    for row in rows:
        if row.seat is not None:
            chairs[row.seat] = SeatFacts(bytes(row.account), row.name, row.guest, hints=True)
    return WaitingTable(
        table_id=table_id,
        stage=Stage(first.stage),
        host=bytes(first.host),
        choices=choices,
        chairs=tuple(chairs),
        barred=frozenset(bytes(account) for account in first.barred),
        version=first.version,
        spoken=first.spoken,
    )
