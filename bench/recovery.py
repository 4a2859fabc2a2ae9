"""How long play stands still when a worker dies with all its tables.

    python -m bench.recovery [--tables 1000] [--think 2] [--json]

A cluster of separate processes with two workers. All tables are the first one's, four guests sit at each over sockets,
and whoever is to act thinks for a while, as people do. Then that worker is killed, everybody who thinks moves at once,
and each table is timed from the kill until it has accepted a move under its new owner. Exit status 1 where that takes
more than 6 s, a player sees an error, or an acknowledged move is not in the journal afterwards.
"""

import argparse
import asyncio
import json
import signal
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter

from bench import journal
from bench.players import LiveTable, enter
from bench.seating import seating_at
from bench.servers import ROOT, cluster

ROUNDS = 64
LIVELY_SECONDS = 3.0  # of play before the kill
RECOVERY_MAX_SECONDS = 6.0  # the bar: three for the lease, three for a thousand folds
PATIENCE_SECONDS = 60.0
VICTIM = "worker-1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """Seconds from the kill until tables have accepted a move again: the last, the median, the first one."""

    tables: int
    last_s: float
    median_s: float
    first_s: float
    setup_s: float
    never: int
    # Moves that the gateway gave up and the client sent again; errors that players saw.
    again: int
    faults: int
    lost_acked: int

    def failures(self) -> list[str]:
        """What keeps the run from being a success."""
        said = [f"{self.never} tables accepted no move any more"] if self.never else []
        said += [f"{self.faults} errors that players saw"] if self.faults else []
        said += [f"{self.lost_acked} acknowledged moves lost"] if self.lost_acked else []
        if self.last_s > RECOVERY_MAX_SECONDS:
            said.append(f"the last table played on after {self.last_s:.1f} s")
        return said


async def measured(folder: Path, tables: int, think_seconds: float, seed: int = 1) -> Recovery:
    """Kill a worker once and time its tables."""
    random = Random(seed)
    loop = asyncio.get_running_loop()
    played_on: dict[LiveTable, float] = {}
    everybody = asyncio.Event()
    killed_at = float("inf")

    def accepted(live: LiveTable, epoch: int) -> None:
        if epoch > 1 and live not in played_on:
            played_on[live] = loop.time() - killed_at
            if len(played_on) == tables:
                everybody.set()

    async with cluster(folder, workers=2) as (running, place):
        began = perf_counter()
        seating = seating_at(place, VICTIM)
        seated = await seating.open(tables, ROUNDS)
        await seating.close()
        lives = [LiveTable(each, random, lambda: random.uniform(0.5, 1.5) * think_seconds, accepted) for each in seated]
        await enter(place.environment["WHIST_SOCKET"], lives)
        setup = perf_counter() - began
        for live in lives:
            # Not all at the same time: as if they had been playing for a while.
            loop.call_later(random.uniform(0, think_seconds), live.play)
        await asyncio.sleep(LIVELY_SECONDS + think_seconds)
        running.kill(VICTIM, signal.SIGKILL)
        killed_at = loop.time()
        for live in lives:
            live.hurry()
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await everybody.wait()
        except TimeoutError:
            pass
        for live in lives:
            live.stop()
        await asyncio.sleep(1)  # answers under way
        faults = [fault for live in lives for fault in live.faults]
        again = sum(live.refused for live in lives)
        for live in lives:
            live.close()
        acked = {(live.seated.table, seq): move for live in lives for seq, move in live.acked.items()}
        lost = await journal.lost(acked, **place.postgres)
    times = sorted(played_on.values()) or [float("nan")]
    return Recovery(
        tables=tables, last_s=round(times[-1], 2), median_s=round(median(times), 2), first_s=round(times[0], 2),
        setup_s=round(setup, 1), never=tables - len(played_on), again=again, faults=len(faults), lost_acked=lost,
    )  # fmt: skip


async def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="bench.recovery", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--think", type=float, default=2.0, help="mean thinking time, seconds")
    parser.add_argument(
        "--folder", type=Path, default=ROOT / ".run" / "bench" / "recovery", help="wiped before the run"
    )
    parser.add_argument("--json", action="store_true", help="end with one line of JSON")
    arguments = parser.parse_args(words)
    made = await measured(arguments.folder, arguments.tables, arguments.think)
    print(shown(made))
    for line in made.failures():
        print(f"FAILED: {line}")
    if arguments.json:
        print(json.dumps({"recovery_s": made.last_s, "recovery": asdict(made)}))
    return 1 if made.failures() else 0


def shown(made: Recovery) -> str:
    """One line."""
    return (
        f"recovery of {made.tables} tables: all play on after {made.last_s:.2f} s (first {made.first_s:.2f}, median "
        f"{made.median_s:.2f}); set up in {made.setup_s:.1f} s; {made.again} moves sent "
        f"again, {made.faults} errors, {made.lost_acked} moves lost"
    )


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
