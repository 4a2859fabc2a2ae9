"""One migrated database a module, and a world on it that starts empty."""

from collections.abc import AsyncIterator

import pytest

from libs.chassis.db import Database
from services.matchmaking.wiring import MIGRATIONS
from tests.conftest import MakeDatabase
from tests.services.matchmaking.world import World


@pytest.fixture(scope="module")
async def database_url(make_database: MakeDatabase) -> str:
    return await make_database(MIGRATIONS)


@pytest.fixture
async def world(database_url: str) -> AsyncIterator[World]:
    database = Database.open(database_url, "matchmaking", pool=10)
    world = World(database)
    await world.clear()
    yield world
    await database.close()
