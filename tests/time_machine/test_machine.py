"""The time machine itself: every session, default and process of a system lives in the played time."""

import asyncio
import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import asyncpg
import pytest

from libs.chassis.clock import SystemClock
from libs.chassis.db import Database, Store, Transaction
from libs.chassis.entropy import SystemEntropy
from services.tables.wiring import MIGRATIONS as TABLES
from services.wallet.wiring import MIGRATIONS as WALLET
from tests.conftest import MakeDatabase
from tests.time_machine import TimeMachine

CLOSE = timedelta(seconds=30)  # a busy machine, between two looks
MONDAY = datetime(2031, 3, 31, 0, 5, tzinfo=ZoneInfo("Europe/Bucharest"))  # the Monday after a night of 23 hours


@pytest.fixture(params=["before", "after"])
async def machine(request: pytest.FixtureRequest, make_database: MakeDatabase, tmp_path: Path) -> TimeMachine:
    """Installed before or after the migrations: both must do."""
    file = tmp_path / "ahead"
    if request.param == "after":
        return await TimeMachine.install(await make_database(WALLET, TABLES), file)
    url = await make_database()
    machine = await TimeMachine.install(url, file)
    for each in (WALLET, TABLES):
        await each.upgrade(url)
    return machine


async def test_a_session_that_was_open_before_lives_in_the_new_time(machine: TimeMachine) -> None:
    database = Database.open(machine.database_url, "wallet", pool=1)
    store = Store(database, Transaction, SystemEntropy())
    async with store.transaction() as tx:
        assert abs(await tx.now() - datetime.now(UTC)) < CLOSE
        await machine.travel_to(MONDAY)
        assert abs(await tx.now() - MONDAY) < CLOSE
    await machine.advance(timedelta(days=7))
    async with store.transaction() as tx:
        assert abs(await tx.now() - (MONDAY + timedelta(days=7))) < CLOSE
    await database.close()


async def test_a_columns_default_is_of_the_played_time(machine: TimeMachine) -> None:
    await machine.travel_to(MONDAY)
    connection = await asyncpg.connect(machine.database_url.replace("+asyncpg", ""))
    try:
        at = await connection.fetchval(
            "insert into wallet.inbox (consumer, event_id) values ('c', gen_random_uuid()) returning at"
        )
        clocks = await connection.fetchrow("select now(), transaction_timestamp(), statement_timestamp()")
        made_in = await connection.fetchval("select current_schema()")
    finally:
        await connection.close()
    assert all(abs(moment - MONDAY) < CLOSE for moment in (at, *clocks))
    assert made_in == "public"


async def test_a_living_workers_lease_travels_with_it(machine: TimeMachine) -> None:
    connection = await asyncpg.connect(machine.database_url.replace("+asyncpg", ""))
    try:
        await connection.execute(
            "insert into tables.worker values ('w', gen_random_uuid(), 'here', 'up', 0, clock_timestamp() + '60 s')"
        )
        await machine.advance(timedelta(days=400))
        assert await connection.fetchval("select lease_until > clock_timestamp() from tables.worker")
    finally:
        await connection.close()


async def test_processes_and_this_one_read_the_same_clock(machine: TimeMachine) -> None:
    await machine.travel_to(MONDAY)
    with machine.here():
        assert abs(SystemClock().now() - MONDAY) < CLOSE
        assert abs(SystemClock().unix() - MONDAY.timestamp()) < CLOSE.total_seconds()
    assert abs(SystemClock().now() - datetime.now(UTC)) < CLOSE
    assert abs(SystemClock().unix() - datetime.now(UTC).timestamp()) < CLOSE.total_seconds()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "from libs.chassis.clock import SystemClock; print(SystemClock().unix())",
        env={**os.environ, **machine.environment()}, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, _ = await process.communicate()
    assert abs(float(out) - MONDAY.timestamp()) < CLOSE.total_seconds()
