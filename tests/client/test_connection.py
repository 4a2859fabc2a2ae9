"""The SDK against a real HTTP server and real sockets: a game survives whatever the line does."""

import asyncio
import time
from typing import Any

import pytest

from libs.client import MemoryStore, TurnPassed, Unreachable, Whist, WhistError
from libs.client.sdk import socket as connection
from libs.client.sdk import table as table_module
from libs.client.sdk.backoff import Backoff
from libs.client.sdk.table import Table
from libs.engine.bots import choose
from libs.wire import frames
from tests.client.server import TABLE, Fault, Whistle, serving

pytestmark = pytest.mark.timeout(60)


async def play_out(table: Table) -> None:
    async for decision in table:
        await decision.take(choose(table.game, decision.view))


def acts(server: Whistle) -> list[Any]:
    return [frame for frame in server.heard if isinstance(frame, frames.Act)]


def check_end(server: Whistle, table: Table) -> None:
    """What the client saw is what the server has, and no decision was made twice or by anybody else."""
    truth = server.truth
    assert table.result is not None
    assert table.result.ranking == truth.state.ranking
    assert table.result.totals == truth.state.totals
    assert table.result.secret == truth.secret.hex()
    own = [row for row, _ in truth.rows if row.by == "person"]
    assert len({row.req for row in own}) == len(own)
    assert len(own) == sum(cards + 1 for cards in table.view["rounds"])


async def test_a_whole_quick_game(server: Whistle, soon: Backoff) -> None:
    queue: list[str] = []
    async with Whist.connect(server.url, backoff=soon) as whist:
        assert whist.account["guest"]
        table = await whist.quick_game(room=1, told=lambda place: queue.append(place.state))
        assert table.seat == server.truth.seat
        assert table.commitment == server.truth.snapshot().commitment
        await play_out(table)
    check_end(server, table)
    assert queue[-1] == "seated"
    assert server.connections == 1
    assert len(acts(server)) == len({act.req for act in acts(server)})


@pytest.mark.parametrize("do", ["cut", "cut after"])
@pytest.mark.parametrize(
    ("way", "kind", "nth"),
    [
        ("in", "hello", 1),
        ("in", "watch", 1),
        ("in", "join", 1),
        ("in", "act", 1),
        ("in", "act", 9),
        ("out", "welcome", 1),
        ("out", "queue", 1),
        ("out", "queue", 3),
        ("out", "snapshot", 1),
        ("out", "delta", 1),
        ("out", "delta", 60),
        ("out", "private", 1),
        ("out", "private", 13),
        ("out", "over", 1),
    ],
)
async def test_b14_a_game_goes_on_after_a_cut_at_any_frame(
    way: str, kind: str, nth: int, do: str, server: Whistle, soon: Backoff, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "OPEN_S", 2.0)
    fault = Fault(way, kind, do, nth)
    server.faults.append(fault)
    async with Whist.connect(server.url, backoff=soon) as whist:
        table = await whist.quick_game()
        await play_out(table)
    assert fault.seen >= nth
    check_end(server, table)
    if (do, kind) != ("cut after", "over"):
        assert server.connections == 2


@pytest.mark.parametrize(("kind", "nth"), [("delta", 5), ("private", 3), ("delta", 40)])
@pytest.mark.parametrize("do", ["drop", "double"])
async def test_b04_lost_and_doubled_frames_do_no_harm(
    kind: str, nth: int, do: str, server: Whistle, soon: Backoff
) -> None:
    server.faults.append(Fault("out", kind, do, nth))
    async with Whist.connect(server.url, backoff=soon) as whist:
        table = await whist.quick_game()
        await play_out(table)
    check_end(server, table)
    assert server.connections == 1


async def test_p32_an_unanswered_command_is_sent_again_with_its_req(
    server: Whistle, soon: Backoff, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_module, "RESEND_S", 0.02)
    server.faults.append(Fault("in", "act", "drop"))
    async with Whist.connect(server.url, backoff=soon) as whist:
        await play_out(table := await whist.quick_game())
    check_end(server, table)
    first, second, *_ = acts(server)
    assert first == second


async def test_a_game_that_ended_while_we_were_away_ends_from_its_record(server: Whistle, soon: Backoff) -> None:
    server.forgets_when_over = True
    server.faults.append(Fault("out", "over", "cut"))
    async with Whist.connect(server.url, backoff=soon) as whist:
        await play_out(table := await whist.quick_game())
    check_end(server, table)


async def test_a_join_refused_in_passing_is_asked_again(
    server: Whistle, soon: Backoff, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "PASSING_S", 0.001)
    server.refuse_joins = ["UNAVAILABLE", "UNAVAILABLE"]
    async with Whist.connect(server.url, backoff=soon) as whist:
        table = await whist.quick_game()
        assert table.decision is not None


async def test_a_join_refused_for_good_raises(server: Whistle, soon: Backoff) -> None:
    server.refuse_joins = ["NOT_AT_TABLE"]
    async with Whist.connect(server.url, backoff=soon) as whist:
        with pytest.raises(WhistError, match="NOT_AT_TABLE"):
            await whist.join(TABLE)


async def test_p8_a_dropped_ticket_raises_its_reason(server: Whistle, soon: Backoff) -> None:
    server.drop_reason = "INSUFFICIENT_FUNDS"
    async with Whist.connect(server.url, backoff=soon) as whist:
        with pytest.raises(WhistError, match="INSUFFICIENT_FUNDS"):
            await whist.quick_game(room=2)


async def test_p8_quitting_is_final_and_the_bot_plays_on(server: Whistle, soon: Backoff) -> None:
    async with Whist.connect(server.url, backoff=soon) as whist:
        table = await whist.quick_game()
        await table.quit()
        assert table.result is not None
        assert (table.result.status, table.result.place) == ("left", None)
        assert [decision async for decision in table] == []
    assert server.truth.left
    assert server.truth.state.ranking is not None


async def test_p34_another_devices_move_stands(server: Whistle, soon: Backoff) -> None:
    async with Whist.connect(server.url, backoff=soon) as whist:
        table = await whist.quick_game()
        decision = await anext(table)
        server.truth.move(table.seat, {"bid": 0}, by="person", req="other-device")
        server.truth.advance()
        with pytest.raises(TurnPassed):
            await decision.take({"bid": 1})
        following = await anext(table)
        assert following.turn > decision.turn
        assert table.view["bids"][table.seat] == 0
        await following.take(following.legal[0])
        await play_out(table)
    check_end(server, table)


async def test_the_socket_says_hello_again_before_its_token_ends(server: Whistle, soon: Backoff) -> None:
    server.token_life_ms = 40
    renewed = asyncio.Event()

    class Heard(list[Any]):
        def append(self, frame: Any) -> None:
            super().append(frame)
            if sum(isinstance(each, frames.Hello) for each in self) >= 3:
                renewed.set()

    server.heard = Heard()
    async with Whist.connect(server.url, backoff=soon) as whist:
        table = await whist.quick_game()
        await asyncio.wait_for(renewed.wait(), 10)
        await play_out(table)
    hellos = [frame.token for frame in server.heard if isinstance(frame, frames.Hello)]
    assert hellos[:3] == ["access-1", "access-2", "access-3"]
    assert server.connections == 1
    check_end(server, table)


async def test_a_socket_closed_for_its_token_comes_back_with_a_fresh_one(server: Whistle, soon: Backoff) -> None:
    async with Whist.connect(server.url, backoff=soon) as whist:
        server.access = "changed"
        table = await whist.quick_game()
        await play_out(table)
    check_end(server, table)
    assert server.refreshes >= 1


async def test_a2_a_revoked_session_ends_the_table_with_its_reason(server: Whistle, soon: Backoff) -> None:
    async with Whist.connect(server.url, backoff=soon) as whist:
        table = await whist.quick_game()
        decision = await anext(table)
        server.revoked, server.access = True, "revoked"
        server.faults.append(Fault("in", "act", "cut"))
        with pytest.raises(WhistError, match="REFRESH_INVALID"):
            await decision.take(decision.legal[0])
        with pytest.raises(WhistError, match="REFRESH_INVALID"):
            await anext(table)


async def test_silence_after_a_heartbeat_is_a_dead_connection(
    server: Whistle, soon: Backoff, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "PATIENCE_S", 0.05)
    server.heartbeat_ms = 20
    server.faults.append(Fault("out", "pong", "drop"))
    reconnected = asyncio.Event()
    async with Whist.connect(server.url, backoff=soon) as whist:
        table = await whist.quick_game()
        server.on_connect = reconnected.set
        await asyncio.wait_for(reconnected.wait(), 10)
        await play_out(table)
    check_end(server, table)
    assert any(isinstance(frame, frames.Ping) for frame in server.heard)


async def test_without_any_server_the_first_call_says_so(soon: Backoff) -> None:
    with pytest.raises(Unreachable, match=r"cannot reach http://127.0.0.1:9"):
        async with Whist.connect("http://127.0.0.1:9", backoff=soon):
            pass


async def test_a_socket_address_that_never_answers_is_given_up(
    server: Whistle, soon: Backoff, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "FIRST_TRY_S", 0.02)
    server.socket_url = "ws://127.0.0.1:9/v1/ws"
    async with Whist.connect(server.url, backoff=soon) as whist:
        with pytest.raises(Unreachable, match=r"ws://127.0.0.1:9"):
            await whist.quick_game()


async def test_an_expired_token_is_renewed_and_the_request_repeated(server: Whistle, soon: Backoff) -> None:
    async with Whist.connect(server.url, backoff=soon) as whist:
        server.access = "expired-meanwhile"
        assert await whist.coins() == 1000
        assert server.refreshes == 1
        server.access = "expired-again"
        assert await asyncio.gather(*(whist.coins() for _ in range(10))) == [1000] * 10
        assert server.refreshes == 2


async def test_p42_a_stored_session_is_the_same_guest_and_a_dead_one_a_new(server: Whistle, soon: Backoff) -> None:
    store = MemoryStore()
    async with Whist.connect(server.url, store=store, backoff=soon):
        pass
    async with Whist.connect(server.url, store=store, backoff=soon):
        pass
    assert server.refreshes == 1
    server.revoked = True
    async with Whist.connect(server.url, store=store, backoff=soon):
        assert server.access == "access-3"


async def test_a_sign_in_that_has_ended_is_said_once_and_no_guest_steps_in_unseen(server: Whistle) -> None:
    store = MemoryStore()
    store.save({"refresh_token": "spent", "account": {"account_id": "a", "name": "Ana", "guest": False}})
    with pytest.raises(WhistError, match="SIGN_IN_ENDED") as ended:
        async with Whist.connect(server.url, store=store):
            pass
    assert ended.value.facts["name"] == "Ana" and server.access == ""
    async with Whist.connect(server.url, store=store):
        assert server.access == "access-1"


async def test_p40_signing_in_by_code(server: Whistle, soon: Backoff) -> None:
    async def code() -> str:
        return "12345678"

    async def wrong() -> str:
        return "00000000"

    async with Whist.connect(server.url, email="ana@example.com", ask_code=code, backoff=soon) as whist:
        assert await whist.coins() == 1000
    with pytest.raises(WhistError) as refused:
        async with Whist.connect(server.url, email="ana@example.com", ask_code=wrong, backoff=soon):
            pass
    assert (refused.value.code, refused.value.status, refused.value.facts) == ("CODE_WRONG", 400, {"tries_left": 0})


async def test_leaving_ends_every_task_and_connection(soon: Backoff) -> None:
    async with serving() as server:
        before = asyncio.all_tasks()
        async with Whist.connect(server.url, backoff=soon) as whist:
            await whist.quick_game()
        ours = [task for task in asyncio.all_tasks() - before if "libs/client" in repr(task)]
        assert ours == []


async def test_n4_an_eager_player_never_sends_faster_than_the_server_allows(
    server: Whistle, soon: Backoff, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "FRAMES_A_SECOND", 25)
    monkeypatch.setattr(connection, "FRAMES_AT_ONCE", 5)
    began = time.monotonic()
    async with Whist.connect(server.url, backoff=soon) as whist:
        await play_out(table := await whist.quick_game())
    check_end(server, table)
    assert time.monotonic() - began >= (len(server.heard) - 1 - 5 - 1) / 25
    assert server.connections == 1
