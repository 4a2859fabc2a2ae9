"""One running leagues service for all tests of this folder; each test brings accounts of its own."""

import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.leagues.wiring import MIGRATIONS
from tests.conftest import MakeDatabase
from tests.services.leagues.builders import Leagues, leagues_running


@pytest.fixture(scope="session")
async def leagues(make_database: MakeDatabase) -> AsyncIterator[Leagues]:
    with tempfile.TemporaryDirectory(prefix="whist-leagues-") as folder:
        async with leagues_running(await make_database(MIGRATIONS), Path(folder)) as service:
            yield service
