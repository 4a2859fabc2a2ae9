"""One seed of what `make chaos` repeats."""

from pathlib import Path

from tests.chaos.scenario import played


async def test_b14_p31_clients_of_a_killed_gateway_resume_at_another_in_order(
    folder: Path,
) -> None:
    await played("B14", 1, folder, small=True)
