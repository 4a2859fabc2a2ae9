"""One seed of what `make chaos` repeats."""

from pathlib import Path

from tests.chaos.scenario import played


async def test_b06_p33_a_killed_database_costs_no_acknowledged_move_and_no_turn(
    folder: Path,
) -> None:
    await played("B06", 1, folder, small=True)
