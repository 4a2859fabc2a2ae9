"""Accepted moves a second through the gateway, beside boardgame.io and Colyseus in the same run.

    python -m bench.tables [--tables 10,50,200] [--targets whist,boardgameio,colyseus-imm] [--seconds 6] [--think 0]
                           [--attempts 2] [--deals 64] [--json]

Each point gets a fresh server on core 0 and a load process on core 1; attempts are interleaved and the best of each
target counts, the same number for all. Ours is durable: after the run every acknowledged move must be a row of the
journal, under the command id that its account and request give. Exit status 1 for a referee's error, a lost move, or
fewer moves a second than boardgame.io at any number of tables. `--json` ends with one line of JSON.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench import journal
from bench.load import Load, put
from bench.seating import seated_at
from bench.servers import ROOT, peer, whist

TARGETS = ("whist", "boardgameio", "colyseus-imm", "colyseus-patch")
OURS, BAR = "whist", "boardgameio"
HEAD = (
    f"{'target':<15}{'tables':>6}{'moves/s':>10}{'p50 ms':>9}{'p99 ms':>9}{'cpu':>8}{'us/move':>8}{'load':>7}"
    f"{'foreign':>9}{'referee':>9}{'lost':>6}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One point. CPU in cores over all processes of the server; peers keep no journal, so they can lose nothing."""

    target: str
    tables: int
    think_ms: int
    moves_per_s: float
    p50_ms: float
    p99_ms: float
    server_cpu: float
    us_per_move: float
    load_cpu: float
    foreign_cpu: float
    referee_errors: int
    lost_acked: int
    acked: int
    errors: int


async def measured(target: str, tables: int, arguments: argparse.Namespace) -> Row:
    """One attempt at one point."""
    folder = arguments.folder / target
    server = whist(folder) if target == OURS else peer(target, folder, arguments.deals)
    load = Load(
        tables=tables, think_ms=arguments.think, warm=arguments.warm, seconds=arguments.seconds, deals=arguments.deals
    )
    async with server as running:
        seated = await seated_at(running, tables, arguments.deals) if target == OURS else None
        point, acked = await put(running, load, folder, seated=seated)
        lost = await journal.lost(acked, **running.postgres) if running.socket_dir is not None else 0
    moves = point["movesPerS"]
    return Row(
        target=target,
        tables=tables,
        think_ms=arguments.think,
        moves_per_s=moves,
        p50_ms=point["p50"],
        p99_ms=point["p99"],
        server_cpu=point["serverCpu"],
        us_per_move=round(point["serverCpu"] / moves * 1e6, 1),
        load_cpu=point["loadgenCpu"],
        foreign_cpu=max(point["foreignCpuCore0"], point["foreignCpuCore1"]),
        referee_errors=point["refereeErrors"],
        lost_acked=lost,
        acked=len(acked),
        errors=point["errors"] + point["unanswered"],
    )


def best(attempts: Sequence[Row]) -> Row:
    """The attempt with most moves a second; what went wrong in any of them stays."""
    row = max(attempts, key=lambda each: each.moves_per_s)
    wrong = {name: sum(getattr(each, name) for each in attempts) for name in ("referee_errors", "lost_acked")}
    return Row(**{**asdict(row), **wrong})


def failures(rows: Sequence[Row]) -> list[str]:
    """What keeps the run from being a success."""
    said = [f"{row.target} at {row.tables} tables: {row.referee_errors} referee errors"
            for row in rows if row.referee_errors]  # fmt: skip
    said += [f"{row.lost_acked} acknowledged moves lost at {row.tables} tables" for row in rows if row.lost_acked]
    bars = {row.tables: row for row in rows if row.target == BAR}
    for row in rows:
        bar = bars.get(row.tables)
        if row.target == OURS and bar is not None and row.moves_per_s <= bar.moves_per_s:
            said.append(f"{row.moves_per_s:,.0f} moves/s at {row.tables} tables, {BAR} {bar.moves_per_s:,.0f}")
    return said


def shown(row: Row) -> str:
    """A line of the table."""
    return (
        f"{row.target:<15}{row.tables:>6}{row.moves_per_s:>10,.0f}{row.p50_ms:>9.2f}{row.p99_ms:>9.2f}"
        f"{row.server_cpu:>8.2f}{row.us_per_move:>8.0f}{row.load_cpu:>7.2f}{row.foreign_cpu:>9.2f}"
        f"{row.referee_errors:>9}{row.lost_acked:>6}"
    )


async def table(sizes: Sequence[int], targets: Sequence[str], arguments: argparse.Namespace) -> list[Row]:
    """The best attempt of every target at every size, each shown as soon as it is known."""
    rows: list[Row] = []
    for tables in sizes:
        attempts: dict[str, list[Row]] = {target: [] for target in targets}
        for _ in range(arguments.attempts):
            for target in targets:
                attempts[target].append(await measured(target, tables, arguments))
        for made in attempts.values():
            rows.append(best(made))
            print(shown(rows[-1]), flush=True)
    return rows


async def main(words: Sequence[str]) -> int:
    arguments = parsed(words)
    print(HEAD)
    rows = await table(arguments.tables, arguments.targets, arguments)
    wrong = failures(rows)
    for line in wrong:
        print(f"FAILED: {line}")
    if arguments.json:
        print(json.dumps({"rows": [asdict(row) for row in rows]}))
    return 1 if wrong else 0


def parsed(words: Sequence[str]) -> argparse.Namespace:
    """Arguments. Exits with status 2 for wrong ones."""
    parser = argparse.ArgumentParser(
        prog="bench.tables", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=_numbers, default=_numbers("10,50,200"))
    parser.add_argument("--targets", type=_targets, default=_targets("whist,boardgameio,colyseus-imm"))
    parser.add_argument("--seconds", type=int, default=6, help="measured window")
    parser.add_argument("--warm", type=int, default=2, help="seconds before it")
    parser.add_argument("--think", type=int, default=0, help="mean thinking time, milliseconds")
    parser.add_argument("--attempts", type=int, default=2, help="at each point and target; the best counts")
    parser.add_argument("--deals", type=int, default=64, help="rounds of a game; 36 moves each")
    parser.add_argument("--folder", type=Path, default=ROOT / ".run" / "bench", help="wiped before each server")
    parser.add_argument("--json", action="store_true", help="end with one line of JSON")
    return parser.parse_args(words)


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def _targets(text: str) -> list[str]:
    targets: list[Any] = text.split(",")
    if unknown := set(targets) - set(TARGETS):
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(sorted(unknown))}")
    return targets


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
