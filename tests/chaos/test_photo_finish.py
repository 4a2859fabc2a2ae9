"""One seed of what `make chaos` repeats."""

from pathlib import Path

from tests.chaos.scenario import played


async def test_b05_p30_of_a_play_and_its_time_out_exactly_one_stands(
    folder: Path,
) -> None:
    await played("B05", 1, folder, small=True)
