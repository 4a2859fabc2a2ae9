"""A desk of auth in front of a real PostgreSQL, with nothing in it at each test's start."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from libs.chassis.clock import SystemClock
from libs.chassis.db.database import Database, Store
from libs.chassis.entropy import SystemEntropy
from libs.house import platform
from services.auth.domain.limits import HOUR, Limit
from services.auth.domain.pepper import Pepper
from services.auth.handlers.desk import Desk
from services.auth.jobs import Post
from services.auth.storage.keys import CodeSealer, KeyRing, ensure_key
from services.auth.storage.register import AuthTransaction
from services.auth.wiring import MIGRATIONS
from tests.conftest import MakeDatabase
from tests.services.auth.builders import Mailbox, Office


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_office(make_database: MakeDatabase, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Office]:
    keys: Path = tmp_path_factory.mktemp("keys")
    entropy = SystemEntropy()
    ensure_key(keys, entropy)
    database = Database.open(await make_database(MIGRATIONS), "auth", pool=8)
    store = Store(database, AuthTransaction, entropy)
    pepper = Pepper(entropy.bytes(32))
    sealer = CodeSealer(pepper, entropy)
    mailbox = Mailbox()
    house = platform.load()
    post = Post(store, sealer, mailbox)
    desk = Desk(
        registry=store,
        pepper=pepper,
        entropy=entropy,
        signer=KeyRing(keys, entropy, SystemClock()),
        sealer=sealer,
        codes=Limit(20, HOUR),
        guests=Limit(60, HOUR),
        sign_in=house.sign_in,
        names=house.names,
        zone=house.zone,
        codes_in_all=10_000,
        wake_mail=post.wake,
    )
    yield Office(desk=desk, store=store, database=database, mailbox=mailbox, post=post, entropy=entropy)
    await database.close()


@pytest_asyncio.fixture(loop_scope="session")
async def office(shared_office: Office) -> Office:
    await shared_office.clear()
    return shared_office
