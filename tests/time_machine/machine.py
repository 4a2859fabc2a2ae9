"""The offset between true and played time: a row in the database, and a file for processes."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import asyncpg

from tests import startup
from tests.time_machine.shift import shifted_clock

CLOCKS = ("clock_timestamp", "now", "statement_timestamp", "transaction_timestamp")

# Volatile, so that each call reads the offset as it stands and not as the calling statement saw it at its start.
_SCHEMA = """
create schema time_machine;
create table time_machine.ahead (by interval not null);
insert into time_machine.ahead values (interval '0');
"""
_CLOCK = """
create function time_machine.{name}() returns timestamptz language plpgsql volatile as
$$ begin return pg_catalog.{name}() + (select a.by from time_machine.ahead a); end $$;
"""
# `public` first: what a statement creates without naming a schema lands where it always does.
_PATH = "alter database {name} set search_path = public, time_machine, pg_catalog"
# A column's default was bound to its function when the table was made.
_DEFAULTS = r"""
do $$
declare found record;
begin
  for found in
    select c.oid::regclass as name, a.attname, pg_get_expr(d.adbin, d.adrelid) as expression
      from pg_attrdef d join pg_class c on c.oid = d.adrelid
      join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
      join pg_namespace n on n.oid = c.relnamespace
     where n.nspname !~ '^(pg_|information_schema)'
       and pg_get_expr(d.adbin, d.adrelid)
         ~ '\m(clock_timestamp|now|statement_timestamp|transaction_timestamp)\(\)'
  loop
    execute format(
      'alter table only %s alter column %I set default %s', found.name, found.attname, regexp_replace(
        found.expression,
        '(pg_catalog\.|time_machine\.)?\m(clock_timestamp|now|statement_timestamp|transaction_timestamp)\(\)',
        'time_machine.\2()', 'g'));
  end loop;
end $$;
"""
# Who is alive stays alive: a worker's lease would otherwise lapse in the moment of the jump.
_LEASES = "update tables.worker set lease_until = lease_until + $1 where state = 'up'"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeMachine:
    """The clock of one database and of the processes that work on it."""

    database_url: str
    file: Path

    @classmethod
    async def install(cls, database_url: str, file: Path) -> "TimeMachine":
        """Put the clock of this database into our hands, at the true time; `file` is where processes read the offset.

        Before services connect: a session keeps the search path it began with. Before or after the migrations.
        """
        machine = cls(database_url=database_url, file=file)
        machine._tell(timedelta(0))
        async with machine._connection() as connection:
            if not await connection.fetchval("select exists (select from pg_namespace where nspname = 'time_machine')"):
                await connection.execute(_SCHEMA + "".join(_CLOCK.format(name=name) for name in CLOCKS))
                name = await connection.fetchval("select quote_ident(current_database())")
                await connection.execute(_PATH.format(name=name))
            await connection.execute(_DEFAULTS)
            await connection.execute("update time_machine.ahead set by = interval '0'")
        return machine

    def environment(self) -> Mapping[str, str]:
        """For a process whose services shall live in the same time; those it starts inherit it."""
        return startup.environment(**{startup.TIME_MACHINE: str(self.file)})

    def here(self) -> AbstractContextManager[None]:
        """Services in this process live in the same time, inside the block."""
        return shifted_clock(self.file)

    async def now(self) -> datetime:
        """The played time, aware UTC."""
        async with self._connection() as connection:
            moment: datetime = await connection.fetchval("select clock_timestamp()")
        return moment.astimezone(UTC)

    async def travel_to(self, moment: datetime) -> None:
        """Make it this moment (aware) for every session, the open ones too; time goes on from there."""
        assert moment.tzinfo is not None, "say which zone's clock shows it"
        await self.advance(moment - await self.now())

    async def advance(self, by: timedelta) -> None:
        """Let so much time have passed. Nobody's lease has run out in it."""
        async with self._connection() as connection, connection.transaction():
            ahead: timedelta = await connection.fetchval("update time_machine.ahead set by = by + $1 returning by", by)
            if await connection.fetchval("select to_regclass('tables.worker') is not null"):
                await connection.execute(_LEASES, by)
            self._tell(ahead)

    def _tell(self, ahead: timedelta) -> None:
        fresh = self.file.with_suffix(".new")
        fresh.write_text(str(ahead.total_seconds()))
        fresh.rename(self.file)

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[asyncpg.Connection]:
        connection = await asyncpg.connect(self.database_url.replace("+asyncpg", ""))
        try:
            yield connection
        finally:
            await connection.close()
