"""One seed of what `make chaos` repeats."""

from pathlib import Path

from tests.chaos.scenario import played


async def test_b01_p33_a_killed_and_a_drained_worker_cost_no_move_and_no_coin(folder: Path) -> None:
    await played("B01", 1, folder, small=True)
