"""An embedded run and a cluster, each in processes of its own, for the tests of this folder."""

import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from services.allinone.cluster import free_port
from tests import startup

START_SECONDS = 90
# Every event comes again, to every consumer (X18): what the tests here see must be the same.
TWICE = startup.environment(**{startup.DELIVER_TWICE: "1"})
# Limits are tested at the gateway and at auth; here all tests are one network.
UNLIMITED = {
    "WHIST_RATE_NETWORK": "",
    "WHIST_RATE_ACCOUNT": "",
    "WHIST_RATE_GUESTS": "",
    "WHIST_RATE_LOGIN": "",
    "WHIST_RATE_TABLES": "",
    "WHIST_GUESTS_PER_NETWORK_HOUR": "100000",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """A running `services.allinone`."""

    url: str
    admin_url: str
    metrics_url: str
    data: Path
    process: asyncio.subprocess.Process
    log: Path


@asynccontextmanager
async def embedded(data: Path, **environment: str) -> AsyncIterator[Embedded]:
    """Start the embedded run on `data`, on free ports unless `environment` names them; stop it in order at the end."""
    data.mkdir(parents=True, exist_ok=True)
    http, socket, admin, metrics = (
        environment.pop(f"WHIST_{name}_LISTEN", f"127.0.0.1:{free_port()}")
        for name in ("HTTP", "SOCKET", "ADMIN", "METRICS")
    )
    path = data / "server.log"
    with path.open("ab") as log:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "services.allinone", stdout=log, stderr=log, start_new_session=True,
            env={
                "WHIST_BOT_PACE_SCALE": "0",
                **os.environ,
                **TWICE,
                "WHIST_PLATFORM_CONFIG": str(hurried(data)),
                "WHIST_DATA_DIR": str(data),
                "WHIST_HTTP_LISTEN": http,
                "WHIST_SOCKET_LISTEN": socket,
                "WHIST_ADMIN_LISTEN": admin,
                "WHIST_METRICS_LISTEN": metrics,
                **environment,
            },
        )  # fmt: skip
    run = Embedded(
        url=f"http://{http}", admin_url=f"http://{admin}", metrics_url=f"http://{metrics}", data=data, process=process,
        log=path,
    )  # fmt: skip
    try:
        await answers(f"{run.url}/v1/config", process, path)
        yield run
    finally:
        if process.returncode is None:
            process.terminate()
            await asyncio.wait_for(process.wait(), 60)


def hurried(folder: Path, changes: Mapping[str, str] | None = None) -> Path:
    """The platform's file, but for tables that deal after two seconds (P3 itself is tested at matchmaking).

    `changes`: lines of the file, and what stands in their places.
    """
    text = (Path(__file__).parents[2] / "config" / "platform.toml").read_text()
    for ours, here in {"deal_after_ms = 10000": "deal_after_ms = 2000", **(changes or {})}.items():
        assert f"\n{ours}\n" in text
        text = text.replace(f"\n{ours}\n", f"\n{here}\n")
    path = folder / "platform.toml"
    path.write_text(text)
    return path


async def answers(url: str, process: asyncio.subprocess.Process, log: Path) -> None:
    """Return when `url` answers; fails with the process's log."""
    async with httpx.AsyncClient() as client, asyncio.timeout(START_SECONDS):
        while True:
            assert process.returncode is None, log.read_text()[-4000:]
            try:
                if (await client.get(url)).is_success:
                    return
            except httpx.HTTPError:
                await asyncio.sleep(0.1)


@contextmanager
def own_folder() -> Iterator[Path]:
    """A place for a run's data. Not pytest's: started as root, PostgreSQL runs as another user, and every pytest that
    starts on the machine shuts the folder of all pytests to others again.
    """
    with tempfile.TemporaryDirectory(prefix="whist-e2e-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest.fixture
def folder() -> Iterator[Path]:
    """One for a test that starts and kills its own runs."""
    with own_folder() as place:
        yield place


@pytest.fixture(scope="session")
async def product() -> AsyncIterator[Embedded]:
    """One embedded run for the tests that only look from outside."""
    # Everything is logged, so that what must not be in a log can be looked for.
    with own_folder() as place:
        async with embedded(place, WHIST_LOG_LEVEL="debug", **UNLIMITED) as run:
            yield run
