"""Alembic per service: own folder, own schema, own version table."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.ext.asyncio import create_async_engine

# Migrations of several replicas must not run at once; the number only has to differ from other users of the lock space.
MIGRATION_LOCK = 0x77686973
# A change that waits for its table's lock keeps everybody else waiting behind it: it gives up, and is run again.
LOCK_SECONDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrations:
    """Where one service's migrations lie and which schema they own."""

    schema: str
    folder: Path

    def head(self) -> str:
        """The newest revision in the folder."""
        return self._script().get_current_head() or ""

    async def upgrade(self, database_url: str) -> None:
        """Bring the schema to `head`. Safe to run from several processes at once.

        Raises DBAPIError (55P03), and nothing has changed, when a table stays locked by others for five seconds.
        """
        await self._run(database_url, self._upgrade)

    async def current(self, database_url: str) -> str:
        """The revision the database is at; empty when it was never migrated."""
        found: list[str] = []

        def read(connection: sa.Connection) -> None:
            if connection.dialect.has_schema(connection, self.schema):
                context = MigrationContext.configure(connection, opts={"version_table_schema": self.schema})
                found.append(context.get_current_revision() or "")

        await self._run(database_url, read)
        return found[0] if found else ""

    def sql(self) -> str:
        """The whole upgrade as SQL text, for linters."""
        lines: list[str] = []

        class Buffer:
            def write(self, text: str) -> None:
                lines.append(text)

            def flush(self) -> None: ...

        script = self._script()
        with EnvironmentContext(
            Config(),
            script,
            fn=lambda rev, _ctx: self._steps(script, rev),
            as_sql=True,
            starting_rev=None,
        ) as environment:
            environment.configure(
                dialect_name="postgresql",
                output_buffer=Buffer(),  # type: ignore[arg-type] # only write() and flush() are used
                version_table_schema=self.schema,
                literal_binds=True,
            )
            environment.run_migrations()
        return "".join(lines)

    def _upgrade(self, connection: sa.Connection) -> None:
        connection.execute(sa.text("select pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})
        connection.execute(sa.text(f"set local lock_timeout = '{LOCK_SECONDS}s'"))
        connection.execute(sa.text(f'create schema if not exists "{self.schema}"'))
        script = self._script()
        with EnvironmentContext(Config(), script, fn=lambda rev, _ctx: self._steps(script, rev)) as environment:
            environment.configure(connection=connection, version_table_schema=self.schema, transactional_ddl=True)
            environment.run_migrations()

    @staticmethod
    def _steps(script: ScriptDirectory, revision: Any) -> Any:
        return script._upgrade_revs("head", revision)

    def _script(self) -> ScriptDirectory:
        return ScriptDirectory(str(self.folder))

    @staticmethod
    async def _run(database_url: str, work: Callable[[sa.Connection], None]) -> None:
        engine = create_async_engine(database_url, poolclass=sa.NullPool)
        try:
            async with engine.begin() as connection:
                await connection.run_sync(work)
        finally:
            await engine.dispose()
