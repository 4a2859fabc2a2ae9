"""What tables hold of a person: lines of chat, complaints, games, and a name in the journals of those (P45)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from libs.chassis.db.database import Transaction

_LINES = sa.text("""
select table_id, at, words from tables.chat_line where account = :account order by line desc limit :most
""")
_REPORTED = sa.text("""
select table_id, at, words, lines, reported from tables.chat_report
 where reporter = :account or reported = :account order by at
""")
_MUTED = sa.text("select muted from tables.chat_mute where account = :account order by muted")
_GAMES = sa.text("""
select table_id, finished_at from tables.game_record where accounts @> array[cast(:account as bytea)]
 order by finished_at desc limit :most
""")
# A complaint stays with its number, for who was complained of; a name goes also from a table that waits or is in play.
_ERASE = (
    sa.text("delete from tables.chat_line where account = :account"),
    sa.text("update tables.chat_report set words = '' where reporter = :account"),
    sa.text("update tables.chat_report set lines = '[]' where reported = :account"),
    sa.text("delete from tables.chat_mute where account = :account or muted = :account"),
    sa.text("insert into tables.erasure (account) values (:account) on conflict do nothing"),
)
_RENAME_SEATS = sa.text("update tables.friends_seat set name = :name where account = :account")
_DUE = sa.text("""
select account, done, asked_at < clock_timestamp() - cast(:pass_after as interval) as last_pass
  from tables.erasure where due_at <= clock_timestamp() order by due_at limit 1 for update skip locked
""")
_TABLES_AFTER = sa.text("""
select r.table_id from tables.game_record r join tables.table_head h using (table_id)
 where r.accounts @> array[cast(:account as bytea)] and h.status <> 'live'
   and (cast(:after as uuid) is null or r.table_id > :after)
 order by r.table_id limit :most
""")
_ROWS = sa.text("""
select table_id, born, seq, body from tables.table_log
 where table_id = any(:tables) and position(cast(:account as bytea) in body) > 0
""").bindparams(sa.bindparam("tables", type_=ARRAY(sa.Uuid())))
_REWRITE = sa.text("""
update tables.table_log set body = :body where table_id = :table_id and born = :born and seq = :seq
""")
_GONE_THROUGH = sa.text("update tables.erasure set done = :done where account = :account")
_NEXT_PASS = sa.text("""
update tables.erasure set done = null, due_at = asked_at + cast(:pass_after as interval) where account = :account
""")
_FINISHED = sa.text("delete from tables.erasure where account = :account")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A line of chat."""

    table_id: UUID
    at: datetime
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """Made by the account, or `of_others` about it, with the lines that were kept of whom it is about."""

    table_id: UUID
    at: datetime
    of_others: bool
    words: str
    lines: Sequence[Sequence[object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """A deleted account whose games are gone through, after the table `done`; once more later unless `last_pass`."""

    account: bytes
    done: UUID | None
    last_pass: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalRow:
    """A row of a journal that may hold a name."""

    table_id: UUID
    born: date
    seq: int
    body: bytes


class PersonalTransaction(Transaction):
    """One transaction over what tables hold of a person."""

    async def said(self, account: bytes, most: int) -> list[Said]:
        """Lines of chat, newest first."""
        rows = await self.connection.execute(_LINES, {"account": account, "most": most})
        return [Said(table_id=row.table_id, at=row.at, words=row.words) for row in rows]

    async def complaints(self, account: bytes) -> list[Complaint]:
        """Oldest first."""
        rows = await self.connection.execute(_REPORTED, {"account": account})
        return [
            Complaint(
                table_id=row.table_id,
                at=row.at,
                of_others=bytes(row.reported) == account,
                words=row.words,
                lines=row.lines,
            )
            for row in rows
        ]

    async def muted(self, account: bytes) -> list[bytes]:
        return [bytes(row.muted) for row in await self.connection.execute(_MUTED, {"account": account})]

    async def games(self, account: bytes, most: int) -> list[tuple[UUID, datetime]]:
        """Finished ones, newest first."""
        rows = await self.connection.execute(_GAMES, {"account": account, "most": most})
        return [(row.table_id, row.finished_at) for row in rows]

    async def erase(self, account: bytes, name: str) -> None:
        """Delete what it said and complained of, put `name` where its own waits at a table, and note its journals."""
        for statement in _ERASE:
            await self.connection.execute(statement, {"account": account})
        await self.connection.execute(_RENAME_SEATS, {"account": account, "name": name})

    async def next_erasure(self, pass_after: timedelta) -> Erasure | None:
        """One that is due, held until the end; nobody else takes it."""
        row = (await self.connection.execute(_DUE, {"pass_after": pass_after})).one_or_none()
        return None if row is None else Erasure(account=bytes(row.account), done=row.done, last_pass=row.last_pass)

    async def ended_tables(self, account: bytes, after: UUID | None, most: int) -> list[UUID]:
        """Tables of its games that are live no more, by id."""
        rows = await self.connection.execute(_TABLES_AFTER, {"account": account, "after": after, "most": most})
        return [UUID(bytes=row.table_id.bytes) for row in rows]

    async def rows_naming(self, account: bytes, tables: Sequence[UUID]) -> list[JournalRow]:
        """Rows of these journals in which the account occurs."""
        rows = await self.connection.execute(_ROWS, {"account": account, "tables": list(tables)})
        return [JournalRow(table_id=row.table_id, born=row.born, seq=row.seq, body=bytes(row.body)) for row in rows]

    async def rewrite(self, row: JournalRow, body: bytes) -> None:
        values = {"table_id": row.table_id, "born": row.born, "seq": row.seq, "body": body}
        await self.connection.execute(_REWRITE, values)

    async def gone_through(self, account: bytes, done: UUID) -> None:
        await self.connection.execute(_GONE_THROUGH, {"account": account, "done": done})

    async def end_pass(self, erasure: Erasure, pass_after: timedelta) -> None:
        """Nothing is left of this pass: forget the account, or come again for games that were in play meanwhile."""
        values: dict[str, object] = {"account": erasure.account}
        if erasure.last_pass:
            await self.connection.execute(_FINISHED, values)
        else:
            await self.connection.execute(_NEXT_PASS, values | {"pass_after": pass_after})
