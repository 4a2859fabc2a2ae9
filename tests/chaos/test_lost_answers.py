"""One seed of what `make chaos` repeats."""

from pathlib import Path

from tests.chaos.scenario import played


async def test_b03_p32_a_lost_answer_of_the_database_makes_one_row_and_one_answer(
    folder: Path,
) -> None:
    await played("B03", 1, folder, small=True)
