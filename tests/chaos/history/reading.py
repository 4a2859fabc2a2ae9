"""A history out of a running system's database, once its outboxes are empty."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

import asyncpg

from tests.chaos.history.model import ClientLog, History, Journal, Row

EMPTY_SECONDS = 20.0  # a relay that found its broker away asks again within this
PROBE_SECONDS = 0.1

HEADS = """
select table_id, status, epoch, next_seq, coalesce(owner, '') as owner, owned_at from tables.table_head
 where table_id = any($1::uuid[])
"""
ROWS = """
select table_id, seq, epoch, command_id, body, at from tables.table_log where table_id = any($1::uuid[]) order by seq
"""
EVENTS = "select key, type from tables.event where key = any($1::bytea[])"
WAITING = "select count(*) from tables.outbox"


async def now(database: asyncpg.Connection) -> datetime:
    """By the database's clock."""
    moment: datetime = await database.fetchval("select clock_timestamp()")
    return moment


async def read(
    database: asyncpg.Connection,
    tables: Iterable[UUID],
    clients: Iterable[ClientLog],
    *,
    healed_at: datetime | None = None,
    finishes: bool = False,
) -> History:
    """The tables' journals beside the clients' logs. What is still in the outbox after a while is counted."""
    wanted = list(tables)
    waiting = await _unpublished(database)
    async with database.transaction(isolation="repeatable_read", readonly=True):
        heads = await database.fetch(HEADS, wanted)
        rows = await database.fetch(ROWS, wanted)
        events = await database.fetch(EVENTS, [table.bytes for table in wanted])
    by_table: dict[UUID, list[Row]] = defaultdict(list)
    for row in rows:
        by_table[_id(row["table_id"])].append(
            Row(
                seq=row["seq"], epoch=row["epoch"], command_id=_id(row["command_id"]), body=row["body"], at=row["at"],
            )
        )  # fmt: skip
    published: dict[UUID, list[str]] = defaultdict(list)
    for event in events:
        published[UUID(bytes=event["key"])].append(event["type"])
    journals = {
        _id(head["table_id"]): Journal(
            table=_id(head["table_id"]), status=head["status"], epoch=head["epoch"], next_seq=head["next_seq"],
            owner=head["owner"], owned_at=head["owned_at"], rows=tuple(by_table[_id(head["table_id"])]),
            events=tuple(published[_id(head["table_id"])]),
        )
        for head in heads
    }  # fmt: skip
    assert set(journals) == set(wanted), "a table has no head"
    return History(
        journals=journals, clients=tuple(clients), healed_at=healed_at, unpublished=waiting, finishes=finishes
    )


async def _unpublished(database: asyncpg.Connection) -> int:
    left = 0
    for _ in range(int(EMPTY_SECONDS / PROBE_SECONDS)):
        left = await database.fetchval(WAITING)
        if not left:
            break
        await asyncio.sleep(PROBE_SECONDS)
    return left


def _id(value: UUID) -> UUID:
    """The plain class: asyncpg's own compares with it but is another."""
    return UUID(bytes=value.bytes)
