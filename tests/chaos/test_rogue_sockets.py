"""B25 and B27 with one seed each."""

from pathlib import Path

from tests.chaos.scenario import played


async def test_b25_frames_that_no_client_sends_cost_the_sender_its_socket_and_nobody_memory(folder: Path) -> None:
    run = await played("B25", 1, folder, small=True)
    assert len(run.injected) == 8 and len(run.proven) == 2


async def test_b27_foreign_pages_and_stolen_tokens_get_in_nowhere(folder: Path) -> None:
    run = await played("B27", 1, folder, small=True)
    assert len(run.injected) == 2 and len(run.proven) == 3
