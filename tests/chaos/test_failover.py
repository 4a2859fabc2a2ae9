"""One seed of what `make chaos` repeats."""

from pathlib import Path

from tests.chaos.scenario import played


async def test_b07_p33_a_promoted_standby_has_every_acknowledged_move_and_the_old_primary_is_fenced(
    folder: Path,
) -> None:
    await played("B07", 1, folder, small=True)
