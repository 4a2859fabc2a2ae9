"""One seed of what `make chaos` repeats."""

from pathlib import Path

from tests.chaos.scenario import played


async def test_b09_a_broker_that_forgot_is_made_good_by_redrives_once(
    folder: Path,
) -> None:
    await played("B09", 1, folder, small=True)
