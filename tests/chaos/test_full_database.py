"""B23 with one seed."""

from pathlib import Path

from tests.chaos.scenario import played


async def test_b23_a_database_that_cannot_be_written_refuses_by_name_and_heals_without_a_hand(folder: Path) -> None:
    run = await played("B23", 1, folder, small=True)
    assert len(run.injected) == 2 and len(run.proven) in (2, 4)
