"""A served game, and a client that tries again at once."""

from collections.abc import AsyncIterator

import pytest

from libs.client.sdk.backoff import Backoff
from tests.client.server import Whistle, serving


@pytest.fixture
async def server() -> AsyncIterator[Whistle]:
    async with serving() as running:
        yield running


@pytest.fixture
def soon() -> Backoff:
    return Backoff(first_s=0.001, most_s=0.01)
