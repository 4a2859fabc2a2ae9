"""One database of the sample service for all tests of this folder; tests bring topics and keys of their own."""

from collections.abc import AsyncIterator, Callable
from itertools import count

import pytest

from libs.chassis.db import Database, Store
from tests.chassis.sample import ENTROPY, MIGRATIONS, SampleTransaction
from tests.conftest import MakeDatabase


@pytest.fixture(scope="session")
async def database(make_database: MakeDatabase) -> AsyncIterator[Database]:
    opened = Database.open(await make_database(MIGRATIONS), "sample", pool=20)
    yield opened
    await opened.close()


@pytest.fixture(scope="session")
def store(database: Database) -> Store[SampleTransaction]:
    return Store(database, SampleTransaction, ENTROPY)


@pytest.fixture(scope="session")
def new_topic() -> Callable[[], str]:
    """A name that no other test of any run against this broker uses."""
    numbers = count(1)
    run = ENTROPY.uuid7().hex
    return lambda: f"test.{run}.{next(numbers)}"
