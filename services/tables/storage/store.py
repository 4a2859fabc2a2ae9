"""Heads, rows and records through SQLAlchemy: everything that is not on the hot path."""

import zlib
from collections.abc import Collection, Sequence
from datetime import date, datetime
from itertools import groupby
from operator import attrgetter
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, BYTEA

from services.tables.domain.entries import decode_body
from services.tables.ports import Head, Row, Standing
from services.tables.storage.seats import SeatRecords
from services.tables.storage.weeks import WeekRecords

SCHEMA = "tables"

_OPEN = sa.text("""
insert into tables.table_head (table_id, born, kind, status, epoch, next_seq, checkpoint_seq, rules_version, owner,
                               incarnation)
values (:table_id, (clock_timestamp() at time zone 'UTC')::date, :kind, 'live', 1, :next_seq, :checkpoint_seq,
        :rules_version, :owner, :incarnation)
on conflict (table_id) do nothing returning born
""")
_ROW = sa.text("""
insert into tables.table_log (table_id, born, seq, epoch, command_id, body)
values (:table_id, :born, :seq, 1, :command_id, :body)
""")
_TOMBSTONE = sa.text("""
insert into tables.table_head (table_id, born, kind, status, epoch, next_seq, rules_version, ended_at)
values (:table_id, (clock_timestamp() at time zone 'UTC')::date, 0, 'abandoned', 0, 0, 0, clock_timestamp())
on conflict (table_id) do nothing
""")
_HEADS = sa.text("""
select h.table_id, h.born, h.kind, h.status, h.epoch, h.next_seq, h.checkpoint_seq,
       case when w.state <> 'gone' and w.incarnation = h.incarnation then w.address end as owner_address
  from tables.table_head h left join tables.worker w on w.worker_id = h.owner
 where h.table_id = any(:tables)
""").bindparams(sa.bindparam("tables", type_=ARRAY(sa.Uuid())))
_ROWS = sa.text("""
select seq, body, at from tables.table_log
 where table_id = :table_id and born = :born and (seq = 0 or seq >= :since) order by seq
""")
_STANDINGS = sa.text("""
select h.table_id, h.born, h.kind, h.status, h.epoch, h.next_seq, h.checkpoint_seq, l.seq, l.body
  from tables.table_head h
  join tables.table_log l
    on l.table_id = h.table_id and l.born = h.born and (l.seq = 0 or l.seq >= h.checkpoint_seq)
 where h.table_id = any(:tables) and h.status = 'live' order by h.table_id, l.seq
""").bindparams(sa.bindparam("tables", type_=ARRAY(sa.Uuid())))
_END = sa.text("""
update tables.table_head set status = :status, owner = null, incarnation = null, ended_at = clock_timestamp()
 where table_id = :table_id and epoch = :epoch and status = 'live'
""")
_KEEP = sa.text("""
insert into tables.game_record (table_id, finished_at, week_id, accounts, record)
values (:table_id, :finished_at, :week_id, :accounts, :record)
""").bindparams(sa.bindparam("accounts", type_=ARRAY(BYTEA)))
_RECORD = sa.text("select accounts, record from tables.game_record where table_id = :table_id")


class TablesTransaction(SeatRecords, WeekRecords):
    """What one transaction can do with heads, rows, records, seats and weeks."""

    async def open(
        self,
        table_id: UUID,
        *,
        kind: int,
        rules_version: int,
        owner: str,
        incarnation: UUID,
        bodies: Sequence[tuple[UUID, bytes]],
    ) -> date | None:
        """Insert a head with its first rows, given as (command id, body), the last being a checkpoint.

        Returns the day of birth, or None when the id is taken (by a table or a tombstone).
        """
        found = await self.connection.execute(
            _OPEN,
            {
                "table_id": table_id,
                "kind": kind,
                "rules_version": rules_version,
                "next_seq": len(bodies),
                "checkpoint_seq": len(bodies) - 1,
                "owner": owner,
                "incarnation": incarnation,
            },
        )
        born = found.scalar_one_or_none()
        if born is None:
            return None
        for seq, (command_id, body) in enumerate(bodies):
            await self.connection.execute(
                _ROW, {"table_id": table_id, "born": born, "seq": seq, "command_id": command_id, "body": body}
            )
        day: date = born
        return day

    async def bury(self, table_id: UUID) -> None:
        """Make a deal under this id impossible, if there is none yet. Idempotent."""
        await self.connection.execute(_TOMBSTONE, {"table_id": table_id})

    async def head(self, table_id: UUID) -> Head | None:
        found = await self.heads([table_id])
        return found[0] if found else None

    async def heads(self, tables: Collection[UUID]) -> list[Head]:
        """The heads of those that there are, in no particular order."""
        rows = await self.connection.execute(_HEADS, {"tables": list(tables)})
        return [_head(row, row.owner_address) for row in rows]

    async def rows(self, table_id: UUID, born: date, since: int = 0) -> list[Row]:
        """Row 0 and those from `since` on, in order."""
        found = await self.connection.execute(_ROWS, {"table_id": table_id, "born": born, "since": since})
        return [Row(seq=row.seq, body=decode_body(bytes(row.body)), at=row.at) for row in found]

    async def standings(self, tables: Sequence[UUID]) -> list[Standing]:
        """The live ones among these tables, with what a fold needs; bodies as they lie there, readable or not."""
        rows = await self.connection.execute(_STANDINGS, {"tables": list(tables)})
        found = []
        for _, of_table in groupby(rows, key=attrgetter("table_id")):
            first, *later = of_table
            found.append(
                Standing(head=_head(first, None), rows=[(row.seq, bytes(row.body)) for row in (first, *later)])
            )
        return found

    async def end(self, table_id: UUID, epoch: int, status: str) -> bool:
        """Close a live table of ours, and free its people; False when it is not ours or live (any more)."""
        done = await self.connection.execute(_END, {"table_id": table_id, "epoch": epoch, "status": status})
        if done.rowcount:
            await self.free_table(table_id)
        return bool(done.rowcount)

    async def keep_record(
        self, table_id: UUID, finished_at: datetime, week_id: str, accounts: Sequence[bytes], record: bytes
    ) -> None:
        """Store a finished game's record, compressed."""
        await self.connection.execute(
            _KEEP,
            {
                "table_id": table_id,
                "finished_at": finished_at,
                "week_id": week_id,
                "accounts": list(accounts),
                "record": zlib.compress(record),
            },
        )

    async def record(self, table_id: UUID) -> tuple[list[bytes], bytes] | None:
        """(accounts that played, record JSON), or None."""
        row = (await self.connection.execute(_RECORD, {"table_id": table_id})).one_or_none()
        if row is None:
            return None
        return [bytes(account) for account in row.accounts], zlib.decompress(bytes(row.record))


def _head(row: Any, owner_address: str | None) -> Head:
    return Head(
        table_id=UUID(bytes=row.table_id.bytes),
        born=row.born,
        kind=row.kind,
        status=row.status,
        epoch=row.epoch,
        next_seq=row.next_seq,
        checkpoint_seq=row.checkpoint_seq,
        owner_address=owner_address,
    )
