"""Friends' tables at the gateway: each route's request, each frame's way, refusals, rates, kept seats."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from libs.wire import frames
from tests.services.gateway.fake_peers import TABLE
from tests.services.gateway.test_rest import is_problem
from tests.services.gateway.world import Stage, staged
from whist.matchmaking.v1 import matchmaking_pb2
from whist.tables.v1 import friends_pb2, tables_pb2

OTHER = "a" * 32
CHOICES = {"game": "english", "options": {"target": 7}, "players": 4, "bid_seconds": 30}


@pytest.fixture
async def account(stage: Stage, http: httpx.AsyncClient) -> AsyncIterator[UUID]:
    """A signed-in client."""
    holder = uuid4()
    http.headers["Authorization"] = f"Bearer {stage.world.keys.token(holder)}"
    yield holder


async def test_p20_a_table_is_opened_with_what_the_host_chose(
    stage: Stage, http: httpx.AsyncClient, account: UUID
) -> None:
    key = str(uuid4())
    answer = await http.post("/v1/friends-tables", json=CHOICES, headers={"Idempotency-Key": key})
    assert answer.status_code == 201
    opened = answer.json()
    assert (opened["table"], opened["stage"], opened["host"]) == (TABLE, "waiting", "68" * 16)
    assert [seat and seat["name"] for seat in opened["seats"]] == ["Ana", None, None, None]
    assert opened["choices"]["options"] == {"mode": "8-1-8"}
    [asked] = stage.world.worker.asked
    assert (asked.who.account_id, asked.who.name, asked.request_id) == (account.bytes, "Ana", UUID(key).hex)
    assert (asked.choices.game, asked.choices.options_json, asked.choices.bots) == ("english", '{"target": 7}', "calm")
    assert asked.choices.listed and asked.choices.spectators and asked.choices.open_chat


@pytest.mark.parametrize(
    "body",
    [
        {"bid_seconds": 20},
        {"players": 8},
        {"bots": "wild"},
        {"options": []},
        {"host": OTHER},
        {"listed": 1},
        {"game": "x" * 33},
    ],
    ids=str,
)
async def test_a7_choices_that_do_not_fit_reach_no_worker(
    stage: Stage, http: httpx.AsyncClient, account: UUID, body: dict[str, Any]
) -> None:
    assert is_problem(await http.post("/v1/friends-tables", json=body), 422, "INVALID_REQUEST")
    assert not stage.world.worker.asked


@pytest.mark.parametrize(
    ("method", "path", "body", "change"),
    [
        ("POST", "sit", {"seat": 3}, friends_pb2.Sit(seat=3)),
        ("POST", "sit", {}, friends_pb2.Sit(seat=-1)),
        ("POST", "stand", None, friends_pb2.Stand()),
        ("POST", "deal", None, friends_pb2.Deal()),
        ("DELETE", "", None, friends_pb2.Close()),
    ],
    ids=str,
)
async def test_p21_each_route_sends_its_change(
    stage: Stage, http: httpx.AsyncClient, account: UUID, method: str, path: str, body: Any, change: Any
) -> None:
    answer = await http.request(method, f"/v1/friends-tables/{TABLE}/{path}".rstrip("/"), json=body)
    assert answer.status_code == 200, answer.text
    [asked] = stage.world.worker.asked
    assert getattr(asked, asked.WhichOneof("change")) == change and asked.table_id == bytes.fromhex(TABLE)
    assert asked.who.account_id == account.bytes and len(asked.request_id) == 32


async def test_a_refusal_is_a_problem_with_its_reason(stage: Stage, http: httpx.AsyncClient, account: UUID) -> None:
    refused = await http.post(f"/v1/friends-tables/{TABLE}/kick", json={"account": OTHER})
    assert is_problem(refused, 403, "NOT_HOST")
    taken = await http.post(f"/v1/friends-tables/{TABLE}/take-seat", json={"seat": 6})
    assert is_problem(taken, 409, "SEAT_TAKEN") and taken.json()["facts"] == {"seat": 6}


async def test_p22_a_seat_is_asked_of_the_worker_that_owns_the_table(
    stage: Stage, http: httpx.AsyncClient, account: UUID
) -> None:
    other = await stage.world.another_worker()
    stage.world.worker.owner = other.address
    answer = await http.post(f"/v1/friends-tables/{TABLE}/take-seat", json={"seat": 2})
    assert answer.json() == {"seq": 41}
    assert not stage.world.worker.asked and [asked.seat for asked in other.asked] == [2]


@pytest.mark.parametrize("state", [matchmaking_pb2.QUEUE_STATE_WAITING, matchmaking_pb2.QUEUE_STATE_MATCHED])
@pytest.mark.parametrize(
    ("path", "body"),
    [("", {}), (f"/{TABLE}/sit", {}), (f"/{TABLE}/take-seat", {"seat": 2}), (f"/{TABLE}/rematch", None)],
    ids=str,
)
async def test_x3_who_waits_for_a_quick_table_sits_down_nowhere_else(
    stage: Stage,
    http: httpx.AsyncClient,
    account: UUID,
    state: matchmaking_pb2.QueueState.ValueType,
    path: str,
    body: Any,
) -> None:
    stage.world.matchmaking.state = state
    refused = await http.post(f"/v1/friends-tables{path}", json=body)
    assert is_problem(refused, 409, "ALREADY_SEATED") and refused.json()["facts"] == {"queue": True}
    assert not stage.world.worker.asked
    stage.world.matchmaking.state = matchmaking_pb2.QUEUE_STATE_SEATED  # the game may be over: the tables know
    assert (await http.post(f"/v1/friends-tables/{TABLE}/sit", json={})).status_code == 200


@pytest.mark.parametrize("path", ["", f"/{TABLE}/sit", f"/{TABLE}/deal", f"/{TABLE}/rematch", f"/{TABLE}/take-seat"])
async def test_p82_a_suspended_account_does_nothing_at_tables_whatever_its_token_says(
    stage: Stage, http: httpx.AsyncClient, account: UUID, path: str
) -> None:
    """A gateway that has started since has not heard that its sessions are over."""
    stage.world.auth.suspended.add(account.bytes)
    refused = await http.post(f"/v1/friends-tables{path}", json={"seat": 2} if path.endswith("seat") else {})
    assert is_problem(refused, 403, "ACCOUNT_SUSPENDED")
    assert not stage.world.worker.asked


async def test_3_where_one_sits_is_told_by_any_gateway(stage: Stage, http: httpx.AsyncClient, account: UUID) -> None:
    assert (await http.get("/v1/seat")).json() == {"table": None, "kind": None, "stage": None}
    stage.world.worker.seats[account.bytes] = (tables_pb2.TABLE_KIND_FRIENDS, False)
    assert (await http.get("/v1/seat")).json() == {"table": TABLE, "kind": "friends", "stage": "waiting"}
    stage.world.worker.seats[account.bytes] = (tables_pb2.TABLE_KIND_QUICK, True)
    assert (await http.get("/v1/seat")).json() == {"table": TABLE, "kind": "quick", "stage": "dealt"}


async def test_43_a_seat_of_a_game_that_has_ended_is_refused_in_words(
    stage: Stage, http: httpx.AsyncClient, account: UUID
) -> None:
    stage.world.worker.finished = True
    refused = await http.post(f"/v1/friends-tables/{TABLE}/take-seat", json={"seat": 2})
    assert is_problem(refused, 404, "TABLE_FINISHED")
    assert not stage.world.worker.asked


async def test_the_list_one_table_a_rematch_a_report_and_a_mute(
    stage: Stage, http: httpx.AsyncClient, account: UUID
) -> None:
    listed = (await http.get("/v1/friends-tables", params={"limit": 7})).json()["tables"]
    assert listed == [(await http.get(f"/v1/friends-tables/{TABLE}")).json()]
    assert (await http.post(f"/v1/friends-tables/{TABLE}/rematch")).json()["table"] == TABLE
    said = {"account": OTHER, "words": "rude"}
    assert (await http.post(f"/v1/friends-tables/{TABLE}/report", json=said)).status_code == 204
    assert (await http.put(f"/v1/mutes/{OTHER}")).status_code == 204
    assert (await http.delete(f"/v1/mutes/{OTHER}")).status_code == 204
    asked = stage.world.worker.asked
    assert [type(each).__name__ for each in asked] == [
        "ListFriendsTablesRequest", "GetFriendsTableRequest", "RematchRequest", "ReportRequest", "MuteRequest",
        "MuteRequest",
    ]  # fmt: skip
    assert asked[0].limit == 7 and asked[3].reported == bytes.fromhex(OTHER) and asked[3].words == "rude"
    assert [each.mute for each in asked[4:]] == [True, False]


async def test_n4_an_account_opens_no_more_tables_than_the_setting_says(tmp_path: Path) -> None:
    async with staged(tmp_path, rate_tables="2/hour") as stage, httpx.AsyncClient(base_url=stage.http_url) as http:
        http.headers["Authorization"] = f"Bearer {stage.world.keys.token(uuid4())}"
        answers = [await http.post("/v1/friends-tables", json={}) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [201, 201, 429]
        assert is_problem(answers[2], 429, "RATE_LIMITED")


async def test_p20_a_socket_that_enters_is_told_of_the_table_and_its_chat_until_it_leaves(stage: Stage) -> None:
    desk = stage.world.worker
    line = friends_pb2.ChatLine(line=7, account_id=b"h" * 16, name="Ana", words="Salut")
    line.at.FromMilliseconds(1_000)
    async with stage.player() as player:
        await player.say(frames.Enter(table=TABLE))
        desk.told.put_nowait(friends_pb2.WatchFriendsTableResponse(table=desk.table, lines=[line]))
        waiting = await player.hear(frames.Waiting)
        assert (waiting.stage, waiting.choices.players, waiting.seats[1:]) == ("waiting", 4, [None] * 3)
        chat = await player.hear(frames.Chat)
        assert (chat.line, chat.name, chat.words, chat.at) == (7, "Ana", "Salut", 1_000)
        await player.say(frames.Leave(table=TABLE))
        async with asyncio.timeout(5):
            await desk.left.wait()


async def test_p25_a_seat_is_kept_no_longer_than_its_socket_lives(stage: Stage) -> None:
    desk = stage.world.worker
    async with stage.player() as player:
        await player.say(frames.Enter(table=TABLE))
        desk.told.put_nowait(friends_pb2.WatchFriendsTableResponse(table=desk.table))
        await player.hear(frames.Waiting)
    async with asyncio.timeout(5):
        await desk.left.wait()
    assert desk.entered == 1


async def test_a_line_is_acknowledged_with_its_number_or_refused(stage: Stage) -> None:
    async with stage.player() as player:
        await player.say(frames.Say(table=TABLE, req="s1", words="Salut"))
        ack = await player.hear(frames.Ack)
        assert (ack.req, ack.seq) == ("s1", 1)
        await player.say(frames.Say(table=TABLE, req="s2", words=" "))
        refused = await player.hear(frames.Error)
        assert (refused.req, refused.reason) == ("s2", "BAD_TEXT")
        [said, _] = stage.world.worker.asked
        assert (said.words, said.request_id, said.who.name) == ("Salut", "s1", "Ana")


async def test_a9_a_flood_of_chat_is_refused_and_other_frames_go_on(tmp_path: Path) -> None:
    async with staged(tmp_path, rate_chat="3/hour") as stage, stage.player() as player:
        for number in range(3):
            await player.say(frames.Say(table=TABLE, req=f"s{number}", words="x"))
            await player.hear(frames.Ack)
        await player.say(frames.Say(table=TABLE, req="s3", words="x"))
        refused = await player.hear(frames.Error)
        assert refused.reason == "RATE_LIMITED" and refused.facts["retry_after_seconds"] > 0
        await player.say(frames.Ping(n=1))
        await player.hear(frames.Pong)


async def test_a_socket_follows_no_more_tables_than_it_may(stage: Stage) -> None:
    async with stage.player() as player:
        for number in range(8):
            await player.say(frames.Enter(table=f"{number:032x}"))
        await player.say(frames.Enter(table="f" * 32))
        refused = await player.hear(frames.Error)
        assert (refused.reason, refused.table) == ("TOO_MANY_TABLES", "f" * 32)
