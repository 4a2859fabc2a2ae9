"""What the runbook tells people to type at night works."""

import re
from collections.abc import Iterator
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from deploy.manifests import ROOT
from libs.chassis.db import Database
from libs.chassis.entropy import SystemEntropy
from libs.chassis.events.outbox import Outbox
from services.wallet.wiring import MIGRATIONS, SPEC
from tests.conftest import MakeDatabase
from whist.wallet.v1.events_pb2 import EntryPaid, WalletEvent

RUNBOOK = (ROOT / "docs" / "runbook.md").read_text()


def sql_blocks() -> Iterator[str]:
    yield from re.findall(r"^```sql\n(.*?)^```", RUNBOOK, re.MULTILINE | re.DOTALL)


def block(words: str) -> str:
    (found,) = [each for each in sql_blocks() if words in each]
    return found


@pytest.fixture(scope="module")
async def engine(make_database: MakeDatabase) -> AsyncEngine:
    return create_async_engine(await make_database(MIGRATIONS), poolclass=sa.NullPool)


async def rows(engine: AsyncEngine, query: str) -> list[tuple[object, ...]]:
    async with engine.begin() as connection:
        return [tuple(row) for row in await connection.execute(sa.text(query))]


async def test_redrive_hands_lost_events_to_the_relay_in_order_and_one_bucket_a_key(engine: AsyncEngine) -> None:
    outbox = Outbox(SPEC.name, SystemEntropy())
    made: list[UUID] = []
    database = Database(engine, SPEC.name)
    for number in range(30):
        async with database.begin() as connection:
            event = WalletEvent(entry_paid=EntryPaid())
            made.append(await outbox.add(connection, "whist.wallet.events.v1", bytes([number % 7]), event))
    content = "select bucket, event_id, topic, key, type, payload, traceparent from wallet.outbox order by id"
    first = await rows(engine, content)
    async with engine.begin() as connection:
        await connection.execute(sa.text("delete from wallet.outbox"))
        await connection.execute(sa.text(block("insert into wallet.outbox")))
    assert await rows(engine, content) == first
    assert [row[1] for row in first] == made
    spread = await rows(engine, "select key, count(distinct bucket) from wallet.outbox group by key")
    assert len(spread) == 7
    assert {count for _, count in spread} == {1}


async def test_every_query_of_the_runbook_runs(engine: AsyncEngine) -> None:
    inline = re.findall(r"`((?:select|update)\s[^`]*?wallet\.[^`]*)`", RUNBOOK)
    queries = [*sql_blocks(), *inline]
    assert len(queries) >= 4
    for query in queries:
        async with engine.begin() as connection:
            await connection.execute(sa.text(query))


def test_every_service_and_path_that_it_names_is_there() -> None:
    for name in re.findall(r"(?:deployment|statefulset)/([a-z]+)", RUNBOOK):
        assert (ROOT / "deploy" / "base" / name).is_dir(), name
    for module in re.findall(r"python -m ([\w.]+)", RUNBOOK):
        assert (ROOT / f"{module.replace('.', '/')}.py").is_file(), module
    shipped = "".join(path.read_text() for path in (ROOT / "deploy" / "base").rglob("*.yaml"))
    for secret in re.findall(r"`(whist-(?:smtp|operators|auth-keys))`", RUNBOOK):
        assert f": {secret}\n" in shipped, secret
