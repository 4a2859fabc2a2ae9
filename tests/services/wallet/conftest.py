"""A wallet over a fresh database for each module; every test leaves a ledger that adds up."""

from collections.abc import AsyncIterator

import pytest

from libs.chassis.db import Database
from services.wallet.handlers.ledger_check import ledger_check
from services.wallet.storage.ledger import LedgerStore
from services.wallet.wiring import MIGRATIONS
from tests.conftest import MakeDatabase
from tests.services.wallet.builders import ENTROPY, Wallet


@pytest.fixture(scope="module")
async def database_url(make_database: MakeDatabase) -> str:
    return await make_database(MIGRATIONS)


@pytest.fixture(scope="module")
async def store(database_url: str) -> AsyncIterator[LedgerStore]:
    database = Database.open(database_url, "wallet", pool=10)
    yield LedgerStore(database, ENTROPY)
    await database.close()


@pytest.fixture
async def wallet(store: LedgerStore) -> AsyncIterator[Wallet]:
    yield Wallet(store)
    assert await ledger_check(wallets=store) == []
