"""B32 in small: some thousands of messages."""

from pathlib import Path
from random import Random

from tests.chaos.scenario import Run
from tests.chaos.scenarios.random_bytes import every_method, noise_everywhere


async def test_b32_noise_at_every_entry_breaks_nothing_and_moves_nothing(tmp_path: Path) -> None:
    run = Run(name="B32", seed=1, folder=tmp_path, random=Random("B32/1"))
    counts = {"frame decoder": 3_000, "gRPC methods": 1_000, "Play stream": 60, "REST": 200, "sockets": 200}
    await noise_everywhere(run, counts)
    assert len(run.injected) == len(counts) and len(run.proven) == 2
    assert len(every_method()) >= 34
