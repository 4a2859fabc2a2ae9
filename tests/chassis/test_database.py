"""Migrations from several processes at once, and the server from a wheel that outlives its parent."""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import sqlalchemy as sa

from libs.chassis.db import Database, embedded
from libs.chassis.db import database as databases
from libs.chassis.db import migrate as migrations
from libs.chassis.db.embedded import EmbeddedPostgres
from libs.chassis.events.delivery import is_passing
from tests.chassis.sample import MIGRATIONS, rows
from tests.conftest import MakeDatabase
from tests.faults.proxy import CRASH_NOTICE, proxied

ROOT = Path(__file__).parents[2]

MIGRATE = """
import asyncio, sys
from tests.chassis.sample import MIGRATIONS
sys.stdin.read(1)
asyncio.run(MIGRATIONS.upgrade(sys.argv[1]))
"""


async def test_migrations_run_by_several_processes_at_once_are_safe(make_database: MakeDatabase) -> None:
    url = await make_database()
    assert await MIGRATIONS.current(url) == ""
    processes = [
        subprocess.Popen([sys.executable, "-c", MIGRATE, url], cwd=ROOT, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(3)
    ]
    for process in processes:  # all have imported what they need and wait for a word
        assert process.stdin is not None
        process.stdin.write(b"!")
        process.stdin.flush()
    told = [process.communicate(timeout=60)[1].decode() for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], told
    assert await MIGRATIONS.current(url) == MIGRATIONS.head() == "0001"
    await MIGRATIONS.upgrade(url)


def test_migrations_can_be_written_as_sql() -> None:
    written = MIGRATIONS.sql().lower()
    assert "create table sample.note" in written
    assert "insert into sample.alembic_version" in written


START = """
import sys
from pathlib import Path
from libs.chassis.db import embedded
server = embedded.start(Path(sys.argv[1]))
print(server.pid(), flush=True)
sys.stdin.read()
"""


def test_a_server_whose_parent_was_killed_is_adopted_with_its_data() -> None:
    with tempfile.TemporaryDirectory(prefix="whist-adopt-", ignore_cleanup_errors=True) as folder:
        data = Path(folder) / "data"
        parent = subprocess.Popen(
            [sys.executable, "-c", START, str(data)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert parent.stdout is not None
        first = int(parent.stdout.readline())
        with parent:
            parent.send_signal(signal.SIGKILL)
        adopted = embedded.start(data)
        try:
            assert adopted.pid() == first
            adopted.create_database("kept")
            adopted.create_database("kept")
        finally:
            adopted.stop()
        again = embedded.start(data)
        try:
            assert again.pid() != first
        finally:
            again.stop()
            again.stop()
        assert not again.socket_dir.exists()


def test_a_server_that_was_killed_itself_starts_again() -> None:
    with tempfile.TemporaryDirectory(prefix="whist-killed-", ignore_cleanup_errors=True) as folder:
        server = embedded.start(Path(folder) / "data")
        os.kill(server.pid(), signal.SIGKILL)
        again = embedded.start(Path(folder) / "data")
        again.stop()


async def test_faults_of_the_database_pass_and_faults_of_the_event_do_not(postgres: EmbeddedPostgres) -> None:
    database = Database.open(postgres.url(), "sample", pool=1)
    for statement, passes in (
        ("select pg_terminate_backend(pg_backend_pid())", True),
        ("do $$ begin raise exception using errcode = '40P01'; end $$", True),
        ("do $$ begin raise exception using errcode = '53100'; end $$", True),
        ("do $$ begin raise exception using errcode = '25006'; end $$", True),
        ("do $$ begin raise exception using errcode = '57P03'; end $$", True),
        ("do $$ begin raise exception using errcode = '55P03'; end $$", True),
        ("do $$ begin raise exception using errcode = '23514'; end $$", False),
        ("select 1/0", False),
        ("select nothing", False),
    ):
        with pytest.raises(sa.exc.DBAPIError) as failed:
            await rows(database, statement)
        assert is_passing(failed.value) is passes, statement
    await database.close()
    gone = Database.open("postgresql+asyncpg://nobody@127.0.0.1:1/none", "sample")
    with pytest.raises(OSError) as away:
        await gone.ping()
    assert is_passing(away.value)
    assert not is_passing(ValueError())


async def test_a_statement_without_an_answer_is_given_up_and_the_pool_goes_on(postgres: EmbeddedPostgres) -> None:
    database = Database.open(postgres.url(), "sample", pool=1, command_seconds=0.2)
    with pytest.raises(TimeoutError) as hung:
        await rows(database, "select pg_sleep(60)")
    assert is_passing(hung.value)
    assert await rows(database, "select 1")
    await database.close()


async def test_a_migration_gives_up_a_lock_that_others_keep_and_changes_nothing(
    make_database: MakeDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = await make_database()
    monkeypatch.setattr(migrations, "LOCK_SECONDS", 1)
    database = Database.open(url, "sample", pool=1)
    await rows(database, "create schema sample")
    await rows(database, "create table sample.alembic_version (version_num varchar(32) primary key)")
    async with database.begin() as reader:
        await reader.execute(sa.text("lock table sample.alembic_version in share mode"))
        with pytest.raises(sa.exc.DBAPIError) as refused:
            await MIGRATIONS.upgrade(url)
        assert is_passing(refused.value)
    assert not await rows(database, "select from information_schema.tables where table_name = 'note'")
    await MIGRATIONS.upgrade(url)
    assert await MIGRATIONS.current(url) == MIGRATIONS.head()
    await database.close()


async def test_a_connection_that_died_while_it_rested_is_replaced(
    postgres: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database.open(postgres.url(), "sample", pool=1)
    [before] = await rows(database, "select pg_backend_pid() as pid")
    other = Database.open(postgres.url(), "sample", pool=1)
    await rows(other, "select pg_terminate_backend(:pid, 5000)", pid=before.pid)
    monkeypatch.setattr(databases, "REST_SECONDS", 0.0)
    [after] = await rows(database, "select pg_backend_pid() as pid")
    assert after.pid != before.pid
    await database.close()
    await other.close()


async def test_a_server_that_has_said_it_goes_down_passes_before_the_connection_is_closed(
    postgres: EmbeddedPostgres,
) -> None:
    async with proxied(postgres.socket_dir / ".s.PGSQL.5432") as proxy:
        url = f"postgresql+asyncpg://{embedded.USER}@127.0.0.1:{proxy.port}/{embedded.DATABASE}"
        database = Database.open(url, "sample", pool=1)
        async with database.engine.connect() as connection:
            proxy.say(CRASH_NOTICE)
            for _ in range(10):  # turns of the loop: the driver reads the notice
                await asyncio.sleep(0)
            with pytest.raises(sa.exc.DBAPIError) as failed:
                await connection.execute(sa.text("select 1"))
        assert is_passing(failed.value)
        await database.close()


async def test_a_full_pool_passes(postgres: EmbeddedPostgres) -> None:
    database = Database.open(postgres.url(), "sample", pool=2)
    database.engine.pool._timeout = 0.01  # type: ignore[attr-defined]
    async with database.begin(), database.begin():
        with pytest.raises(sa.exc.TimeoutError) as full:
            await database.ping()
    assert is_passing(full.value)
    await database.close()


async def test_an_error_carries_no_value_into_a_log(postgres: EmbeddedPostgres) -> None:
    database = Database.open(postgres.url(), "sample", pool=1)
    with pytest.raises(sa.exc.DBAPIError) as failed:
        await rows(database, "select 1 from nowhere where x = :secret", secret="canary")
    assert "canary" not in str(failed.value)
    await database.close()


async def test_connections_that_a_burst_has_opened_serve_the_next_one(postgres: EmbeddedPostgres) -> None:
    database = Database.open(postgres.url(), "sample", pool=4)

    async def burst() -> set[int]:
        """The backends that serve twice as many transactions as there may be connections."""
        together = asyncio.Barrier(4)

        async def one() -> int:
            async with database.begin() as connection:
                await together.wait()  # four at a time, no fewer and no more
                return int((await connection.execute(sa.text("select pg_backend_pid()"))).scalar_one())

        return set(await asyncio.gather(*(one() for _ in range(8))))

    first = await burst()
    assert len(first) == 4
    assert await burst() == first
    await database.close()
