"""One seed of what `make chaos` repeats."""

from pathlib import Path

from tests.chaos.scenario import played


async def test_b13_p30_p33_wrong_clocks_move_no_lease_no_turn_and_no_week(
    folder: Path,
) -> None:
    await played("B13", 1, folder, small=True)
