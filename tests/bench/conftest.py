"""A folder for a whole product."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def folder() -> Iterator[Path]:
    """Not pytest's own, which another run on this machine closes to PostgreSQL's user."""
    with tempfile.TemporaryDirectory(prefix="whist-test-bench-", ignore_cleanup_errors=True) as made:
        yield Path(made)
