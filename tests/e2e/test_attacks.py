"""A hostile client against the running product: each attack gets its typed answer, changes nothing, and harms nobody.

Ids of `reliability`: B04, B30 (commands), A5, A6 (tokens, other people's tables), N1-N4 (sockets), B32 (REST), X2, X3
(races). What one service alone must do under attack is tested at that service.
"""

import asyncio
import json
import re
from collections import Counter
from contextlib import AsyncExitStack
from typing import Any

import httpx
import msgspec

from libs.client import Table, TurnPassed, Whist, WhistError
from libs.engine.bots import choose
from libs.wire import frames
from tests.e2e.conftest import Embedded
from tests.e2e.rogue import Rogue, bearer, illegal, rogue, socket_url
from tests.e2e.story import Played, arrives, moves_in, play

EVERY_REFUSAL = {
    "BAD_ACTION", "NOT_PLAYING", "NOT_BIDDING", "BID_OUT_OF_RANGE", "BID_BARRED", "CARD_NOT_HELD", "MUST_FOLLOW_SUIT",
    "MUST_TRUMP", "OUT_OF_TURN", "STALE_TURN",
}  # fmt: skip


async def view_of(client: httpx.AsyncClient, table: Table, headers: dict[str, str]) -> Any:
    answer = await client.get(f"/v1/tables/{table.id}", headers=headers)
    assert answer.status_code == 200
    return answer.json()["view"]


async def attack_turn(first: Rogue, other: Rogue, table: Table, view: dict[str, Any], seen: Counter[str]) -> None:
    """Try at this decision of ours what has not been refused yet."""
    attempts = [(first, view["turn"], reason, action) for reason, action in illegal(view)]
    legal = view["legal"][0]
    attempts += [
        (other, view["turn"], "OUT_OF_TURN", legal),
        (first, view["turn"] + 1, "STALE_TURN", legal),
        (first, 2**53 - 1, "STALE_TURN", legal),
    ]
    if view["turn"]:
        attempts.append((first, view["turn"] - 1, "STALE_TURN", legal))
    known = Counter(reason for _, _, reason, _ in attempts if reason in seen)
    for number, (who, turn, reason, action) in enumerate(attempts):
        if reason in known:
            continue
        req = f"x-{view['turn']}-{number}"
        await who.act(table.id, req, turn, action)
        answer = await who.answer(req)
        assert isinstance(answer, frames.Error), (reason, action)
        assert (answer.reason, answer.turn, answer.table) == (reason, view["turn"], table.id), action
        seen[reason] += 1


async def test_b30_every_illegal_command_is_refused_with_its_reason_and_changes_nothing(product: Embedded) -> None:
    async with AsyncExitStack() as stack:
        ana, bob = [await stack.enter_async_context(Whist.connect(product.url)) for _ in range(2)]
        client = await stack.enter_async_context(httpx.AsyncClient(base_url=product.url))
        table, bobs = await asyncio.gather(ana.quick_game(mode="classic"), bob.quick_game(mode="classic"))
        assert table.id == bobs.id
        first, other = [
            await stack.enter_async_context(rogue(product.url, await each._session.access_token()))
            for each in (ana, bob)
        ]
        await first.join(table.id)
        await other.join(table.id)
        bob_plays = asyncio.create_task(play(bobs))
        seen: Counter[str] = Counter()
        headers = await bearer(ana)
        played = Played()
        async for decision in table:
            if seen.keys() >= EVERY_REFUSAL:
                break
            before = await view_of(client, table, headers)
            await attack_turn(first, other, table, dict(decision.view), seen)
            assert await view_of(client, table, headers) == before == decision.view
            action = choose(table.game, decision.view)
            try:
                await decision.take(action)
            except TurnPassed:
                continue
            played.acknowledged[decision.turn] = action
        assert seen.keys() >= EVERY_REFUSAL
        await asyncio.gather(table.quit(), bobs.quit())
        await bob_plays
        record = await finished_record(ana, table)
        assert moves_in(record, ana.account["account_id"]) == played.acknowledged


async def finished_record(whist: Whist, table: Table) -> Any:
    """The record, once the bots have played to the end."""

    async def read() -> Any:
        try:
            return await whist.record(table.id)
        except WhistError as error:
            assert error.code == "GAME_RUNNING"
            return None

    return await arrives(read, lambda record: record is not None)


async def test_b04_a_command_sent_thrice_over_two_sockets_and_a_third_after_a_break_is_one_move(
    product: Embedded,
) -> None:
    async with Whist.connect(product.url) as whist:
        table = await whist.quick_game()
        token = await whist._session.access_token()
        async with rogue(product.url, token) as left, rogue(product.url, token) as right:
            await left.join(table.id)
            await right.join(table.id)
            decision = await anext(aiter(table))
            action = choose(table.game, decision.view)
            for each in (left, left, right):
                await each.act(table.id, "same", decision.turn, action)
            row = (await left.hear(frames.Delta, req="same")).seq
            assert (await left.hear(frames.Ack, req="same")).seq == row
            assert (await right.hear(frames.Delta, req="same")).seq == row
            assert (await right.hear(frames.Ack, req="same")).seq == row
            # Another action under the same name is answered as the first was; under a name of its own it is too late.
            await right.act(table.id, "same", decision.turn, {"bid": 0})
            assert (await right.hear(frames.Ack, req="same")).seq == row
            await right.act(table.id, "new", decision.turn, action)
            assert (await right.hear(frames.Error, req="new")).reason == "STALE_TURN"
        async with rogue(product.url, token) as again:
            await again.join(table.id)
            await again.act(table.id, "same", decision.turn, action)
            assert (await again.hear(frames.Ack, req="same")).seq == row
        await play(table)
        record = await whist.record(table.id)
        assert moves_in(record, whist.account["account_id"])[decision.turn] == action


async def test_a6_a_table_of_others_shows_nothing_to_a_stranger_and_takes_nothing_from_one(product: Embedded) -> None:
    async with (
        Whist.connect(product.url) as whist, Whist.connect(product.url) as stranger,
        httpx.AsyncClient(base_url=product.url, headers=await bearer(stranger)) as client,
        rogue(product.url, await stranger._session.access_token()) as socket,
    ):  # fmt: skip
        table = await whist.quick_game()
        unknown = "0" * 31 + "1"
        routes = [("GET", "/v1/tables/{}"), ("POST", "/v1/tables/{}/hint"), ("GET", "/v1/games/{}")]
        for method, route in routes:
            refused = await client.request(method, route.format(table.id))
            # That a game runs is no secret (P22), what is in it is.
            expected = (409, "GAME_RUNNING") if "games" in route else (403, "NOT_AT_TABLE")
            assert (refused.status_code, refused.json()["code"]) == expected
            missing = await client.request(method, route.format(unknown))
            assert (missing.status_code, missing.json()["code"]) == (404, "TABLE_UNKNOWN")
        await socket.act(table.id, "r1", 0, {"bid": 0})
        assert (await socket.hear(frames.Error, req="r1")).reason == "JOIN_FIRST"
        for since in (msgspec.UNSET, 0, 2**53 - 1):
            await socket.say(frames.Join(table=table.id, since=since))
            assert (await socket.hear(frames.Error, table=table.id)).reason == "NOT_AT_TABLE"
            # Sent behind the Join it would be refused by the worker, which trusts no gateway for a seat.
            await socket.say(frames.Join(table=table.id, since=since))
            await socket.act(table.id, "r2", 0, {"bid": 0})
            await socket.say(frames.Quit(table=table.id, req="r3"))
            for req in ("r2", "r3"):
                assert (await socket.hear(frames.Error, req=req)).reason in ("NOT_AT_TABLE", "JOIN_FIRST")
        await socket.say(frames.Join(table=unknown))
        assert (await socket.hear(frames.Error, table=unknown)).reason == "TABLE_UNKNOWN"
        await play(table)
        after = await client.get(f"/v1/games/{table.id}")
        assert (after.status_code, after.json()["code"]) == (403, "NOT_AT_TABLE")
        await socket.say(frames.Join(table=table.id))
        assert (await socket.hear(frames.Error, table=table.id)).reason == "TABLE_FINISHED"
        assert (await whist.record(table.id))["result"] is not None


async def test_x3_fifty_queues_and_cancels_from_two_devices_leave_one_ticket_or_one_seat(product: Embedded) -> None:
    async with Whist.connect(product.url) as whist, AsyncExitStack() as stack:
        headers = await bearer(whist)
        devices = [
            await stack.enter_async_context(httpx.AsyncClient(base_url=product.url, headers=headers, timeout=30))
            for _ in range(2)
        ]
        wish = {"room": 1, "mode": "quick"}
        answers = await asyncio.gather(
            *(
                devices[number % 2].request(*("DELETE", "/v1/queue") if number % 3 == 1 else ("POST", "/v1/queue"),
                                            json=None if number % 3 == 1 else wish)
                for number in range(150)
            )
        )  # fmt: skip
        # 409: cancelled too late, the match was made; another person of a test before may have waited in the queue.
        assert {answer.status_code for answer in answers} <= {200, 204, 409}, Counter(a.status_code for a in answers)
        assert {answer.json()["code"] for answer in answers if answer.status_code == 409} <= {"ALREADY_MATCHED"}
        table = await whist.quick_game()
        # Queueing again while the game ends is either the same seat or a new ticket, and never neither.
        last = asyncio.create_task(play(table))
        places = []
        while not last.done():
            again = await devices[0].post("/v1/queue", json=wish)
            assert again.status_code == 200, again.text
            places.append(again.json())
        await last
        assert {(each["state"], each["table"]) for each in places[:1]} == {("seated", table.id)}
        place = await devices[0].post("/v1/queue", json=wish)
        assert place.json()["state"] in ("waiting", "matched")
        assert (await devices[1].delete("/v1/queue")).status_code in (204, 409)


async def test_quitting_and_acting_at_once_is_both_or_a_refusal_and_the_bot_plays_on(product: Embedded) -> None:
    async with Whist.connect(product.url) as whist:
        table = await whist.quick_game()
        token = await whist._session.access_token()
        async with rogue(product.url, token) as left, rogue(product.url, token) as right:
            await left.join(table.id)
            await right.join(table.id)
            decision = await anext(aiter(table))
            action = choose(table.game, decision.view)
            await asyncio.gather(
                left.act(table.id, "act", decision.turn, action), right.say(frames.Quit(table=table.id, req="quit"))
            )
            acted, quitted = await asyncio.gather(left.answer("act"), right.answer("quit"))
            assert isinstance(quitted, frames.Ack)
            assert isinstance(acted, frames.Delta) or acted.reason == "SEAT_LEFT"  # type: ignore[union-attr]
            await left.act(table.id, "late", decision.turn, action)
            refused = await left.answer("late")
            assert isinstance(refused, frames.Error)
            assert refused.reason in ("SEAT_LEFT", "STALE_TURN", "GAME_OVER", "JOIN_FIRST")
        record = await finished_record(whist, table)
        assert record["result"] is not None


async def test_a4_two_refreshes_at_once_get_one_successor_and_a_logout_ends_sockets_but_not_the_game(
    product: Embedded,
) -> None:
    async with Whist.connect(product.url) as whist, httpx.AsyncClient(base_url=product.url) as client:
        refresh = whist._session._held.refresh
        twins = await asyncio.gather(*(client.post("/v1/tokens", json={"refresh_token": refresh}) for _ in range(10)))
        assert {each.status_code for each in twins} == {200}
        tokens = [each.json()["tokens"] for each in twins]
        assert len({each["refresh_token"] for each in tokens}) == 1
        await whist.quick_game()
        async with rogue(product.url, tokens[0]["access_token"]) as socket:
            ended = await client.request("DELETE", "/v1/session", json={"refresh_token": tokens[0]["refresh_token"]})
            assert ended.status_code == 204
            assert await socket.closed() == frames.CloseCode.TOKEN
        for token in tokens:
            headers = {"Authorization": f"Bearer {token['access_token']}"}
            refused = await client.get("/v1/wallet", headers=headers)
            assert (refused.status_code, refused.json()["code"]) == (401, "TOKEN_INVALID")
        spent = await client.post("/v1/tokens", json={"refresh_token": tokens[0]["refresh_token"]})
        assert (spent.status_code, spent.json()["code"]) == (401, "REFRESH_INVALID")


async def test_n3_a_siege_costs_an_honest_player_not_one_move(product: Embedded) -> None:
    """N2-N4: 300 sockets without a Hello, garbage, floods, slow heads and bodies, bodies without end, all at once."""
    host, _, port = product.url.removeprefix("http://").partition(":")
    address = (await socket_url(product.url)).removeprefix("ws://").partition("/")[0].rpartition(":")[2]
    upgrade = (
        b"GET /v1/ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    post = b"POST /v1/guests HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "
    silent = [upgrade] * 300
    hostile = [
        *[upgrade + b"\x82\xfe\x10\x00" + bytes(4) + bytes(4096)] * 20,  # a binary frame of nothing
        *[upgrade + (b"\x01\x80" + bytes(4)) * 500] * 20,  # messages that never end, one inside another
        *[upgrade + (b"\x81\x8a" + bytes(4) + b'{"t":"ping') * 200] * 20,  # a flood that is not even JSON
        *[b"\x16\x03\x01" + bytes(2000)] * 20,
    ]
    slow = [
        *[b"GET /v1/me HTT"] * 50,
        *[post + b"50\r\n\r\n{"] * 50,
        *[post + b"10000000\r\n\r\n" + bytes(10_000_000)] * 3,
    ]

    async def attack(where: str, attacks: list[bytes]) -> list[bytes]:
        return await asyncio.gather(*(_ended(host, int(where), each) for each in attacks))

    async with Whist.connect(product.url) as whist:
        table = await whist.quick_game()
        async with asyncio.TaskGroup() as siege:
            sieges = [siege.create_task(attack(address, silent + hostile)), siege.create_task(attack(port, slow))]
            played = await play(table)
        record = await whist.record(table.id)
        assert moves_in(record, whist.account["account_id"]) == played.acknowledged
        assert {by for _, _, by, _ in record["moves"]} <= {"person", "bot"}, "time ran out"
        by_socket, by_http = [each.result() for each in sieges]
        assert all(b" 101 " in each and b"no hello in time" in each for each in by_socket[:300])
        answers = Counter(each.split(b" ", 2)[1] if each else b"" for each in by_http)
        assert answers == {b"": 50, b"408": 50, b"413": 3}


async def _ended(host: str, port: int, attack: bytes) -> bytes:
    """Send, then take what comes until the other side ends the connection; it must, and soon."""
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(attack)
        async with asyncio.timeout(30):
            return await reader.read(-1)
    except ConnectionError:
        return b""
    finally:
        writer.close()


# In each field of each body, in each parameter, and as a whole body; none of it is good everywhere.
NONSENSE: tuple[Any, ...] = (
    None, True, -1, 0, 2**31, 2**53, 2**63, 2**64, 10**400, 1.5, "", "a" * 5000, "\0", "NaN", "../../etc/passwd",
    "' or 1=1 --", "0" * 32, "\u202e", "\r\nBcc: x@example.org", [], {}, [[[]]], {"a": 1},
)  # fmt: skip
BODIES = (
    b"", b"{", b"null", b"[]", b"NaN", b'{"room":NaN}', b'{"room":Infinity}', b'{"room":1e400}', b"\xff\xfe\x00",
    b"[" * 30_000, b'{"a":' * 10_000, b'{"room":1,"room":2}', b'{"device":"\\ud800"}', b'{"email":"\\ud800@x.example"}',
    b'{"refresh_token":"\\ud800"}', b"x" * 100_000,
)  # fmt: skip
GOOD = {
    "email": "somebody@example.org", "locale": "en", "code": "12345678", "device": "d", "refresh_token": "x" * 43,
    "room": 1, "mode": "quick", "coffee": None,
}  # fmt: skip


async def test_b32_nonsense_at_every_route_is_a_problem_with_a_code_and_never_a_fault(product: Embedded) -> None:
    async with Whist.connect(product.url) as whist, httpx.AsyncClient(base_url=product.url, timeout=30) as client:
        document = (await client.get("/openapi.json")).json()
        mine = await bearer(whist)
        answers: Counter[int] = Counter()

        async def ask(method: str, path: str, **request: Any) -> None:
            answer = await client.request(method, path, **request)
            answers[answer.status_code] += 1
            assert answer.status_code < 500, (method, path, request, answer.text)
            if answer.is_client_error:
                assert answer.headers["content-type"] == "application/problem+json", (method, path)
                assert answer.json()["status"] == answer.status_code
                assert answer.json()["code"]

        for route, methods in document["paths"].items():
            path = re.sub(r"{\w+}", "0" * 32, route)
            for token in ("x", "a b", "a" * 9000, mine["Authorization"].removeprefix("Bearer ")[:-4]):
                await ask("GET", path, headers={"Authorization": f"Bearer {token}"})
            for method in ("PUT", "PATCH", "OPTIONS", "TRACE", "PROPFIND"):
                await ask(method, path, headers=mine)
            for place in ("x", "%00", "%ff", "..%2f..", "0" * 33) if "{" in route else ():
                for method in methods:
                    await ask(method.upper(), re.sub(r"{\w+}", place, route), headers=mine)
            for method, operation in methods.items():
                for each in operation.get("parameters", ()):
                    for value in NONSENSE if each["in"] == "query" else ():
                        await ask(method.upper(), path, headers=mine, params={each["name"]: json.dumps(value)})
                if "requestBody" not in operation:
                    continue
                kind = {"Content-Type": "application/json"}
                for body in BODIES:
                    await ask(method.upper(), path, headers=mine | kind, content=body)
                    await ask(method.upper(), path, headers=mine, content=body)
                for name, right in _fields(document, operation).items():
                    for value in NONSENSE:
                        wrong = json.dumps(right | {name: value}).encode()
                        await ask(method.upper(), path, headers=mine | kind, content=wrong)
        assert answers[401] and answers[405] and answers[413] and answers[422]
        # All that was taken of it is a place in room 1's queue.
        assert (await whist.wallet())["coins"] == 0
        await client.delete("/v1/queue", headers=mine)


def _fields(document: dict[str, Any], operation: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """By field of the body: a right body without it. One name is made up."""
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    if schema.get("type") == "object":
        names = schema.get("properties", {})  # a record has none that the document knows
    else:
        reference = schema.get("$ref") or next(each["$ref"] for each in schema["anyOf"] if "$ref" in each)
        names = document["components"]["schemas"][reference.rpartition("/")[2]]["properties"]
    right = {name: GOOD[name] for name in names if name in GOOD}
    return {name: {other: right[other] for other in right if other != name} for name in (*names, "account_id")}
