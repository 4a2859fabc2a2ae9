"""Hostile clients of the socket (reliability N1-N4, A5): each is refused, and an honest player notices nothing."""

import asyncio
import base64
import contextlib
import os
import socket as sockets
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from libs.wire import frames, link
from libs.wire.frames import CloseCode
from services.gateway.socket import listener
from services.gateway.socket.bucket import Bucket
from services.gateway.socket.connection import BAD_FRAMES_MAX, TABLES_MAX
from tests.services.gateway.fake_peers import TABLE, Keys
from tests.services.gateway.world import ORIGIN, Player, Stage, staged


async def still_plays(player: Player) -> None:
    await player.say(frames.Ping(n=5))
    assert (await player.hear(frames.Pong)).n == 5


async def raw(stage: Stage, *headers: str, path: str = "/v1/ws") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A handshake by hand."""
    reader, writer = await asyncio.open_connection("127.0.0.1", stage.gateway.socket_port)
    key = base64.b64encode(os.urandom(16)).decode()
    lines = [
        f"GET {path} HTTP/1.1", "Host: x", "Upgrade: websocket", "Connection: Upgrade", f"Sec-WebSocket-Key: {key}",
        "Sec-WebSocket-Version: 13", *headers, "", "",
    ]  # fmt: skip
    writer.write("\r\n".join(lines).encode())
    return reader, writer


def masked(opcode: int, payload: bytes, *, fin: bool = True, rsv1: bool = False) -> bytes:
    """A client's frame; the mask is zero."""
    first = opcode | (0x80 if fin else 0) | (0x40 if rsv1 else 0)
    size = len(payload)
    length = bytes([0x80 | size]) if size < 126 else bytes([0xFE]) + size.to_bytes(2, "big")
    return bytes([first]) + length + bytes(4) + payload


async def close_code(reader: asyncio.StreamReader) -> int:
    """Read frames of an opened socket until its close frame."""
    async with asyncio.timeout(10):
        while True:
            first, length = await reader.readexactly(2)
            size = int.from_bytes(await reader.readexactly(2), "big") if length == 126 else length
            payload = await reader.readexactly(size)
            if first & 0xF == 8:
                return int.from_bytes(payload[:2], "big")


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "",
        ORIGIN + ".evil.example",
        ORIGIN + ":443",
        "http://play.example",
        ORIGIN.upper(),
    ],
)
async def test_n1_a_foreign_origin_is_refused_before_the_handshake(stage: Stage, origin: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with connect(stage.socket_url, additional_headers={"Origin": origin}):
            pass
    assert refused.value.response.status_code == 403


async def test_n1_two_origins_are_refused_and_the_allowed_one_is_taken(stage: Stage) -> None:
    reader, writer = await raw(stage, f"Origin: {ORIGIN}", "Origin: https://evil.example")
    assert b" 403 " in await reader.readline()
    writer.close()
    async with connect(stage.socket_url, additional_headers={"Origin": ORIGIN}):
        pass


async def test_another_path_is_not_found(stage: Stage) -> None:
    reader, writer = await raw(stage, path="/v1/ws/other")
    assert b" 404 " in await reader.readline()
    writer.close()


async def test_n2_a_frame_over_16_kib_closes_with_1009_and_compression_is_never_agreed(stage: Stage) -> None:
    async with stage.player() as honest, connect(stage.socket_url) as big:
        assert "Sec-WebSocket-Extensions" not in (big.response.headers if big.response else {})
        await big.send("x" * (frames.FRAME_MAX_BYTES + 1))
        await big.wait_closed()
        assert big.close_code == CloseCode.TOO_BIG
        await still_plays(honest)


async def test_n2_fragments_are_joined_up_to_the_same_size_and_never_without_end(stage: Stage) -> None:
    token = frames.encode(frames.Hello(token=stage.world.keys.token()))
    reader, writer = await raw(stage)
    await reader.readuntil(b"\r\n\r\n")
    writer.write(masked(1, token[:50], fin=False) + masked(0, token[50:200], fin=False) + masked(0, token[200:]))
    first, _ = await reader.readexactly(2)
    assert first == 0x81  # the welcome
    writer.close()
    for attack in (
        [masked(1, b"", fin=False), *[masked(0, b"", fin=False)] * 100_000],
        [masked(1, b"x" * 9000, fin=False), masked(0, b"x" * 9000, fin=False)],
    ):
        reader, writer = await raw(stage)
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"".join(attack))
        assert await close_code(reader) == CloseCode.TOO_BIG
        writer.close()


@pytest.mark.parametrize(
    "attack",
    [
        masked(0, b"x"),
        masked(1, b"x", fin=False) + masked(1, b"x"),
        masked(1, b"{}", rsv1=True),
        masked(8, CloseCode.DONE.to_bytes(2, "big"), rsv1=True),
        masked(3, b""),
        b"\x81\x02{}",
    ],
    ids=[
        "continuation of nothing",
        "message inside another",
        "compressed",
        "compressed farewell",
        "unknown opcode",
        "not masked",
    ],
)
async def test_n2_what_is_not_rfc_6455_closes_with_1002(stage: Stage, attack: bytes) -> None:
    reader, writer = await raw(stage)
    await reader.readuntil(b"\r\n\r\n")
    writer.write(attack)
    assert await close_code(reader) == CloseCode.PROTOCOL
    writer.close()


@pytest.mark.parametrize(
    "garbage",
    [b"", b"\xff\xfe", b"null", b"[]", b'{"t":"act"}', b'{"t":"nope"}', b"[" * 8000, b'{"t":"ping","n":-1}',
     b'{"t":"ping","n":1,"extra":1}', b'{"t":"ping","n":"\\ud800"}', b'{"t":"ping","n":1e400}',
     b'{"t":"join","table":"' + b"A" * 32 + b'"}'],
)  # fmt: skip
async def test_garbage_is_answered_with_bad_frame_and_the_tenth_closes(stage: Stage, garbage: bytes) -> None:
    async with stage.player(binary=True) as player:
        for _ in range(BAD_FRAMES_MAX):
            await player.socket.send(garbage)
            assert (await player.hear(frames.Error)).reason == "BAD_FRAME"
        assert await player.closed() == CloseCode.POLICY


@pytest.mark.parametrize("text", [b"\xff\xfe", b'{"t":"ping","n":"\xc0\x80"}', b'{"t":"say","words":"\xed\xa0\x80"}'])
async def test_n2_a_text_that_is_not_utf_8_closes_with_1007_and_its_neighbours_play_on(
    stage: Stage, text: bytes
) -> None:
    reader, writer = await raw(stage)
    await reader.readuntil(b"\r\n\r\n")
    writer.write(masked(1, text))
    assert await close_code(reader) == CloseCode.NOT_TEXT
    writer.close()
    async with stage.player() as honest:
        await still_plays(honest)


async def test_b32_random_bytes_never_break_the_gateway(stage: Stage) -> None:
    @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.one_of(st.binary(max_size=200), st.recursive(st.none() | st.integers() | st.text(), st.lists).map(repr)))
    def broken(payload: bytes | str) -> None:
        connection = stage.gateway.hub.connection()
        sent: list[bytes] = []
        connection.send = sent.append  # type: ignore[method-assign, assignment]
        connection.close = lambda code, why="": None  # type: ignore[method-assign]
        connection._take(payload.encode("utf-8", "surrogatepass") if isinstance(payload, str) else payload, 0.0)
        assert len(sent) <= 1

    broken()


async def test_n3_no_hello_in_time_closes_with_1008(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.gateway.socket.connection.HELLO_SECONDS", 0.05)
    async with connect(stage.socket_url) as socket:
        await socket.wait_closed()
        assert socket.close_code == CloseCode.POLICY


async def test_the_first_frame_must_be_a_hello(stage: Stage) -> None:
    async with connect(stage.socket_url) as socket:
        player = Player(socket)
        await player.say(frames.Join(table=TABLE))
        assert (await player.hear(frames.Error)).reason == "HELLO_FIRST"
        assert await player.closed() == CloseCode.POLICY


async def test_n3_a_reader_who_does_not_read_is_cut_off_and_an_honest_one_gets_everything(stage: Stage) -> None:
    slow = sockets.socket()
    slow.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
    slow.setblocking(False)
    await asyncio.get_running_loop().sock_connect(slow, ("127.0.0.1", stage.gateway.socket_port))
    reader, writer = await asyncio.open_connection(sock=slow, limit=1024)
    writer.write(
        b"GET /v1/ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    await reader.readuntil(b"\r\n\r\n")
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    writer.write(masked(1, frames.encode(frames.Hello(token=stage.world.keys.token()))))
    writer.write(masked(1, frames.encode(frames.Join(table=TABLE))))
    worker = stage.world.worker
    await worker.until(link.Subscribe)
    table = bytes.fromhex(TABLE)
    big = frames.encode(frames.Over(table=TABLE, seq=1, epoch=1, status="finished", secret="x" * 10_000))
    async with stage.player() as honest:
        await honest.joined()
        for _ in range(6):  # 1.2 MB: our bound and the kernel's are passed, however large it would like its own to be
            worker.say(*[link.Public(table, 1, 1, big)] * 20)
            for _ in range(20):
                await honest.hear(frames.Over)
        assert [each.account.hex() for each in await worker.until(link.Unsubscribe)]
        await still_plays(honest)
    writer.transport.abort()


SLOW_OF_EACH = 40
HURRY_SECONDS = 0.5


async def trickles(writer: asyncio.StreamWriter) -> None:
    """A handshake that never ends, a byte at a time."""
    writer.write(b"GET /v1/ws HTTP/1.1\r\nX-Slow: ")
    while not writer.is_closing():
        writer.write(b"x")
        await asyncio.sleep(HURRY_SECONDS / 10)


async def test_n3_slow_sockets_of_every_kind_are_cut_while_an_honest_player_plays_on(
    short_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit in ("listener.HANDSHAKE_SECONDS", "listener.HEARTBEAT_SECONDS", "listener.PONG_SECONDS"):
        monkeypatch.setattr(f"services.gateway.socket.{limit}", HURRY_SECONDS)
    monkeypatch.setattr("services.gateway.socket.connection.HELLO_SECONDS", HURRY_SECONDS)
    async with staged(short_folder) as stage, stage.player() as honest, asyncio.TaskGroup() as group:
        await honest.joined()
        place = ("127.0.0.1", stage.gateway.socket_port)
        silent = [await asyncio.open_connection(*place) for _ in range(SLOW_OF_EACH)]
        trickling = [await asyncio.open_connection(*place) for _ in range(SLOW_OF_EACH)]
        for _, writer in trickling:
            group.create_task(trickles(writer))
        nameless = [await raw(stage) for _ in range(SLOW_OF_EACH)]
        mute = [await raw(stage) for _ in range(SLOW_OF_EACH)]
        for _, writer in mute:
            writer.write(masked(1, frames.encode(frames.Hello(token=stage.world.keys.token()))))
        slow = [*silent, *trickling, *nameless, *mute]
        ended = [group.create_task(until_cut(reader)) for reader, _ in slow]
        moves = 0
        while not all(each.done() for each in ended):
            moves += 1
            await honest.act(f"a{moves}")
            async with asyncio.timeout(1):
                assert (await honest.hear(frames.Delta)).req == f"a{moves}"
                await honest.hear(frames.Private)
            await asyncio.sleep(0.05)  # at most twenty frames a second are an honest player's
        assert moves > 3
        assert len(stage.gateway.hub._sockets) == 1
        for _, writer in slow:
            writer.transport.abort()


async def until_cut(reader: asyncio.StreamReader) -> None:
    """Read and answer nothing until the server has had enough."""
    async with asyncio.timeout(10):
        with contextlib.suppress(ConnectionError):
            while await reader.read(1024):
                pass


async def test_n4_an_account_has_five_sockets_and_the_oldest_makes_room(stage: Stage) -> None:
    account = uuid4()
    async with contextlib.AsyncExitStack() as stack:
        sockets = [await stack.enter_async_context(stage.player(account)) for _ in range(6)]
        assert await sockets[0].closed() == CloseCode.SUPERSEDED
        for other in sockets[1:]:
            await still_plays(other)


async def test_n4_a_flood_closes_with_1008_while_an_honest_player_plays_on(stage: Stage) -> None:
    async with stage.player() as honest, stage.player() as flood:
        await honest.joined()
        for _ in range(60):
            await flood.socket.send('{"t":"ping","n":1}')
        assert await flood.closed() == CloseCode.POLICY
        await honest.act("a1")
        assert (await honest.hear(frames.Delta)).req == "a1"


async def test_n4_asking_for_one_view_after_the_other_is_a_flood_sooner_and_all_tables_at_once_are_not(
    stage: Stage,
) -> None:
    async with stage.player() as honest, stage.player() as greedy:
        for number in range(TABLES_MAX):
            await honest.joined(table=f"{number:032x}")
        for _ in range(12):
            await greedy.say(frames.Join(table=TABLE))
        assert await greedy.closed() == CloseCode.POLICY
        asked = [each for each in stage.world.worker.seen if isinstance(each, link.Subscribe)]
        assert len(asked) < TABLES_MAX + 12
        await still_plays(honest)


async def test_n4_a_rate_of_zero_limits_nothing(short_folder: Path) -> None:
    async with staged(short_folder, socket_rate=0) as stage, stage.player() as player:
        for number in range(300):
            await player.say(frames.Ping(n=number))
        for number in range(300):
            assert (await player.hear(frames.Pong)).n == number


async def test_n4_a_network_has_only_so_many_sockets(short_folder: Path) -> None:
    async with staged(short_folder, sockets_per_network=2) as stage, stage.player(), stage.player() as second:
        async with connect(stage.socket_url) as third:
            await third.wait_closed()
            assert third.close_code == CloseCode.POLICY
        await still_plays(second)


@given(st.floats(0.1, 1000), st.integers(1, 100), st.lists(st.floats(0, 5), min_size=1, max_size=200))
def test_n4_a_bucket_never_gives_more_than_its_burst_and_its_rate(rate: float, burst: int, gaps: list[float]) -> None:
    bucket = Bucket(rate, burst, 0.0)
    now, taken = 0.0, 0
    for gap in gaps:
        now += gap
        taken += bucket.take(now)
        assert taken <= burst + now * rate + 1e-6


def forgeries(keys: Keys) -> dict[str, str]:
    claims = keys.claims(uuid4())
    public = keys.private.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    none = jwt.encode(claims, "", algorithm="none", headers={"kid": keys.kid, "typ": "at+jwt"})
    now = int(datetime.now(UTC).timestamp())
    head, body, signature = keys.sign(claims).split(".")
    hmac = jwt.encode(claims, public, algorithm="HS256", headers={"kid": keys.kid, "typ": "at+jwt"})
    return {
        "alg none": none,
        "signature stripped": f"{head}.{body}.",
        "HS256 with the public key": hmac,
        "other environment's key, same kid": Keys(keys.kid).sign(claims),
        "unknown kid": keys.sign(claims, kid="k2"),
        "kid is a path": keys.sign(claims, kid="../../dev/null"),
        "kid is SQL": keys.sign(claims, kid="' or 1=1 --"),
        "jku": Keys("evil").sign(claims, jku="https://evil.example/jwks.json"),
        "wrong audience": keys.sign(claims | {"aud": "other"}),
        "wrong issuer": keys.sign(claims | {"iss": "other"}),
        "wrong type": keys.sign(claims, typ="JWT"),
        "expired": keys.sign(claims | {"exp": now - 31}),
        "not yet": keys.sign(claims | {"nbf": now + 60}),
        "no session": keys.sign({name: value for name, value in claims.items() if name != "sid"}),
        "not a token": "x",
        "empty": "",
        "broken signature": f"{head}.{body}.{signature[::-1]}",
    }


@pytest.mark.parametrize("name", list(forgeries(Keys())))
async def test_a5_a_forged_token_is_refused_on_the_socket_and_by_rest(stage: Stage, name: str, http: Any) -> None:
    token = forgeries(stage.world.keys)[name]
    async with connect(stage.socket_url) as socket:
        player = Player(socket)
        await player.say(frames.Hello(token=token))
        assert (await player.hear(frames.Error)).reason in ("TOKEN_INVALID", "TOKEN_EXPIRED")
        assert await player.closed() == CloseCode.TOKEN
    answer = await http.get("/v1/wallet", headers={"Authorization": f"Bearer {token}"} if token else {})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"


async def test_a5_made_up_key_ids_do_not_become_calls_to_auth(stage: Stage) -> None:
    for number in range(20):
        async with connect(stage.socket_url) as socket:
            player = Player(socket)
            await player.say(
                frames.Hello(token=stage.world.keys.sign(stage.world.keys.claims(uuid4()), kid=f"x{number}"))
            )
            assert await player.closed() == CloseCode.TOKEN
    assert stage.world.auth.jwks_asked == 1


async def test_a_rotated_key_is_fetched_when_its_first_token_comes(stage: Stage) -> None:
    async with stage.player():
        pass
    stage.world.auth.keys = stage.world.keys = Keys("k2")
    stage.gateway.sessions._fetch_from -= 11
    async with stage.player() as player:
        await still_plays(player)
    assert stage.world.auth.jwks_asked == 2


def test_n3_handshakes_and_pongs_have_a_limit() -> None:
    assert listener.HANDSHAKE_SECONDS <= 10
    assert listener.PONG_SECONDS <= 20
