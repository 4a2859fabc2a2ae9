"""A folder of its own for each run of a scenario."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos import scenarios  # noqa: F401 - registers them
from tests.e2e.conftest import own_folder


@pytest.fixture
def folder() -> Iterator[Path]:
    """Not pytest's: PostgreSQL may run as another user."""
    with own_folder() as place:
        yield place
