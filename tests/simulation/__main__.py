"""``python -m tests.simulation``: a week of 2,000 players who play every evening, over the real wallet and leagues."""

import argparse
import asyncio
import json
import tempfile
from dataclasses import asdict
from pathlib import Path

from libs.chassis.db import embedded
from services.leagues.wiring import MIGRATIONS as LEAGUES
from services.wallet.wiring import MIGRATIONS as WALLET
from tests.simulation.history import history


async def main() -> None:
    """Prints one JSON object."""
    parser = argparse.ArgumentParser(prog="simulate", description=__doc__)
    for name, number in (("players", 2000), ("weeks", 1), ("evenings", 7), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=number)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="whist-town-", ignore_cleanup_errors=True) as folder:
        server = await asyncio.to_thread(embedded.start, Path(folder) / "data")
        try:
            for each in (WALLET, LEAGUES):
                await each.upgrade(server.url())
            report = await history(server.url(), Path(folder), **vars(chosen))
        finally:
            await asyncio.to_thread(server.stop)
    print(json.dumps(asdict(report)))


if __name__ == "__main__":
    asyncio.run(main())
