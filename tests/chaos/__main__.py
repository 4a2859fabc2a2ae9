"""Scenarios of faults, by seed: what was injected and what held.

    python -m tests.chaos [B01 B02 …] [--repeat 20] [--seed 1] [--small]

Each scenario is played `--repeat` times with seeds counting up from `--seed`; `--small` as the test suite plays it. A
failing run prints its seed, which repeats its choices, and keeps its folder. Exit status 1 if any run failed.
"""

import argparse
import asyncio
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

from tests.chaos import scenarios  # noqa: F401 - registers them
from tests.chaos.scenario import SCENARIOS, played


def one(name: str, seed: int, folder: Path, *, small: bool) -> bool:
    """Play one and print its lines; False if it failed."""
    started = time.monotonic()
    print(f"{name} seed {seed}: {SCENARIOS[name].title}", flush=True)
    try:
        run = asyncio.run(played(name, seed, folder, small=small))
    except Exception:
        traceback.print_exc()
        print(f"  FAILED after {time.monotonic() - started:.1f} s; kept in {folder}", flush=True)
        return False
    for fault in run.injected:
        print(f"  injected  {fault}")
    for fact in run.proven:
        print(f"  held      {fact}")
    print(f"  {time.monotonic() - started:.1f} s", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    return True


def main() -> int:
    """Play what the arguments name."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("ids", nargs="*", metavar="ID", help=f"of {' '.join(sorted(SCENARIOS))}; all without one")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--small", action="store_true", help="few of everything")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.ids if name not in SCENARIOS]
    if unknown or arguments.repeat < 1:
        parser.error(f"unknown: {' '.join(unknown)}" if unknown else "--repeat is at least 1")
    for number in (signal.SIGINT, signal.SIGTERM):
        # Also where a shell has a background job ignore them: what was started is stopped in order.
        signal.signal(number, signal.default_int_handler)
    failed = []
    root = Path(tempfile.mkdtemp(prefix="whist-chaos-"))
    for seed in range(arguments.seed, arguments.seed + arguments.repeat):
        for name in arguments.ids or sorted(SCENARIOS):
            if not one(name, seed, root / f"{name}-{seed}", small=arguments.small):
                failed.append(f"{name}/{seed}")
    print(f"{len(failed)} failed: {' '.join(failed)}" if failed else "all held", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
