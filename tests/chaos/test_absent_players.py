"""One seed of what `make chaos` repeats."""

from pathlib import Path

from tests.chaos.scenario import played


async def test_b15_p16_p31_bots_keep_the_seats_of_who_is_away_and_prizes_follow_own_rounds(
    folder: Path,
) -> None:
    await played("B15", 1, folder, small=True)
