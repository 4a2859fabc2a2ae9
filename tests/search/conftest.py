"""Where there was no C compiler the kernels run interpreted, and what plays thousands of rounds is left out."""

from pathlib import Path

import pytest

from libs.search import compiled

HEAVY = {"test_bots", "test_coach", "test_family_bots", "test_family_rollouts", "test_playouts", "test_rollouts"}
HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if compiled():
        return
    reason = pytest.mark.skip(reason="the search kernels are interpreted: there was no C compiler at install")
    for item in items:
        if item.path.parent == HERE and item.path.stem in HEAVY:
            item.add_marker(reason)
