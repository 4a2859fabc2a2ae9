"""The load process: closed-loop or paced play at many tables, in Node beside the servers (`bench/peers/loadgen`)."""

import asyncio
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from bench.journal import Acked
from bench.seating import Seated
from bench.servers import LOAD_CORE, PEERS, Running, installed, pinned

SECONDS_MORE = 150.0  # set-up and last moves at most, beside warm-up and window
PLAYING = b"PLAYING"
DEALS = 64  # so that a window holds moves and hardly any new games


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What is played: so many tables of four, a mean think time in milliseconds, warm-up and window in seconds."""

    tables: int
    think_ms: int = 0
    warm: int = 2
    seconds: int = 6
    # Rounds of a game; 36 moves each.
    deals: int = DEALS


async def put(
    running: Running, load: Load, folder: Path, *, seated: list[Seated] | None = None,
    playing: asyncio.Event | None = None,
) -> tuple[dict[str, Any], Acked]:  # fmt: skip
    """Play; returns the load process's figures and, of our own server, what was acknowledged.

    `seated` are tables made before; without them the load asks the operators' listener for each. `playing` is set when
    the first moves are made. Raises RuntimeError when no result is left.
    """
    await installed(PEERS / "loadgen")
    out, acks, tables = folder / "load.json", folder / "acks.jsonl", folder / "seated.json"
    for file in (out, acks):
        file.unlink(missing_ok=True)
    tables.write_text(json.dumps([{"table": each.table.hex, "tokens": list(each.tokens)} for each in seated or ()]))
    words = [
        *pinned(LOAD_CORE), "node", "load.mjs", "--target", running.adapter, "--url", running.url,
        "--tables", str(load.tables), "--warm", str(load.warm), "--secs", str(load.seconds),
        "--think", str(load.think_ms), "--pids", ",".join(map(str, running.pids)),
        "--out", str(out), "--acks", str(acks),
    ]  # fmt: skip
    process = await asyncio.create_subprocess_exec(
        *words, cwd=PEERS / "loadgen", stdout=asyncio.subprocess.PIPE,
        env={**os.environ, **running.environment, "DEALS": str(load.deals), "WHIST_TABLES": str(tables)},
    )  # fmt: skip
    assert process.stdout is not None
    try:
        async with asyncio.timeout(SECONDS_MORE + load.warm + load.seconds):
            async for line in process.stdout:
                if playing is not None and line.startswith(PLAYING):
                    playing.set()
            await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if not out.exists():
        raise RuntimeError(f"the load on {running.adapter} ended without a result")
    return json.loads(out.read_text()), _acked(acks) if acks.exists() else {}


def _acked(acks: Path) -> Acked:
    """Acknowledged moves by (table, row) as (account, request)."""
    acked: dict[tuple[UUID, int], tuple[UUID, str]] = {}
    for line in acks.read_text().splitlines():
        game = json.loads(line)
        for seq, seat, request in game["moves"]:
            acked[UUID(hex=game["table"]), seq] = (UUID(hex=game["accounts"][seat]), request)
    return acked
