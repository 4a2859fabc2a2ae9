"""One seed of what `make chaos` repeats."""

from pathlib import Path

from tests.chaos.scenario import played


async def test_b04_p32_a_play_sent_four_times_over_three_sockets_is_one_row(
    folder: Path,
) -> None:
    await played("B04", 1, folder, small=True)
