"""How long a newcomer waits for the first view of a table while the server is as busy as it can be.

    python -m bench.connect [--tables 200] [--connections 50] [--json]

The one-process server on core 0, kept busy by a closed loop on core 1. Meanwhile sockets are opened one after another,
each at a table of its own, and timed from the TCP connect to the snapshot. Exit status 1 where one waits longer than a
second.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter

from bench.load import DEALS, Load, put
from bench.players import LiveTable, enter
from bench.seating import Seated, seated_at
from bench.servers import ROOT, whist

CONNECT_MAX_MS = 1000.0
GAP_SECONDS = 0.05  # between newcomers
WARM_SECONDS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Connect:
    """Milliseconds from the TCP connect to the snapshot, and how busy the server was."""

    connections: int
    median_ms: float
    max_ms: float
    moves_per_s: float
    server_cpu: float

    def failures(self) -> list[str]:
        """What is above the bar."""
        return [f"a newcomer waited {self.max_ms:.0f} ms"] if self.max_ms > CONNECT_MAX_MS else []


async def measured(folder: Path, tables: int, connections: int) -> Connect:
    """One busy server, and so many newcomers."""
    playing = asyncio.Event()
    # The window outlasts the newcomers, unless they take longer than a busy server should let them.
    seconds = round(connections * (GAP_SECONDS + 0.1)) + 2
    async with whist(folder) as running, asyncio.TaskGroup() as group:
        seated = await seated_at(running, tables + connections, DEALS)
        load = Load(tables=tables, warm=round(WARM_SECONDS), seconds=seconds)
        busy = group.create_task(put(running, load, folder, seated=seated[:tables], playing=playing))
        await playing.wait()
        await asyncio.sleep(WARM_SECONDS)
        times = [await _arrived(running.environment["WHIST_SOCKET"], each) for each in seated[tables:]]
        point, _ = await busy
    return Connect(
        connections=connections, median_ms=round(median(times), 1), max_ms=round(max(times), 1),
        moves_per_s=point["movesPerS"], server_cpu=point["serverCpu"],
    )  # fmt: skip


async def _arrived(url: str, seated: Seated) -> float:
    """Milliseconds until the first of a table's guests has its snapshot."""
    alone = Seated(table=seated.table, accounts=seated.accounts[:1], tokens=seated.tokens[:1])
    live = LiveTable(alone, Random(1), lambda: 0.0, lambda live, epoch: None)
    began = perf_counter()
    await enter(url, [live])
    waited = (perf_counter() - began) * 1000
    live.close()
    await asyncio.sleep(GAP_SECONDS)
    return waited


async def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="bench.connect", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--connections", type=int, default=50)
    parser.add_argument("--folder", type=Path, default=ROOT / ".run" / "bench" / "connect", help="wiped first")
    parser.add_argument("--json", action="store_true", help="end with one line of JSON")
    arguments = parser.parse_args(words)
    made = await measured(arguments.folder, arguments.tables, arguments.connections)
    print(shown(made))
    for line in made.failures():
        print(f"FAILED: {line}")
    if arguments.json:
        print(json.dumps({"connect_ms_max": made.max_ms, "connect": asdict(made)}))
    return 1 if made.failures() else 0


def shown(made: Connect) -> str:
    """One line."""
    return (
        f"connect: {made.connections} newcomers had their view after {made.median_ms:.0f} ms (median), "
        f"{made.max_ms:.0f} ms (the last), while {made.moves_per_s:,.0f} moves/s were played at {made.server_cpu} core"
    )


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
