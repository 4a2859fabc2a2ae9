"""What a table costs its worker and a socket its gateway, in memory.

    python -m bench.memory [--tables 1000] [--sockets 2000] [--json]

A cluster of separate processes with one worker. Tables are dealt, played for a round by four people each and left at
rest: live games with nobody connected. Sockets are opened, say Hello and follow a table. Each figure is the slope of
the process's PSS over equal steps, the first left out, for it also pays for what is made once. Exit status 1 above the
bars.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

from bench.players import LiveTable, enter
from bench.seating import SEATS, Seated, seating_at
from bench.servers import PROBE_SECONDS, ROOT, cluster, pss

STEPS = 4
ROUNDS = 64
REST_SECONDS = 1.5
ROUND_ROWS = 40  # four bids, 32 cards, and draws between
ROUND_SECONDS_MAX = 120.0
TABLE_MAX_KB, SOCKET_MAX_KB = 60.0, 40.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """kB (of 1,024 bytes) each, from PSS."""

    table_kb: float
    socket_kb: float
    worker_mib: float
    gateway_mib: float

    def failures(self) -> list[str]:
        """What is above its bar."""
        said = [f"a table costs {self.table_kb} kB"] if self.table_kb > TABLE_MAX_KB else []
        return said + ([f"a socket costs {self.socket_kb} kB"] if self.socket_kb > SOCKET_MAX_KB else [])


async def measured(folder: Path, tables: int, sockets: int) -> Memory:
    """Both slopes in one cluster."""
    async with cluster(folder, workers=1) as (running, place):
        worker, gateway = (running.members[name].pid for name in ("worker-1", "gateway"))
        url = place.environment["WHIST_SOCKET"]
        seating = seating_at(place, "worker-1")
        seated: list[Seated] = []
        sizes: list[int] = []
        for _ in range(STEPS):
            fresh = await seating.open(tables // STEPS, ROUNDS)
            await _a_round(await _entered(url, fresh))
            seated += fresh
            await asyncio.sleep(REST_SECONDS)
            sizes.append(pss(worker))
        table_kb = _slope(sizes, tables // STEPS)
        worker_mib = sizes[-1] / 1024
        sizes = []
        there: list[LiveTable] = []
        each = sockets // SEATS // STEPS
        for step in range(STEPS):
            there += await _entered(url, seated[step * each : (step + 1) * each])
            await asyncio.sleep(REST_SECONDS)
            sizes.append(pss(gateway))
        for live in there:
            live.close()
        await seating.close()
    return Memory(
        table_kb=table_kb, socket_kb=_slope(sizes, each * SEATS), worker_mib=round(worker_mib, 1),
        gateway_mib=round(sizes[-1] / 1024, 1),
    )  # fmt: skip


async def _entered(url: str, seated: Sequence[Seated]) -> list[LiveTable]:
    lives = [LiveTable(each, Random(1), lambda: 0.0, lambda live, epoch: None) for each in seated]
    await enter(url, lives)
    return lives


async def _a_round(lives: Sequence[LiveTable]) -> None:
    for live in lives:
        live.play()
    async with asyncio.timeout(ROUND_SECONDS_MAX):
        while any(live.seq < ROUND_ROWS for live in lives):
            await asyncio.sleep(PROBE_SECONDS)
    for live in lives:
        live.stop()
    await asyncio.sleep(REST_SECONDS)
    for live in lives:
        if live.faults:
            raise RuntimeError(f"table {live.seated.table.hex}: {live.faults[0]}")
        live.close()


def _slope(sizes: Sequence[int], step: int) -> float:
    """Growth a unit between the first measurement and the last."""
    return round((sizes[-1] - sizes[0]) / (len(sizes) - 1) / step, 1)


async def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="bench.memory", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--sockets", type=int, default=2000)
    parser.add_argument("--folder", type=Path, default=ROOT / ".run" / "bench" / "memory", help="wiped first")
    parser.add_argument("--json", action="store_true", help="end with one line of JSON")
    arguments = parser.parse_args(words)
    if arguments.sockets > SEATS * arguments.tables:
        parser.error(f"{arguments.tables} tables have seats for {SEATS * arguments.tables} sockets")
    made = await measured(arguments.folder, arguments.tables, arguments.sockets)
    print(shown(made))
    for line in made.failures():
        print(f"FAILED: {line}")
    if arguments.json:
        print(json.dumps({"memory": asdict(made)}))
    return 1 if made.failures() else 0


def shown(made: Memory) -> str:
    """One line."""
    return (
        f"memory: {made.table_kb} kB a table at rest (worker {made.worker_mib} MiB), "
        f"{made.socket_kb} kB a socket (gateway {made.gateway_mib} MiB)"
    )


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
