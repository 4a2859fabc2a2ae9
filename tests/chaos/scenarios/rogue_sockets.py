"""B25 and B27: frames that no honest client sends, and tokens that are not one's own, at a running product."""

import asyncio
import base64
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from libs.client import Whist
from libs.wire import frames
from libs.wire.frames import CloseCode
from tests.chaos.scenario import Run, scenario
from tests.e2e.conftest import UNLIMITED, Embedded, embedded, own_folder
from tests.e2e.rogue import bearer, rogue, socket_url
from tests.services.gateway.test_attacks import close_code, masked

MEGABYTE = 1024 * 1024
GROWTH_MAX_BYTES = 20 * MEGABYTE
SOCKETS_EACH = 8
FRAGMENTS = 1_000_000
CANARY = b"canary-7f3a91"  # in every hostile frame, and nowhere in a log
TOKEN = re.compile(r"eyJ[A-Za-z0-9_-]{20}")
CLOSED_SECONDS = 5.0  # after a logout (B29)


def resident_bytes(process: int) -> int:
    """What the process holds in memory now."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def huge(size: int) -> bytes:
    """One text frame of so many bytes."""
    return b"\x81\xff" + size.to_bytes(8, "big") + bytes(4) + (CANARY * (size // len(CANARY) + 1))[:size]


def bomb() -> bytes:
    """A compressed frame of 16 KiB that would be 16 MiB."""
    squeezed = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = squeezed.compress(CANARY + b" " * 16 * MEGABYTE) + squeezed.flush()
    return masked(1, packed[: frames.FRAME_MAX_BYTES], rsv1=True)


def attacks() -> Iterator[tuple[str, bytes, int]]:
    """(what it is, the bytes behind the handshake, the close code that is due)."""
    yield "a frame of 10 MiB", huge(10 * MEGABYTE), CloseCode.TOO_BIG
    yield (
        f"{FRAGMENTS:,} fragments",
        masked(1, CANARY, fin=False) + masked(0, b"", fin=False) * FRAGMENTS,
        CloseCode.TOO_BIG,
    )
    yield "two fragments of 9 kB", masked(1, CANARY * 700, fin=False) + masked(0, b"x" * 9_000), CloseCode.TOO_BIG
    yield "a deflate bomb", bomb(), CloseCode.PROTOCOL
    yield "a text that is not UTF-8", masked(1, CANARY + b"\xff"), CloseCode.NOT_TEXT
    yield "an unknown opcode", masked(3, CANARY), CloseCode.PROTOCOL
    yield "a frame without a mask", b"\x81\x02{}", CloseCode.PROTOCOL
    yield "ten binary frames of nonsense", masked(2, CANARY) * 10, CloseCode.POLICY


async def opened(address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter, bytes]:
    """A handshake by hand that asks for compression; with its answer."""
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    key = base64.b64encode(os.urandom(16)).decode()
    writer.write(
        f"GET /v1/ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n".encode()
    )
    return reader, writer, await reader.readuntil(b"\r\n\r\n")


async def closed_by(address: str, attack: bytes) -> int:
    """The code with which the product ends such a socket; 0 where it cut the connection under what was still coming."""
    reader, writer, answer = await opened(address)
    assert b" 101 " in answer and b"deflate" not in answer.lower()

    async def send() -> None:
        for start in range(0, len(attack), 64 * 1024):
            writer.write(attack[start : start + 64 * 1024])
            await writer.drain()

    sending = asyncio.create_task(send())
    try:
        return await close_code(reader)
    except (ConnectionError, asyncio.IncompleteReadError):
        return 0
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        writer.transport.abort()


@scenario("B25", "frames too big, in pieces, compressed, no text")
async def b25(run: Run) -> None:
    with own_folder() as folder:
        async with embedded(folder / "run", **UNLIMITED, WHIST_LOG_LEVEL="debug") as product:
            address = (await socket_url(product.url)).removeprefix("ws://").partition("/")[0]
            async with (
                Whist.connect(product.url) as whist,
                rogue(product.url, await whist._session.access_token()) as honest,
            ):
                await _besieged(run, product, address, honest)
        text = product.log.read_text()
        assert CANARY.decode() not in text and "Traceback" not in text
        run.held(f"no byte of what was sent in {len(text.splitlines())} log lines at the most talkative level")


async def _besieged(run: Run, product: Embedded, address: str, honest: Any) -> None:
    # Once each first: code and buffers that every process has after its first frames are no growth.
    for _, attack, _ in attacks():
        await closed_by(address, attack[: 4 * MEGABYTE])
    before = resident_bytes(product.process.pid)
    highest = before
    for name, attack, due in attacks():
        codes = Counter(await asyncio.gather(*(closed_by(address, attack) for _ in range(SOCKETS_EACH))))
        highest = max(highest, resident_bytes(product.process.pid))
        assert set(codes) <= {due, 0} and codes[due], (name, codes)
        run.inject(f"{name} on {SOCKETS_EACH} sockets at once: closed {due} ({codes[due]} told, {codes[0]} cut off)")
        await honest.say(frames.Ping(n=len(run.injected)))
        await honest.hear(frames.Pong, n=len(run.injected))
    grown = highest - before
    assert grown < GROWTH_MAX_BYTES, f"{grown / MEGABYTE:.1f} MiB more"
    run.held(
        f"{grown / MEGABYTE:.1f} MiB more memory at the highest (20 allowed), an honest socket answered after each"
    )


FOREIGN = ("https://evil.example", "null", "", "{}.evil.example", "{}:443", "https://localhost")


@scenario("B27", "foreign pages, stolen tokens, tokens used again")
async def b27(run: Run) -> None:
    with own_folder() as folder:
        async with embedded(folder / "run", **UNLIMITED, WHIST_LOG_LEVEL="debug") as product:
            await _foreign_pages(run, product)
            await _stolen_tokens(run, product)
        text = product.log.read_text()
        assert TOKEN.search(text) is None
        run.held(f"no token in {len(text.splitlines())} log lines; refusals are counted by reason and not logged")


async def _foreign_pages(run: Run, product: Embedded) -> None:
    url = await socket_url(product.url)
    before = await _metric(product, "whist_socket_handshakes_refused_total", 'reason="origin"')
    for origin in FOREIGN:
        try:
            async with connect(url, additional_headers={"Origin": origin.format(product.url)}):
                raise AssertionError(f"a page of {origin!r} was let in")
        except InvalidStatus as refused:
            assert refused.response.status_code == 403
    async with connect(url, additional_headers={"Origin": product.url}):
        pass
    after = await _metric(product, "whist_socket_handshakes_refused_total", 'reason="origin"')
    assert after - before == len(FOREIGN)
    run.inject(f"handshakes from {len(FOREIGN)} pages that are not ours: {', '.join(map(repr, FOREIGN))}")
    run.held(f"each 403 before a socket was there, {after - before:.0f} counted; our own page let in")


async def _stolen_tokens(run: Run, product: Embedded) -> None:
    async with Whist.connect(product.url) as ana, Whist.connect(product.url) as eve:
        stolen, own = await ana._session.access_token(), await eve._session.access_token()
        refresh = ana._session._held.refresh
        async with rogue(product.url, own) as socket:
            await socket.say(frames.Hello(token=stolen))
            assert (await socket.hear(frames.Error)).reason == "TOKEN_OF_ANOTHER_ACCOUNT"
            assert await socket.closed() == CloseCode.TOKEN
        head, body, signature = stolen.split(".")
        forged = (f"{head}.{body}.{signature[::-1]}", f"{head}.{own.split('.')[1]}.{signature}", stolen[:-1], "")
        for token in forged:
            assert await _refused(product, token) == CloseCode.TOKEN
        async with (
            rogue(product.url, stolen) as first,
            rogue(product.url, stolen) as second,
            httpx.AsyncClient(base_url=product.url) as client,
        ):
            ended = await client.request("DELETE", "/v1/session", json={"refresh_token": refresh})
            assert ended.status_code == 204
            async with asyncio.timeout(CLOSED_SECONDS):
                assert {await first.closed(), await second.closed()} == {CloseCode.TOKEN}
            refused = await client.get("/v1/me", headers={"Authorization": f"Bearer {stolen}"})
            assert (refused.status_code, refused.json()["code"]) == (401, "TOKEN_INVALID")
            again = await client.post("/v1/tokens", json={"refresh_token": refresh})
            assert (again.status_code, again.json()["code"]) == (401, "REFRESH_INVALID")
            mine = await client.get("/v1/me", headers=await bearer(eve))
            assert mine.status_code == 200
        assert await _refused(product, stolen) == CloseCode.TOKEN
    run.inject(
        f"a token on another account's socket, {len(forged)} forged ones, one on two sockets, and again after logout"
    )
    run.held(
        "closed 4401 each; both sockets of the ended session within 5 s, its tokens 401; the other account untouched"
    )


async def _refused(product: Embedded, token: str) -> int:
    """The close code for a Hello with this token."""
    async with connect(await socket_url(product.url)) as socket:
        await socket.send(frames.encode(frames.Hello(token=token)).decode())
        async with asyncio.timeout(10):
            await socket.wait_closed()
        return socket.close_code or 0


async def _metric(product: Embedded, name: str, label: str) -> float:
    async with httpx.AsyncClient() as client:
        text = (await client.get(f"{product.metrics_url}/metrics")).text
    return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name) and label in line)
