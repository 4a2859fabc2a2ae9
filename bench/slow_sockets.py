"""What two thousand slow sockets do to those who play (reliability N3).

    python -m bench.slow_sockets [--sockets 2000] [--tables 50] [--think 250] [--json]

The one-process server on core 0, honest people at a paced load from core 1: measured alone, and again while strangers
hold sockets open in five ways: nothing sent, headers trickled, no Hello, no pong, and a reader who asks for one view
after the other and never reads any. Who is cut comes back at once. Exit status 1 where the honest 99th percentile
doubles and is more than 20 ms, an honest player sees an error, or who is due to be cut in the time is not.
"""

import argparse
import asyncio
import contextlib
import json
import os
import socket
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import cycle
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench.load import DEALS, Load, put
from bench.seating import Seated, seated_at
from bench.servers import LOAD_CORE, ROOT, Running, pinned, whist
from libs.wire import frames

TRICKLE_SECONDS = 1.0
ASK_SECONDS = 1.0  # between two views asked for and not read; a fifth of what is allowed
WINDOW_SECONDS = 20  # longer than the handshake's ten seconds and the Hello's five
CUT_IN_WINDOW = ("send nothing", "trickle", "say no hello")  # the others are given more time
RECEIVE_BYTES = 4096  # of the kernel, for who never reads
RATIO_MAX, P99_FREE_MS = 2.0, 20.0
UPGRADE = (
    b"GET /v1/ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
)

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Slow = Callable[[Streams, Seated], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowSockets:
    """The honest players' latencies alone and under attack, and how many slow sockets of each kind were cut."""

    sockets: int
    p99_alone_ms: float
    p99_ms: float
    p50_ms: float
    moves_per_s: float
    cpu_alone: float
    cpu: float
    wrong: int
    cut: dict[str, int]

    def failures(self) -> list[str]:
        """What keeps the run from being a success."""
        said = [f"slow sockets that {kind} were never cut" for kind in CUT_IN_WINDOW if not self.cut.get(kind)]
        said += [f"{self.wrong} errors that honest players saw"] if self.wrong else []
        if self.p99_ms > max(RATIO_MAX * self.p99_alone_ms, P99_FREE_MS):
            said.append(f"the honest p99 rose from {self.p99_alone_ms} to {self.p99_ms} ms")
        return said


async def _send_nothing(streams: Streams, _: Seated) -> None:
    await streams[0].read()


async def _trickle(streams: Streams, _: Seated) -> None:
    for byte in cycle(UPGRADE):
        streams[1].write(bytes([byte]))
        await streams[1].drain()
        await asyncio.sleep(TRICKLE_SECONDS)


async def _say_no_hello(streams: Streams, _: Seated) -> None:
    streams[1].write(UPGRADE + b"\r\n")
    await streams[0].read()


async def _answer_no_ping(streams: Streams, seated: Seated) -> None:
    _greet(streams, seated)
    await streams[0].read()


async def _never_read(streams: Streams, seated: Seated) -> None:
    streams[1].transport.pause_reading()  # type: ignore[attr-defined]
    _greet(streams, seated)
    while not streams[1].is_closing():
        streams[1].write(_frame(frames.Join(table=seated.table.hex)))
        await streams[1].drain()
        await asyncio.sleep(ASK_SECONDS)


KINDS: dict[str, Slow] = {
    "send nothing": _send_nothing,
    "trickle": _trickle,
    "say no hello": _say_no_hello,
    "answer no ping": _answer_no_ping,
    "never read": _never_read,
}
CROWD = tuple(KINDS)  # one of each at every table


def _greet(streams: Streams, seated: Seated) -> None:
    streams[1].write(UPGRADE + b"\r\n" + _frame(frames.Hello(token=seated.tokens[0])))


def _frame(message: object) -> bytes:
    """A client's text frame; the mask is zero."""
    payload = frames.encode(message)
    size = len(payload)
    length = bytes([0x80 | size]) if size < 126 else b"\xfe" + size.to_bytes(2, "big")
    return b"\x81" + length + bytes(4) + payload


async def _attack(place: tuple[str, int], kind: str, seated: Seated, cut: Counter[str]) -> None:
    """One stranger, for ever."""
    while True:
        plain = socket.socket()
        plain.setblocking(False)
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BYTES)
        try:
            await asyncio.get_running_loop().sock_connect(plain, place)
            streams = await asyncio.open_connection(sock=plain, limit=RECEIVE_BYTES)
        except OSError:
            plain.close()
            await asyncio.sleep(TRICKLE_SECONDS)
            continue
        try:
            with contextlib.suppress(OSError):
                await KINDS[kind](streams, seated)
            cut[kind] += 1
        finally:
            streams[1].transport.abort()


async def measured(folder: Path, sockets: int, load: Load) -> SlowSockets:
    """The load alone, then the same load among slow sockets."""
    async with whist(folder) as running:
        alone = await _honest(running, folder, load)
        crowd = await seated_at(running, -(-sockets // len(CROWD)), DEALS)
        url = urlsplit(running.environment["WHIST_SOCKET"])
        place, cut = (url.hostname or "", url.port or 0), Counter[str]()
        cores = os.sched_getaffinity(0)
        if pinned(LOAD_CORE):
            os.sched_setaffinity(0, {int(LOAD_CORE)})  # the strangers' own work is no part of the server's
        crowded = [(kind, seated) for seated in crowd for kind in CROWD][:sockets]
        strangers = [asyncio.create_task(_attack(place, kind, seated, cut)) for kind, seated in crowded]
        among = await _honest(running, folder, load)
        for stranger in strangers:
            stranger.cancel()
        await asyncio.gather(*strangers, return_exceptions=True)
        os.sched_setaffinity(0, cores)
    wrong = among["errors"] + among["refereeErrors"] + among["unanswered"]
    return SlowSockets(
        sockets=sockets, p99_alone_ms=alone["p99"], p99_ms=among["p99"], p50_ms=among["p50"],
        moves_per_s=among["movesPerS"], cpu_alone=alone["serverCpu"], cpu=among["serverCpu"], wrong=wrong,
        cut=dict(cut),
    )  # fmt: skip


async def _honest(running: Running, folder: Path, load: Load) -> dict[str, Any]:
    seated = await seated_at(running, load.tables, load.deals)
    point, _ = await put(running, load, folder, seated=seated)
    return point


async def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="bench.slow_sockets", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sockets", type=int, default=2000)
    parser.add_argument("--tables", type=int, default=50)
    parser.add_argument("--think", type=int, default=250, help="mean thinking time, milliseconds")
    parser.add_argument("--seconds", type=int, default=WINDOW_SECONDS, help="measured window")
    parser.add_argument("--folder", type=Path, default=ROOT / ".run" / "bench" / "slow", help="wiped first")
    parser.add_argument("--json", action="store_true", help="end with one line of JSON")
    arguments = parser.parse_args(words)
    load = Load(tables=arguments.tables, think_ms=arguments.think, seconds=arguments.seconds)
    made = await measured(arguments.folder, arguments.sockets, load)
    print(shown(made))
    for line in made.failures():
        print(f"FAILED: {line}")
    if arguments.json:
        print(json.dumps({"slow_sockets": asdict(made)}))
    return 1 if made.failures() else 0


def shown(made: SlowSockets) -> str:
    """One line."""
    cut = ", ".join(f"{kind} {count}" for kind, count in made.cut.items())
    return (
        f"slow sockets: among {made.sockets} of them the honest p99 is {made.p99_ms} ms, alone {made.p99_alone_ms} ms "
        f"(p50 {made.p50_ms} ms, {made.moves_per_s:,.0f} moves/s, {made.cpu} core, alone {made.cpu_alone}); cut: {cut}"
    )


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
