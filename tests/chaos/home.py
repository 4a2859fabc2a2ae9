"""A PostgreSQL of a scenario's own, and services in this process over it."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import asyncpg

from libs.chassis.db import embedded
from libs.chassis.db.migrate import Migrations


@dataclass
class Home:
    """Databases on one server; `folder` is short enough for Unix sockets in it."""

    postgres: embedded.EmbeddedPostgres
    folder: Path
    numbers: Any = field(default_factory=lambda: count(1))

    async def database(self, *migrations: Migrations, on: Path | None = None) -> str:
        """The URL of a new database, migrated for these services; its data lies in the folder `on`."""
        name = f"chaos_{next(self.numbers)}"
        self.postgres.create_database(name)
        url = self.postgres.url(name)
        if on is not None:
            await self.command(f"create tablespace {name} location '{on}'")
            await self.command(f"alter database {name} set tablespace {name}")
        for each in migrations:
            await each.upgrade(url)
        return url

    async def command(self, statement: str) -> None:
        """As the operator, outside any transaction."""
        operator = await asyncpg.connect(self.postgres.url("postgres").replace("+asyncpg", ""))
        try:
            await operator.execute("set default_transaction_read_only = off")
            await operator.execute(statement)
        finally:
            await operator.close()


@asynccontextmanager
async def home() -> AsyncIterator[Home]:
    """A server inside the block, its data gone afterwards. Pytest's folders shut PostgreSQL's own user out."""
    with tempfile.TemporaryDirectory(prefix="whist-home-", ignore_cleanup_errors=True) as folder:
        server = embedded.start(Path(folder) / "data")
        try:
            yield Home(server, Path(folder))
        finally:
            server.stop()
