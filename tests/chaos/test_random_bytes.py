"""B32 in small: some thousands of messages."""

from pathlib import Path

from tests.chaos.scenario import played
from tests.chaos.scenarios.random_bytes import SMALL, every_method


async def test_b32_noise_at_every_entry_breaks_nothing_and_moves_nothing(folder: Path) -> None:
    run = await played("B32", 1, folder, small=True)
    assert len(run.injected) == len(SMALL) and len(run.proven) == 2
    assert len(every_method()) >= 34
