"""What operators see and undo: heads under lock, tables as they stand, complaints (P82)."""

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from msgspec import MsgspecError

from services.tables.domain.entries import Opened, decode_body
from services.tables.ports import Head
from services.tables.storage.friends import FriendsTransaction

_LOCK = sa.text("select undone_at from tables.table_head where table_id = :table_id for update")
_UNDO = sa.text("""
update tables.table_head set status = 'voided', undone_at = clock_timestamp()
 where table_id = :table_id and status = 'finished'
""")
_RECORD = sa.text("update tables.game_record set record = :record where table_id = :table_id")
# A friends' table that waits has no head yet, a dealt one has both; tombstones never were tables.
_TABLES = sa.text("""
with wanted as (
  select table_id from tables.seat_claim where account = :account
  union select table_id from tables.game_record where accounts @> array[cast(:account as bytea)]
), found as (
  select h.table_id, h.kind, h.status, h.epoch, h.next_seq, h.created_at, h.ended_at, h.undone_at, h.born,
         case when w.state <> 'gone' and w.incarnation = h.incarnation then w.address end as address
    from tables.table_head h left join tables.worker w on w.worker_id = h.owner
   where h.status <> 'abandoned'
     and (not :live or h.status = 'live')
     and (cast(:table_id as uuid) is null or h.table_id = :table_id)
     and (cast(:account as bytea) is null or h.table_id in (select table_id from wanted))
   order by h.created_at desc, h.table_id desc limit :most
), waiting as (
  select f.table_id, 3 as kind, 'waiting' as status, 0 as epoch, 0 as next_seq, f.created_at,
         cast(null as timestamptz) as ended_at, cast(null as timestamptz) as undone_at, cast(null as date) as born,
         cast(null as text) as address
    from tables.friends_table f
   where f.stage = 'waiting'
     and (cast(:table_id as uuid) is null or f.table_id = :table_id)
     and (cast(:account as bytea) is null or f.table_id in (select table_id from wanted))
   order by f.created_at desc, f.table_id desc limit :most
)
select s.*, l.body, f.choices ->> 'game' as game,
       (select array_agg(t.account order by t.seat) from tables.friends_seat t
         where t.table_id = s.table_id and s.status = 'waiting') as sitting
  from (select * from found union all select * from waiting) s
  left join tables.table_log l on l.table_id = s.table_id and l.born = s.born and l.seq = 0
  left join tables.friends_table f on f.table_id = s.table_id
 order by s.created_at desc, s.table_id desc limit :most
""")
_REPORTS = sa.text("""
select n, table_id, reporter, reported, words, lines, at from tables.chat_report
 where (cast(:reported as bytea) is null or reported = :reported) and (cast(:before as bigint) is null or n < :before)
 order by n desc limit :most
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSeen:
    """A table as operators see it: never a card.

    `status` is a head's or "waiting"; `accounts` are the people as seated at the start; while it waits, who sits.
    """

    table_id: UUID
    kind: int
    game: str
    status: str
    worker_address: str
    epoch: int
    rows: int
    accounts: Sequence[bytes]
    created_at: datetime
    ended_at: datetime | None
    had_finished: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSeen:
    """One complaint; `lines` are (number, when as PostgreSQL's JSON writes it, words), oldest first."""

    n: int
    table_id: UUID
    reporter: bytes
    reported: bytes
    words: str
    lines: Sequence[tuple[int, str, str]]
    at: datetime


class OperatorsTransaction(FriendsTransaction):
    """What one transaction can do for operators, besides tables and chat."""

    async def lock_head(self, table_id: UUID) -> tuple[Head, bool] | None:
        """The head, and whether it was undone after its end; no row of its journal is written until this ends."""
        locked = (await self.connection.execute(_LOCK, {"table_id": table_id})).one_or_none()
        if locked is None:
            return None
        head = await self.head(table_id)
        assert head is not None, "it is locked"
        return head, locked.undone_at is not None

    async def undo(self, table_id: UUID) -> None:
        """A finished game is voided; its head must be locked."""
        done = await self.connection.execute(_UNDO, {"table_id": table_id})
        assert done.rowcount == 1, "locked and finished"

    async def replace_record(self, table_id: UUID, record: bytes) -> None:
        """Store another record in the place of the one that is kept."""
        await self.connection.execute(_RECORD, {"table_id": table_id, "record": zlib.compress(record)})

    async def tables_seen(
        self, *, account: bytes | None, table_id: UUID | None, live: bool, most: int
    ) -> list[TableSeen]:
        """Tables, newest first: all, those of an account, or one; `live` ones and those that wait alone."""
        found = await self.connection.execute(
            _TABLES, {"account": account, "table_id": table_id, "live": live, "most": most}
        )
        return [_seen(row) for row in found]

    async def reports(self, *, reported: bytes | None, before: int | None, most: int) -> list[ReportSeen]:
        """Complaints older than number `before`, newest first."""
        found = await self.connection.execute(_REPORTS, {"reported": reported, "before": before, "most": most})
        return [
            ReportSeen(
                n=row.n,
                table_id=UUID(bytes=row.table_id.bytes),
                reporter=bytes(row.reporter),
                reported=bytes(row.reported),
                words=row.words,
                lines=[
                    (line, at, words)
                    for line, at, words in (row.lines if isinstance(row.lines, list) else json.loads(row.lines))
                ],
                at=row.at,
            )
            for row in found
        ]


def _seen(row: Any) -> TableSeen:
    opened = _opened(row.body)
    return TableSeen(
        table_id=UUID(bytes=row.table_id.bytes),
        kind=row.kind,
        game=opened.game if opened is not None else row.game or "",
        status=row.status,
        worker_address=row.address or "",
        epoch=row.epoch,
        rows=row.next_seq,
        accounts=(
            [bytes(account) for account in row.sitting or ()]
            if opened is None
            else [seat.account for seat in opened.seats if seat.account]
        ),
        created_at=row.created_at,
        ended_at=row.ended_at,
        had_finished=row.undone_at is not None,
    )


def _opened(body: bytes | None) -> Opened | None:
    """Row 0; None where there is none, or nobody can read it: operators must see such a table too."""
    if body is None:
        return None
    try:
        first = decode_body(bytes(body))
    except MsgspecError:
        return None
    return first if isinstance(first, Opened) else None
