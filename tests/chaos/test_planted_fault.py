"""B22 with one seed."""

from pathlib import Path

from tests.chaos.scenario import played


async def test_b22_a_table_whose_engine_raises_is_voided_and_no_other_notices(folder: Path) -> None:
    run = await played("B22", 1, folder, small=True)
    assert len(run.injected) == 1 and len(run.proven) == 5
