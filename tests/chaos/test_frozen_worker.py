"""One seed of what `make chaos` repeats."""

from pathlib import Path

from tests.chaos.scenario import played


async def test_b02_p33_a_frozen_worker_that_thaws_writes_nothing_and_tells_nobody(
    folder: Path,
) -> None:
    await played("B02", 1, folder, small=True)
