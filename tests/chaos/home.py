"""A PostgreSQL of a scenario's own, and services in this process over it."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from libs.chassis.db import embedded
from libs.chassis.db.migrate import Migrations


@dataclass
class Home:
    """Databases on one server; `folder` is short enough for Unix sockets in it."""

    postgres: embedded.EmbeddedPostgres
    folder: Path
    numbers: Any = field(default_factory=lambda: count(1))

    async def database(self, *migrations: Migrations) -> str:
        """The URL of a new database, migrated for these services."""
        name = f"chaos_{next(self.numbers)}"
        self.postgres.create_database(name)
        url = self.postgres.url(name)
        for each in migrations:
            await each.upgrade(url)
        return url


@asynccontextmanager
async def home() -> AsyncIterator[Home]:
    """A server inside the block, its data gone afterwards. Pytest's folders shut PostgreSQL's own user out."""
    with tempfile.TemporaryDirectory(prefix="whist-home-", ignore_cleanup_errors=True) as folder:
        server = embedded.start(Path(folder) / "data")
        try:
            yield Home(server, Path(folder))
        finally:
            server.stop()
