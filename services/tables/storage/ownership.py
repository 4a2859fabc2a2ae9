"""Who owns a table: one lease row a worker, by the database's clock, and the takeover of what a dead one leaves (§4).

A worker renews each second on a connection of its own and sweeps only after a full lease of unbroken contact, so an
outage of the database makes nobody steal.
"""

import asyncio
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import asyncpg

from services.tables.ports import Claimed

LEASE_SECONDS = 3.0
RENEW_SECONDS = 1.0
SWEEP_SECONDS = 0.25
TAKE_MAX = 50  # tables a sweep, so that several workers share what a dead one leaves
LEVEL_SLACK = 50  # tables above the least loaded worker at which one lets others go first
STRAY_SECONDS = 5  # longer than any creation may take
APPLICATION = "whist-tables-lease"

REGISTER = f"""
insert into tables.worker (worker_id, incarnation, address, state, tables, lease_until)
values ($1, $2, $3, 'up', 0, clock_timestamp() + interval '{LEASE_SECONDS} seconds')
on conflict (worker_id) do update set incarnation = excluded.incarnation, address = excluded.address,
  state = 'up', tables = 0, lease_until = excluded.lease_until
"""  # noqa: S608 - a constant
RENEW = f"""
update tables.worker set lease_until = clock_timestamp() + interval '{LEASE_SECONDS} seconds', tables = $3
 where worker_id = $1 and incarnation = $2 and state <> 'gone' returning state
"""  # noqa: S608
LEAVE = "update tables.worker set state = $3 where worker_id = $1 and incarnation = $2 and state <> 'gone'"
BURY = """
update tables.worker set state = 'gone' where state <> 'gone' and lease_until < clock_timestamp() returning worker_id
"""
# What nobody can own any more: released, its worker gone, or left by an earlier life of this worker's name. A dead
# worker was last heard of when it renewed. The new load is written at once, so that others see whose turn it is.
# A row that another claim has just moved is looked at again with its new owner, but the join beside it is not: it would
# pass as owned by nobody. So the update asks once more, by a subquery, which is.
CLAIM = f"""
with least as (
  select min(tables) as tables from tables.worker where state = 'up' and lease_until > clock_timestamp()
), orphan as (
  select h.table_id, coalesce(w.lease_until - interval '{LEASE_SECONDS} seconds', h.owned_at) as silent_since
    from tables.table_head h
    left join tables.worker w on w.worker_id = h.owner
   where h.status = 'live'
     and (h.owner is null or w.worker_id is null or w.state = 'gone' or w.incarnation <> h.incarnation)
     and $4 <= (select tables from least) + $5
   order by h.table_id limit $3
   for update of h skip locked
), taken as (
  update tables.table_head h
     set epoch = h.epoch + 1, owner = $1, incarnation = $2, owned_at = clock_timestamp()
    from orphan o
   where h.table_id = o.table_id
     and (h.owner is null or not exists (
       select from tables.worker w
        where w.worker_id = h.owner and w.incarnation = h.incarnation and w.state <> 'gone'))
  returning h.table_id, h.epoch,
    greatest(0, extract(epoch from clock_timestamp() - o.silent_since) * 1000)::bigint as pause_ms
), counted as (
  update tables.worker set tables = $4 + (select count(*) from taken)
   where worker_id = $1 and incarnation = $2 and exists (select from taken)
)
select table_id, epoch, pause_ms from taken
"""  # noqa: S608
# Ours in the database, unknown to us: the answer to a creation or a claim was lost, or a fold went wrong.
ADOPT = f"""
update tables.table_head h set epoch = h.epoch + 1, owned_at = clock_timestamp()
 where h.owner = $1 and h.incarnation = $2 and h.status = 'live' and h.table_id <> all($3::uuid[])
   and h.owned_at < clock_timestamp() - interval '{STRAY_SECONDS} seconds'
returning h.table_id, h.epoch, greatest(0, extract(epoch from clock_timestamp() - (
    select max(l.at) from tables.table_log l where l.table_id = h.table_id and l.born = h.born)) * 1000
  )::bigint as pause_ms
"""  # noqa: S608
RELEASE = """
update tables.table_head set owner = null, incarnation = null, owned_at = clock_timestamp()
 where owner = $1 and incarnation = $2 and status = 'live' and ($3::uuid[] is null or table_id = any($3))
"""


class Ownership:
    """One worker's incarnation. Every method raises OSError or asyncpg's errors when the database is away."""

    def __init__(self, dsn: str, worker_id: str, incarnation: UUID) -> None:
        self._dsn = dsn
        self.worker_id = worker_id
        self.incarnation = incarnation
        self._connection: asyncpg.Connection | None = None
        self._using = asyncio.Lock()

    async def register(self, address: str) -> None:
        """Begin this incarnation; what an earlier one of the same name owned is an orphan from now on."""
        await self._fetch(REGISTER, self.worker_id, self.incarnation, address, timeout=2)

    async def renew(self, tables: int) -> bool:
        """Prolong the lease. False when this incarnation was declared dead: drop everything and begin a new one."""
        return bool(await self._fetch(RENEW, self.worker_id, self.incarnation, tables, timeout=2))

    async def leave(self, state: str) -> None:
        """Say that this worker is "draining" or "gone"."""
        await self._fetch(LEAVE, self.worker_id, self.incarnation, state, timeout=2)

    async def bury(self) -> list[str]:
        """Mark the workers whose lease has run out; returns their names."""
        rows = await self._fetch(BURY, timeout=2)
        return [row["worker_id"] for row in rows]

    async def claim(self, owned: int) -> list[Claimed]:
        """Take up to fifty tables that nobody owns; the least loaded worker goes first."""
        rows = await self._fetch(CLAIM, self.worker_id, self.incarnation, TAKE_MAX, owned, LEVEL_SLACK, timeout=5)
        return _claimed(rows)

    async def adopt(self, known: list[UUID]) -> list[Claimed]:
        """Take up, in a new epoch, the tables that are ours for a while already and not among the `known` ones."""
        rows = await self._fetch(ADOPT, self.worker_id, self.incarnation, known, timeout=5)
        return _claimed(rows)

    async def release(self, tables: list[UUID] | None = None) -> None:
        """Let go of these tables, or of all: another worker takes them at its next sweep."""
        await self._fetch(RELEASE, self.worker_id, self.incarnation, tables, timeout=5)

    async def close(self) -> None:
        if self._connection is not None:
            self._connection.terminate()

    def drop_connection(self) -> None:
        """After an error: the next call connects anew."""
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None

    async def _fetch(self, statement: str, *values: object, timeout: float) -> list[Any]:
        # One at a time: the lease is still renewed while the worker drains.
        async with self._using:
            if self._connection is None or self._connection.is_closed():
                self._connection = await asyncpg.connect(
                    self._dsn, timeout=2, server_settings={"application_name": APPLICATION}
                )
            rows: list[Any] = await self._connection.fetch(statement, *values, timeout=timeout)
            return rows


def _claimed(rows: Sequence[Any]) -> list[Claimed]:
    return [
        Claimed(table_id=UUID(bytes=row["table_id"].bytes), epoch=row["epoch"], pause_ms=row["pause_ms"])
        for row in rows
    ]
