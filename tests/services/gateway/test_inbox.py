"""What all sockets have said in one turn of the loop is acted upon together, each socket's in its order."""

import asyncio
from uuid import uuid4

import pytest
from picows import WSMsgType

from libs.wire import frames, link
from libs.wire.frames import CloseCode
from services.gateway.socket.inbox import ARRIVED_MAX
from tests.services.gateway.fake_peers import TABLE
from tests.services.gateway.test_attacks import close_code, masked, raw
from tests.services.gateway.world import Stage

TEXT, CONTINUATION, CLOSE = 1, 0, 8


def said(frame: object) -> bytes:
    """As one whole text message."""
    return masked(TEXT, frames.encode(frame))


async def heard(reader: asyncio.StreamReader) -> frames.ServerFrame:
    """The next message."""
    async with asyncio.timeout(10):
        _, length = await reader.readexactly(2)
        size = int.from_bytes(await reader.readexactly(2), "big") if length == 126 else length
        return frames.decode_server.decode(await reader.readexactly(size))


async def test_frames_of_every_sort_in_one_packet_are_answered_in_their_order(stage: Stage) -> None:
    reader, writer = await raw(stage)
    await reader.readuntil(b"\r\n\r\n")
    parted = frames.encode(frames.Ping(n=2))
    writer.write(said(frames.Hello(token=stage.world.keys.token())))
    assert isinstance(await heard(reader), frames.Welcome)
    writer.write(
        said(frames.Ping(n=1))
        + masked(TEXT, parted[:5], fin=False)
        + masked(CONTINUATION, parted[5:])
        + said(frames.Ping(n=3))
        + masked(CLOSE, CloseCode.DONE.to_bytes(2, "big"))
    )
    for n in (1, 2, 3):
        pong = await heard(reader)
        assert isinstance(pong, frames.Pong)
        assert pong.n == n
    assert await close_code(reader) == CloseCode.DONE
    writer.close()


async def test_a_move_said_together_with_the_farewell_is_made(stage: Stage) -> None:
    reader, writer = await raw(stage)
    await reader.readuntil(b"\r\n\r\n")
    writer.write(said(frames.Hello(token=stage.world.keys.token())) + said(frames.Join(table=TABLE)))
    assert isinstance(await heard(reader), frames.Welcome)
    assert isinstance(await heard(reader), frames.Snapshot)
    writer.write(
        said(frames.Act(table=TABLE, req="a1", turn=0, action={"bid": 3}))
        + masked(CLOSE, CloseCode.DONE.to_bytes(2, "big"))
    )
    assert await close_code(reader) == CloseCode.DONE
    (command,) = await stage.world.worker.until(link.Command)
    assert (command.req, command.action) == ("a1", {"bid": 3})
    writer.close()


async def test_what_follows_a_message_that_closes_the_socket_is_not_heard(stage: Stage) -> None:
    account = uuid4()
    async with stage.player():  # so that the gateway knows the key, and a Hello is answered at once
        reader, writer = await raw(stage)
        await reader.readuntil(b"\r\n\r\n")
        writer.write(said(frames.Join(table=TABLE)) + said(frames.Hello(token=stage.world.keys.token(account))))
        assert isinstance(await heard(reader), frames.Error)
        assert await close_code(reader) == CloseCode.POLICY
        assert account.bytes not in stage.gateway.hub._accounts
        writer.close()


async def test_our_fault_with_one_message_cuts_its_socket_alone(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    hub, met = stage.gateway.hub, list[object]()

    def broken(connection: object) -> None:
        met.append(connection)
        raise RuntimeError("planted")

    monkeypatch.setattr(hub.watches, "watch", broken)
    async with stage.player() as ana, stage.player() as bo:
        first, second = hub._sockets.values()
        for connection, frame in ((first, frames.Watch()), (first, frames.Watch()), (second, frames.Ping(n=2))):
            hub.inbox.add(connection, WSMsgType.TEXT, frames.encode(frame), hub.clock.monotonic())
        assert (await bo.hear(frames.Pong)).n == 2
        assert await ana.closed() == 1006  # cut without a word
        assert met == [first], "what it said behind that is not heard"


async def test_n4_of_a_flood_in_one_turn_no_more_is_kept_than_the_inbox_holds(stage: Stage) -> None:
    hub = stage.gateway.hub
    async with stage.player() as flood:
        (connection,) = hub._sockets.values()
        for _ in range(ARRIVED_MAX):
            assert not connection.closing, "before anything is acted upon"
            hub.inbox.add(connection, WSMsgType.TEXT, frames.encode(frames.Ping(n=1)), hub.clock.monotonic())
        assert connection.closing
        assert await flood.closed() == CloseCode.POLICY
