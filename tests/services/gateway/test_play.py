"""A player's socket while all is well: joins, moves, resumes, devices, matchmaking."""

import asyncio
from uuid import uuid4

from libs.wire import frames, link
from libs.wire.frames import CloseCode
from tests.services.gateway.fake_peers import TABLE
from tests.services.gateway.world import Stage
from whist.matchmaking.v1 import matchmaking_pb2
from whist.types.v1 import types_pb2


async def test_hello_is_welcomed_with_the_account_and_the_tokens_end(stage: Stage) -> None:
    account = uuid4()
    async with stage.player(account) as player:
        await player.say(frames.Hello(token=stage.world.keys.token(account)))
        welcome = await player.hear(frames.Welcome)
    assert welcome.account == account.hex
    assert welcome.heartbeat_ms == 15_000
    assert 595_000 < welcome.token_expires - welcome.now <= 600_000


async def test_p32_a_move_is_seen_by_all_and_acknowledged_to_its_sender_with_its_req(stage: Stage) -> None:
    async with stage.player() as ana, stage.player() as bo:
        await ana.joined()
        await bo.joined()
        await ana.act("a1", bid=3)
        mine, theirs = await ana.hear(frames.Delta), await bo.hear(frames.Delta)
        assert mine == theirs
        assert (mine.req, mine.events) == ("a1", [{"bid": 3}])
        await ana.hear(frames.Private)
        await bo.say(frames.Ping(n=7))
        assert (await bo.hear(frames.Pong)).n == 7  # nothing private came before it


async def test_p32_a_repeated_move_is_answered_as_the_first_was(stage: Stage) -> None:
    async with stage.player() as player:
        await player.joined()
        await asyncio.gather(player.act("a1"), player.act("a1"))
        assert (await player.hear(frames.Delta)).seq == 0
        await player.hear(frames.Private)
        assert (await player.hear(frames.Ack)).seq == 0
    assert len(stage.world.worker.rows[bytes.fromhex(TABLE)]) == 1


async def test_p34_two_devices_of_one_account_both_see_the_table_and_its_private_part(stage: Stage) -> None:
    account = uuid4()
    async with stage.player(account) as phone, stage.player(account) as laptop:
        await phone.joined()
        await laptop.joined()
        await phone.act("a1")
        for device in (phone, laptop):
            assert (await device.hear(frames.Delta)).req == "a1"
            await device.hear(frames.Private)


async def test_frames_are_binary_when_the_hello_was(stage: Stage) -> None:
    async with stage.player(binary=True) as binary, stage.player() as text:
        await binary.say(frames.Ping(n=1))
        await text.say(frames.Ping(n=1))
        assert isinstance(await binary.socket.recv(), bytes)
        assert isinstance(await text.socket.recv(), str)


async def test_b14_a_join_with_since_gets_what_was_missed_and_no_snapshot(stage: Stage) -> None:
    async with stage.player() as ana:
        await ana.joined()
        for number in range(4):
            await ana.act(f"a{number}")
            await ana.hear(frames.Delta)
            await ana.hear(frames.Private)
        async with stage.player() as back:
            first = await back.joined(since=1)
            assert [first.seq, (await back.hear(frames.Delta)).seq] == [2, 3]
            await ana.act("a4")
            assert (await back.hear(frames.Delta)).seq == 4


async def test_a_stranger_is_refused_and_sees_nothing_of_the_table(stage: Stage) -> None:
    stranger = uuid4()
    stage.world.worker.strangers.add(stranger.bytes)
    async with stage.player() as ana, stage.player(stranger) as other:
        await ana.joined()
        await other.say(frames.Join(table=TABLE))
        assert (await other.hear(frames.Error)).reason == "NOT_AT_TABLE"
        await ana.act("a1")
        await ana.hear(frames.Delta)
        await other.act("b1")
        assert (await other.hear(frames.Error)).reason == "JOIN_FIRST"


async def test_what_a_stranger_sends_right_behind_the_join_is_answered_too(stage: Stage) -> None:
    stranger = uuid4()
    stage.world.worker.strangers.add(stranger.bytes)
    stage.world.worker.silent = True
    async with stage.player() as ana, stage.player(stranger) as other:
        await ana.joined()
        await other.say(frames.Join(table=TABLE))
        await other.act("b1")
        await other.say(frames.Quit(table=TABLE, req="b2"))
        heard = [await other.hear(frames.Error) for _ in range(3)]
        assert [(each.reason, each.req) for each in heard if not each.req] == [("NOT_AT_TABLE", "")]
        assert {(each.reason, each.req) for each in heard if each.req} == {("JOIN_FIRST", "b1"), ("JOIN_FIRST", "b2")}


async def test_a_frame_that_precedes_the_snapshot_is_not_sent_to_who_still_waits_for_it(stage: Stage) -> None:
    """Fault 29: deltas before the base state."""
    async with stage.player() as ana, stage.player() as bo:
        await ana.joined()
        stage.world.worker.refusing = False
        answer = stage.world.worker.answer

        def late(frame: link.Up) -> list[link.Down]:
            early = link.Public(frame.table, 1, 0, frames.encode(frames.Pong(n=99, now=0)))
            return [early, *answer(frame)] if isinstance(frame, link.Subscribe) else answer(frame)

        stage.world.worker.answer = late  # type: ignore[method-assign]
        await bo.joined()
        assert (await ana.hear(frames.Pong)).n == 99


async def test_leaving_ends_the_frames_and_tells_the_worker(stage: Stage) -> None:
    async with stage.player() as ana, stage.player() as bo:
        await ana.joined()
        await bo.joined()
        await bo.say(frames.Leave(table=TABLE))
        assert len(await stage.world.worker.until(link.Unsubscribe)) == 1
        await ana.act("a1")
        await ana.hear(frames.Delta)
        await bo.say(frames.Ping(n=1))
        await bo.hear(frames.Pong)


async def test_a_closed_socket_is_unsubscribed_from_its_tables(stage: Stage) -> None:
    async with stage.player() as ana:
        await ana.joined()
        await ana.joined(table="0" * 31 + "2")
    gone = await stage.world.worker.until(link.Unsubscribe, 2)
    assert {frame.table.hex() for frame in gone} == {TABLE, "0" * 31 + "2"}


async def test_a_ninth_table_on_one_socket_is_refused(stage: Stage) -> None:
    async with stage.player() as player:
        for number in range(8):
            await player.joined(table=f"{number:032x}")
        await player.say(frames.Join(table="f" * 32))
        assert (await player.hear(frames.Error)).reason == "TOO_MANY_TABLES"


async def test_p8_quitting_reaches_the_worker_and_is_acknowledged(stage: Stage) -> None:
    async with stage.player() as player:
        await player.joined()
        await player.say(frames.Quit(table=TABLE, req="q1"))
        assert (await player.hear(frames.Delta)).req == "q1"
    assert len(await stage.world.worker.until(link.Vacate)) == 1


async def test_a_sixth_socket_of_an_account_closes_the_oldest_with_4001(stage: Stage) -> None:
    account = uuid4()
    async with (
        stage.player(account) as first,
        stage.player(account) as second,
        stage.player(account),
        stage.player(account),
        stage.player(account),
        stage.player(account) as sixth,
    ):
        assert await first.closed() == CloseCode.SUPERSEDED
        for player in (second, sixth):
            await player.say(frames.Ping(n=1))
            await player.hear(frames.Pong)


async def test_watching_the_queue_is_one_stream_an_account_and_ends_when_seated(stage: Stage) -> None:
    account = uuid4()
    table = uuid4()
    matchmaking = stage.world.matchmaking
    waiting = matchmaking_pb2.QueueStatus(
        state=matchmaking_pb2.QUEUE_STATE_WAITING, room=3, mode=types_pb2.MODE_QUICK, seats_filled=2,
        position=3, waiting=9, remaining_ms=7_250,
    )  # fmt: skip
    seated = matchmaking_pb2.QueueStatus(state=matchmaking_pb2.QUEUE_STATE_SEATED, table_id=table.bytes)
    async with stage.player(account) as phone, stage.player(account) as laptop:
        await phone.say(frames.Watch())
        matchmaking.changes.put_nowait(waiting)
        place = await phone.hear(frames.Queue)
        assert (place.state, place.room, place.mode, place.seats) == ("waiting", 3, "quick", 2)
        assert (place.position, place.waiting, place.remaining_ms) == (3, 9, 7_250)
        await laptop.say(frames.Watch())
        assert await laptop.hear(frames.Queue) == place
        matchmaking.changes.put_nowait(seated)
        for device in (phone, laptop):
            assert (await device.hear(frames.Queue)).table == table.hex
        assert matchmaking.watches == 1


async def test_a_finished_table_is_told_and_forgotten(stage: Stage) -> None:
    stage.world.worker.finished = True
    async with stage.player() as player:
        await player.say(frames.Join(table=TABLE))
        refused = await player.hear(frames.Error)
        assert (refused.reason, refused.table) == ("TABLE_FINISHED", TABLE)


async def test_after_closed_the_last_frames_have_arrived_and_the_table_is_left(stage: Stage) -> None:
    table = bytes.fromhex(TABLE)
    async with stage.player() as player:
        await player.joined()
        over = frames.Over(table=TABLE, seq=5, epoch=1, status="finished", secret="00")
        stage.world.worker.say(link.Public(table, 1, 5, frames.encode(over)), link.Closed(table))
        assert (await player.hear(frames.Over)).secret == "00"
        await player.act("a1")
        assert (await player.hear(frames.Error)).reason == "JOIN_FIRST"


async def test_a_command_that_meets_the_end_of_the_table_is_answered_too(stage: Stage) -> None:
    stage.world.worker.silent = True
    async with stage.player() as player:
        await player.joined()
        await player.act("a1")
        await stage.world.worker.until(link.Command)
        stage.world.worker.say(link.Closed(bytes.fromhex(TABLE)))
        refused = await player.hear(frames.Error)
        assert (refused.reason, refused.req, refused.table) == ("JOIN_FIRST", "a1", TABLE)


async def test_a_command_of_one_whom_the_table_shuts_out_is_answered_too(stage: Stage) -> None:
    stage.world.worker.silent = True
    async with stage.player() as player:
        await player.joined()
        await player.act("a1")
        await stage.world.worker.until(link.Command)
        [asked] = [each for each in stage.world.worker.seen if isinstance(each, link.Command)]
        left = frames.encode(frames.Error(reason="SEAT_LEFT", table=TABLE))
        stage.world.worker.say(link.ToSocket(asked.table, asked.conn, 1, left))
        heard = [await player.hear(frames.Error) for _ in range(2)]
        assert [(each.reason, each.req) for each in heard] == [("SEAT_LEFT", ""), ("JOIN_FIRST", "a1")]
