"""One seed of what `make chaos` repeats."""

from pathlib import Path

from tests.chaos.scenario import played


async def test_b12_p33_a_rolling_restart_of_every_process_costs_no_move_and_no_turn(
    folder: Path,
) -> None:
    await played("B12", 1, folder, small=True)
