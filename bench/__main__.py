"""All measurements of a running server, one behind the other; the last line is one JSON object.

    python -m bench [--attempts 2] [--seconds 6] [--json]

Rows of moves a second beside the peers, ours at 400 tables and at a paced load; then recovery, a second worker, memory,
newcomers and slow sockets. Each part has a module of its own that runs alone and says what it does (`bench.tables`,
`bench.recovery`, `bench.workers`, `bench.memory`, `bench.connect`, `bench.slow_sockets`). Some ten minutes. Exit status
1 where one of them misses a bar.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from bench import connect, memory, recovery, slow_sockets, tables, workers
from bench.load import Load
from bench.servers import ROOT

SIZES, TARGETS = (10, 50, 200), ("whist", "boardgameio", "colyseus-imm")
MANY, FEW = 400, 50
PACED_TABLES, PACED_THINK_MS = 200, 1000
GROWTH_MAX = 1.0  # CPU a move at many tables over that at few: a commit carries more


async def rows(arguments: argparse.Namespace) -> tuple[list[tables.Row], list[str]]:
    """All rows of the table, and what failed in them."""
    print(tables.HEAD)
    words = ["--attempts", str(arguments.attempts), "--seconds", str(arguments.seconds)]
    closed = tables.parsed(words)
    made = await tables.table(SIZES, TARGETS, closed)
    made += await tables.table([MANY], [tables.OURS], closed)
    wrong = tables.failures(made)
    cost = {row.tables: row.us_per_move for row in made if row.target == tables.OURS}
    if cost[MANY] > GROWTH_MAX * cost[FEW]:
        wrong.append(f"a move costs {cost[MANY]} µs at {MANY} tables, {cost[FEW]} µs at {FEW}")
    paced = await tables.table([PACED_TABLES], [tables.OURS], tables.parsed([*words, "--think", str(PACED_THINK_MS)]))
    return made + paced, wrong + tables.failures(paced)


async def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--attempts", type=int, default=2, help="at each row; the best counts")
    parser.add_argument("--seconds", type=int, default=6, help="measured window of each row")
    parser.add_argument("--folder", type=Path, default=ROOT / ".run" / "bench", help="its folders are wiped")
    parser.add_argument("--json", action="store_true", help="as it is: the last line is JSON in any case")
    arguments = parser.parse_args(words)
    folder = arguments.folder
    made, wrong = await rows(arguments)
    recovered = await recovery.measured(folder / "recovery", tables=1000, think_seconds=2.0)
    print(recovery.shown(recovered), flush=True)
    one, two = await workers.compared(
        folder / "workers", Load(tables=PACED_TABLES, think_ms=PACED_THINK_MS), arguments.attempts
    )
    print(workers.shown(one, two), flush=True)
    sizes = await memory.measured(folder / "memory", tables=1000, sockets=2000)
    print(memory.shown(sizes), flush=True)
    newcomers = await connect.measured(folder / "connect", tables=200, connections=50)
    print(connect.shown(newcomers), flush=True)
    honest = Load(tables=50, think_ms=250, seconds=slow_sockets.WINDOW_SECONDS)
    slow = await slow_sockets.measured(folder / "slow", sockets=2000, load=honest)
    print(slow_sockets.shown(slow), flush=True)
    for part in (recovered, sizes, newcomers, slow):
        wrong += part.failures()
    wrong += workers.failures(one, two)
    for line in wrong:
        print(f"FAILED: {line}")
    print(
        json.dumps({
            "rows": [asdict(row) for row in made],
            "recovery_s": recovered.last_s,
            "cpu_ratio_2_workers": workers.ratio(one, two),
            "connect_ms_max": newcomers.max_ms,
            "recovery": asdict(recovered),
            "workers": {"one": asdict(one), "two": asdict(two)},
            "memory": asdict(sizes),
            "connect": asdict(newcomers),
            "slow_sockets": asdict(slow),
        })
    )  # fmt: skip
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
