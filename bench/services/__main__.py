"""``python -m bench.services [part …]``: the parts in turn; the last line is one JSON object.

Its keys are the parts with their figures, ``held`` (whether every bar of every part holds) and ``missed`` (``part:
bar``). Each part runs in a process of its own, so that none inherits another's memory. Exit status 1 where a bar is
missed or a part does not end with its figures.
"""

import argparse
import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from collections.abc import Sequence

from bench.services import PARTS
from bench.services.bars import missed


async def part(name: str) -> tuple[dict[str, object], list[str]]:
    """Figures of one part, and what it missed."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", f"bench.services.{name}", stdout=PIPE)
    printed, _ = await process.communicate()
    try:
        figures = json.loads(printed.decode().splitlines()[-1])
        return figures, [f"{name}: {bar}" for bar in missed(figures)]
    except (IndexError, KeyError, TypeError, ValueError):
        return {}, [f"{name}: ended with {process.returncode} and without figures"]


async def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="bench.services", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", help=f"some of {', '.join(PARTS)}; all without")
    names = parser.parse_args(words).parts or list(PARTS)
    if unknown := set(names) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    shown: dict[str, object] = {}
    wrong: list[str] = []
    for name in names:
        print(f"# {name}", file=sys.stderr, flush=True)
        shown[name], failed = await part(name)
        wrong += failed
    print(json.dumps({**shown, "held": not wrong, "missed": wrong}))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
