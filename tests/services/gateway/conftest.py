"""A gateway for each test, on a short path: Unix sockets have at most about a hundred characters."""

import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest

from tests.services.gateway.world import Stage, staged


@pytest.fixture
def short_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="wg-") as folder:
        yield Path(folder)


@pytest.fixture
async def stage(short_folder: Path) -> AsyncIterator[Stage]:
    async with staged(short_folder) as running_stage:
        yield running_stage


@pytest.fixture
async def http(stage: Stage) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=stage.http_url, timeout=15) as client:
        yield client
