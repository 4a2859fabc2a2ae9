"""What all services keep, as one digest a table: whether something has changed that should not have."""

from collections.abc import Mapping

import asyncpg

SCHEMAS = ("auth", "wallet", "leagues", "matchmaking", "tables", "coach")
# Written by a refusal because that is their purpose, or by nobody's request at all.
OF_THEIR_OWN = {
    "auth.attempt_window",  # failed attempts are what it counts
    "matchmaking.pool_lease",
    "tables.worker",
}
OF_THE_CHASSIS = {"event", "inbox", "outbox", "alembic_version"}

_TABLES = """
select n.nspname as schema, c.relname as table from pg_class c join pg_namespace n on n.oid = c.relnamespace
 where c.relkind in ('r', 'p') and not c.relispartition and n.nspname = any($1) order by 1, 2
"""


class Digest:
    """Of one database, whose tables are looked up once."""

    def __init__(self, connection: asyncpg.Connection, names: Mapping[str, list[str]]) -> None:
        self._connection = connection
        kept = [
            f"{schema}.{table}" for schema, tables in names.items() for table in tables if table not in OF_THE_CHASSIS
        ]
        assert {"auth.account", "wallet.balance", "leagues.account", "matchmaking.ticket"} <= set(kept)
        self._statement = " union all ".join(
            f"select '{name}' as name, md5(coalesce(string_agg(t::text, '|' order by t::text), '')) as digest "
            f"from {name} t"
            for name in kept
            if name not in OF_THEIR_OWN
        )
        self.outboxes = [f"{schema}.outbox" for schema, tables in names.items() if "outbox" in tables]

    @classmethod
    async def of(cls, connection: asyncpg.Connection) -> "Digest":
        names: dict[str, list[str]] = {}
        for row in await connection.fetch(_TABLES, SCHEMAS):
            names.setdefault(row["schema"], []).append(row["table"])
        return cls(connection, names)

    async def read(self) -> Mapping[str, str]:
        """By table."""
        return {row["name"]: row["digest"] for row in await self._connection.fetch(self._statement)}

    async def is_quiet(self) -> bool:
        """Nobody plays or waits for a table, nothing is under way: only requests change anything."""
        idle = [
            "select from tables.table_head where status = 'live'",
            "select from matchmaking.ticket where state in ('waiting', 'matched', 'seated')",
            "select from auth.mail_queue",
            "select from coach.game where state = 'waiting'",
            "select from tables.erasure",
            *(f"select from {outbox}" for outbox in self.outboxes),
        ]
        return bool(await self._connection.fetchval("select " + " and ".join(f"not exists ({each})" for each in idle)))


def differing(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Tables that are not as they were."""
    return sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
