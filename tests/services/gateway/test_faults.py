"""Workers that break, move, freeze or refuse, and sessions that end: what a player's socket sees of it."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import httpx
import pytest
from websockets.asyncio.client import connect

from libs.chassis.clock import ManualClock
from libs.chassis.errors import Unavailable
from libs.chassis.events.envelope import Event
from libs.wire import frames, link
from libs.wire.frames import CloseCode
from services.gateway.consumers import AUTH_TOPIC
from services.gateway.sessions import FAILED_GAP_SECONDS, REVOKED_SECONDS, Sessions
from tests.services.gateway.fake_peers import TABLE, Keys
from tests.services.gateway.fake_worker import Worker
from tests.services.gateway.world import Player, Stage, staged
from whist.auth.v1 import events_pb2

TABLE_ID = bytes.fromhex(TABLE)


def session_revoked(account: UUID, session: UUID) -> Event:
    event_id = uuid4()
    message = events_pb2.AuthEvent(event_id=event_id.bytes)
    message.session_revoked.CopyFrom(events_pb2.SessionRevoked(account_id=account.bytes, session_id=session.bytes))
    return Event(
        topic=AUTH_TOPIC, key=account.bytes, event_id=event_id, type="session_revoked",
        payload=message.SerializeToString(),
    )  # fmt: skip


def guest_upgraded(account: UUID) -> Event:
    event_id = uuid4()
    message = events_pb2.AuthEvent(event_id=event_id.bytes)
    message.guest_upgraded.CopyFrom(events_pb2.GuestUpgraded(account_id=account.bytes, name="Ana"))
    return Event(
        topic=AUTH_TOPIC, key=account.bytes, event_id=event_id, type="guest_upgraded",
        payload=message.SerializeToString(),
    )  # fmt: skip


def move_table(old: Worker, new: Worker) -> None:
    """The table is the new worker's, one epoch later, with all its rows."""
    new.rows[TABLE_ID] = list(old.rows[TABLE_ID])
    new.done |= old.done
    old.epoch = new.epoch = old.epoch + 1
    old.owner = new.address
    old.refusing = True


async def test_while_auth_is_away_one_token_asks_for_keys_and_the_others_do_not_queue_behind_it() -> None:
    keys, clock, asked = Keys(), ManualClock(datetime.now(UTC)), 0
    away = True

    async def fetch() -> str:
        nonlocal asked
        asked += 1
        await asyncio.sleep(0)
        if away:
            raise Unavailable
        return keys.jwks

    sessions = Sessions(fetch, clock)
    token = keys.token()
    refusals = await asyncio.gather(*(sessions.verified(token) for _ in range(20)), return_exceptions=True)
    assert {type(each) for each in refusals} == {Unavailable}, "nobody is told that a good token is bad"
    assert asked == 1
    away = False
    clock.advance(FAILED_GAP_SECONDS)
    bearers = await asyncio.gather(*(sessions.verified(token) for _ in range(20)))
    assert len(set(bearers)) == 1 and asked == 2


async def test_p33_a_move_in_flight_when_the_stream_breaks_is_sent_again_and_stands_once(stage: Stage) -> None:
    worker = stage.world.worker
    async with stage.player() as player:
        await player.joined()
        worker.silent = True
        await player.act("a1", bid=2)
        await worker.until(link.Command)
        worker.silent = False
        worker.break_streams()
        assert (await player.hear(frames.Snapshot)).seq == -1
        delta = await player.hear(frames.Delta)
        assert (delta.req, delta.seq) == ("a1", 0)
    assert len(worker.rows[TABLE_ID]) == 1


async def test_p33_an_acknowledgement_lost_with_the_stream_is_given_again_not_doubled(stage: Stage) -> None:
    worker = stage.world.worker
    async with stage.player() as player:
        await player.joined()
        answer = worker.answer
        worker.answer = lambda frame: (answer(frame), [])[1]  # type: ignore[method-assign]
        await player.act("a1")
        await worker.until(link.Command)
        worker.answer = answer  # type: ignore[method-assign]
        worker.break_streams()
        assert (await player.hear(frames.Snapshot)).seq == 0
        assert (await player.hear(frames.Ack)).req == "a1"
    assert len(worker.rows[TABLE_ID]) == 1


async def test_p33_after_a_break_everybody_is_resumed_from_the_row_they_have(stage: Stage) -> None:
    worker = stage.world.worker
    async with stage.player() as ana, stage.player() as bo:
        await ana.joined()
        await bo.joined()
        await ana.act("a1")
        for player in (ana, bo):
            await player.hear(frames.Delta)
        await ana.hear(frames.Private)
        worker.seen.clear()
        worker.break_streams()
        asked = await worker.until(link.Subscribe, 2)
        assert {each.since for each in asked} == {0}
        for player in (ana, bo):
            await player.hear(frames.Delta)  # the last row again: whose turn it is
        await bo.act("b1")
        assert (await ana.hear(frames.Delta)).seq == 1


async def test_a_worker_that_does_not_own_the_table_makes_it_be_located_again(stage: Stage) -> None:
    old, new = stage.world.worker, await stage.world.another_worker()
    async with stage.player() as player:
        await player.joined()
        await player.act("a1")
        await player.hear(frames.Delta)
        await player.hear(frames.Private)
        move_table(old, new)
        await player.act("a2")
        assert (await player.hear(frames.Delta)).seq == 0
        moved = await player.hear(frames.Delta)
        assert (moved.req, moved.epoch) == ("a2", 2)
    assert not [frame for frame in new.seen if isinstance(frame, link.Command) and frame.req == "a1"]


async def test_owned_moves_the_table_at_once_and_lower_epochs_are_dropped(stage: Stage) -> None:
    """B02: a zombie's frames after the takeover reach nobody."""
    old, new = stage.world.worker, await stage.world.another_worker()
    other = "0" * 31 + "9"
    async with stage.player() as player:
        await player.joined()
        old.owner = new.address  # so that the next table opens a stream to the new worker
        await player.joined(table=other)
        move_table(old, new)
        new.say(link.Owned(TABLE_ID, 2, 0, new.address))
        await player.hear(frames.Snapshot)
        old.say(link.Public(TABLE_ID, 1, 7, frames.encode(frames.Pong(n=666, now=0))))
        old.say(link.ToSocket(bytes.fromhex(other), 0, 1, b""))
        await player.act("a1")
        assert (await player.hear(frames.Delta)).epoch == 2


async def test_a_table_without_owner_is_asked_for_until_it_has_one(stage: Stage) -> None:
    stage.world.worker.unowned = 3
    async with stage.player() as player:
        await player.joined()
    assert stage.world.worker.located == 4


async def test_a_frozen_workers_tables_are_found_at_their_new_owner(short_folder: Path) -> None:
    """The stream is open and silent: an unanswered command makes the gateway ask where the table is."""
    async with staged(short_folder) as stage:
        old, new = stage.world.worker, await stage.world.another_worker()
        async with stage.player() as player:
            await player.joined()
            old.silent = True
            await player.act("a1")
            await old.until(link.Command)
            move_table(old, new)
            new.rows[TABLE_ID].clear()
            await player.hear(frames.Snapshot)
            assert (await player.hear(frames.Delta)).req == "a1"


async def test_a_command_nobody_answers_is_given_up_after_ten_seconds_with_unavailable(stage: Stage) -> None:
    clock = ManualClock(datetime.now(UTC))
    stage.gateway.hub.tables._clock = clock
    async with stage.player() as player:
        await player.joined()
        stage.world.worker.silent = True
        await player.act("a1")
        await stage.world.worker.until(link.Command)
        for table in stage.gateway.hub.tables._tables.values():
            for command in table.commands.values():
                command.received_at = clock.monotonic()
        clock.advance(9.9)
        stage.gateway.hub.sweep()
        await player.say(frames.Ping(n=1))
        await player.hear(frames.Pong)
        clock.advance(0.2)
        stage.gateway.hub.sweep()
        refused = await player.hear(frames.Error)
        assert (refused.reason, refused.req) == ("UNAVAILABLE", "a1")


async def test_a_number_no_batch_can_carry_is_refused_alone_and_harms_no_other_player(stage: Stage) -> None:
    """Fault 14: one poisoned frame must not take the stream of everybody with it."""
    async with stage.player() as ana, stage.player() as bo:
        await ana.joined()
        await bo.joined()
        await ana.act("a1", bid=2**70)
        assert (await ana.hear(frames.Error)).reason == "BAD_FRAME"
        await ana.act("a2", bid=[[[1]]])
        assert (await ana.hear(frames.Error)).reason == "BAD_FRAME"
        await bo.act("b1")
        assert (await ana.hear(frames.Delta)).req == "b1"
    assert len(stage.world.worker.streams) == 1


async def test_asvs_7_4_1_a_revoked_session_loses_its_sockets_and_its_token_at_once(stage: Stage) -> None:
    account, ended, other = uuid4(), uuid4(), uuid4()
    async with stage.player(account, ended) as gone, stage.player(account, other) as stays:
        await stage.bus.publish([session_revoked(account, ended)])
        assert await gone.closed() == CloseCode.TOKEN
        await stays.say(frames.Ping(n=1))
        await stays.hear(frames.Pong)
        await stays.say(frames.Hello(token=stage.world.keys.token(account, ended)))
        assert (await stays.hear(frames.Error)).reason == "TOKEN_INVALID"
        assert await stays.closed() == CloseCode.TOKEN


async def test_p42_a_guests_token_is_nothing_to_rest_once_the_guest_is_an_account(stage: Stage) -> None:
    account, keys = uuid4(), stage.world.keys
    before, other = (keys.sign(keys.claims(each, guest=True)) for each in (account, uuid4()))
    async with (
        connect(stage.socket_url, compression=None) as socket,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{stage.gateway.http_port}") as client,
    ):
        player = Player(socket)
        await player.say(frames.Hello(token=before))
        await player.hear(frames.Welcome)
        await stage.bus.publish([guest_upgraded(account)])
        async with asyncio.timeout(5):
            while (answer := await client.get("/v1/wallet", headers=bearing(before))).status_code == 200:
                await asyncio.sleep(0.01)
        assert (answer.status_code, answer.json()["code"]) == (401, "TOKEN_EXPIRED")
        for method, path in (("PUT", "/v1/account/name"), ("GET", "/v1/account/export"), ("GET", "/v1/sessions")):
            answer = await client.request(method, path, json={"name": "Zmeu"}, headers=bearing(before))
            assert (answer.status_code, answer.json()["code"]) == (401, "TOKEN_EXPIRED")
        for token in (other, keys.token(account)):
            assert (await client.get("/v1/wallet", headers=bearing(token))).status_code == 200
        # The sign-in may be repeated with it, and the game on its socket goes on.
        repeated = await client.post(f"/v1/login/{'6c' * 16}", json={"code": "12345678"}, headers=bearing(before))
        assert repeated.status_code == 200
        await player.say(frames.Ping(n=1))
        await player.hear(frames.Pong)
    assert stage.world.auth.claimed == []


def bearing(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def test_a_socket_ends_with_its_token_and_lives_on_with_a_fresh_one(stage: Stage) -> None:
    account = uuid4()
    async with stage.player(account, seconds=1) as short, stage.player(account, seconds=1) as renewed:
        await renewed.say(frames.Hello(token=stage.world.keys.token(account)))
        await renewed.hear(frames.Welcome)
        assert await short.closed() == CloseCode.TOKEN
        await renewed.say(frames.Ping(n=1))
        await renewed.hear(frames.Pong)


async def test_a_second_hello_of_another_account_closes_the_socket(stage: Stage) -> None:
    async with stage.player() as player:
        await player.say(frames.Hello(token=stage.world.keys.token()))
        assert (await player.hear(frames.Error)).reason == "TOKEN_OF_ANOTHER_ACCOUNT"
        assert await player.closed() == CloseCode.TOKEN


async def test_frames_sent_right_behind_the_first_hello_are_kept_until_the_keys_are_here(stage: Stage) -> None:
    async with connect(stage.socket_url, compression=None) as socket:
        player = Player(socket)
        await player.say(frames.Hello(token=stage.world.keys.token()))
        await player.say(frames.Join(table=TABLE))
        await player.act("a1")
        await player.hear(frames.Welcome)
        await player.hear(frames.Snapshot)
        assert (await player.hear(frames.Delta)).req == "a1"


async def test_a_hello_while_auth_is_away_is_sent_away_to_come_again(stage: Stage) -> None:
    stage.world.auth.down = True
    async with connect(stage.socket_url, compression=None) as socket:
        player = Player(socket)
        await player.say(frames.Hello(token=stage.world.keys.token()))
        assert (await player.hear(frames.Error)).reason == "UNAVAILABLE"
        assert await player.closed() == CloseCode.SLOW_READER


async def test_b12_draining_sends_sockets_away_with_1012_and_refuses_handshakes(short_folder: Path) -> None:
    async with staged(short_folder) as stage:
        async with stage.player() as first, stage.player() as second:
            began = asyncio.get_running_loop().time()
            draining = asyncio.create_task(stage.gateway.drain())
            codes = {await first.closed(), await second.closed()}
            await draining
            assert asyncio.get_running_loop().time() - began < 3
            assert codes == {CloseCode.RESTART}
        with pytest.raises(OSError):
            async with stage.player():
                pass


def test_a_tokens_life_outlasts_no_revocation_mark() -> None:
    """Access tokens live ten minutes (ASVS 9.2.1): the mark must be kept longer."""
    assert timedelta(seconds=REVOKED_SECONDS) > timedelta(minutes=10, seconds=30)
