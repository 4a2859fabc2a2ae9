"""What a second worker costs: server CPU a move with two workers over that with one, under the same load.

    python -m bench.workers [--tables 200] [--think 1000] [--attempts 2] [--json]

Clusters of separate processes, all on core 0, the load on core 1; the tables are shared by the workers. The load is
paced, so that both make as many moves a second, and seldom two at once: where many moves share a commit, two journals
share them out, which says more of the load than of the workers (`--think 200` shows it). CPU is summed over every
process of the cluster, PostgreSQL's among them, the development broker's left out. The cheapest attempt counts, in
turns, for both alike. Exit status 1 for a ratio above the bar, a referee's error or a lost move.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import journal
from bench.load import Load, put
from bench.seating import seated_at
from bench.servers import ROOT, SERVER_CORE, cluster

RATIO_MAX = 1.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One attempt: server CPU in microseconds a move."""

    us_per_move: float
    moves_per_s: float
    wrong: int


async def measured(folder: Path, workers: int, load: Load) -> Point:
    """One attempt with so many workers."""
    async with cluster(folder, workers, core=SERVER_CORE) as (_, place):
        seated = await seated_at(place, load.tables, load.deals)
        point, acked = await put(place, load, folder, seated=seated)
        lost = await journal.lost(acked, **place.postgres)
    moves = point["movesPerS"]
    us = round(point["serverCpu"] / moves * 1e6, 1)
    return Point(us_per_move=us, moves_per_s=moves, wrong=point["refereeErrors"] + point["errors"] + lost)


async def compared(folder: Path, load: Load, attempts: int) -> tuple[Point, Point]:
    """The cheapest of so many attempts with one worker, and with two."""
    made: dict[int, list[Point]] = {1: [], 2: []}
    for _ in range(attempts):
        for workers, points in made.items():
            points.append(await measured(folder, workers, load))
    one, two = (min(points, key=lambda point: point.us_per_move) for points in made.values())
    return one, two


async def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="bench.workers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--think", type=int, default=1000, help="mean thinking time, milliseconds")
    parser.add_argument("--attempts", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=ROOT / ".run" / "bench" / "workers", help="wiped first")
    parser.add_argument("--json", action="store_true", help="end with one line of JSON")
    arguments = parser.parse_args(words)
    load = Load(tables=arguments.tables, think_ms=arguments.think)
    one, two = await compared(arguments.folder, load, arguments.attempts)
    print(shown(one, two))
    wrong = failures(one, two)
    for line in wrong:
        print(f"FAILED: {line}")
    if arguments.json:
        print(json.dumps({"cpu_ratio_2_workers": ratio(one, two)}))
    return 1 if wrong else 0


def ratio(one: Point, two: Point) -> float:
    """CPU a move with two workers over that with one."""
    return round(two.us_per_move / one.us_per_move, 3)


def failures(one: Point, two: Point) -> list[str]:
    """What keeps the run from being a success."""
    said = [f"a move costs {ratio(one, two)} times as much with two workers"] if ratio(one, two) > RATIO_MAX else []
    return said + [f"{point.wrong} errors or lost moves" for point in (one, two) if point.wrong]


def shown(one: Point, two: Point) -> str:
    """One line."""
    return (
        f"workers: {one.us_per_move} µs a move with one ({one.moves_per_s:,.0f} moves/s), {two.us_per_move} µs with "
        f"two ({two.moves_per_s:,.0f} moves/s): ratio {ratio(one, two)}"
    )


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
