"""What many tests share: a real PostgreSQL, and a fresh database of it for each module."""

import os
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from libs.chassis.db import embedded
from libs.chassis.db.migrate import Migrations

MakeDatabase = Callable[..., Awaitable[str]]


@pytest.fixture(scope="session")
def postgres() -> Iterator[embedded.EmbeddedPostgres]:
    """One server a test process; durable settings are kept."""
    with tempfile.TemporaryDirectory(prefix="whist-test-pg-", ignore_cleanup_errors=True) as folder:
        server = embedded.start(Path(folder) / "data")
        try:
            yield server
        finally:
            server.stop()


@pytest.fixture(scope="session")
def make_database(postgres: embedded.EmbeddedPostgres) -> MakeDatabase:
    """``await make_database(MIGRATIONS, …)``: the URL of a new database, migrated for these services."""
    numbers = count(1)

    async def make(*migrations: Migrations) -> str:
        name = f"test_{os.getpid()}_{next(numbers)}"
        postgres.create_database(name)
        url = postgres.url(name)
        for each in migrations:
            await each.upgrade(url)
        return url

    return make
