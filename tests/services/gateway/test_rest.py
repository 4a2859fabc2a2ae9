"""REST: each route against its contract, refusals as problems, limits, cookies, garbage."""

import asyncio
import json
import string
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import UUID, uuid4

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.auth.domain.addresses import network_of as network_at_auth
from services.gateway.http.problems import MEDIA_TYPE
from services.gateway.network import neighbours_of, network_of
from tests.services.gateway.fake_peers import TABLE
from tests.services.gateway.world import ORIGIN, Stage, staged
from whist.types.v1 import types_pb2

GUEST_ONLY = ("tokens", "account", "created")


@pytest.fixture
async def account(stage: Stage, http: httpx.AsyncClient) -> AsyncIterator[UUID]:
    """A signed-in client."""
    holder = uuid4()
    http.headers["Authorization"] = f"Bearer {stage.world.keys.token(holder)}"
    yield holder


def is_problem(answer: httpx.Response, status: int, code: str) -> bool:
    body = answer.json()
    return (
        answer.status_code == status
        and answer.headers["content-type"] == MEDIA_TYPE
        and body["code"] == code
        and body["status"] == status
        and body["request_id"] == answer.headers["x-request-id"]
    )


async def test_config_names_the_socket(stage: Stage, http: httpx.AsyncClient) -> None:
    answer = (await http.get("/v1/config")).json()
    assert answer["socket_url"] == stage.socket_url
    assert answer["heartbeat_ms"] == 15_000


async def test_p42_a_guest_is_made_and_its_token_opens_the_other_routes(stage: Stage, http: httpx.AsyncClient) -> None:
    answer = await http.post("/v1/guests", json={"device": "test"})
    assert answer.status_code == 201
    guest = answer.json()
    assert guest["created"] and guest["account"]["guest"] and guest["tokens"]["refresh_token"]
    assert stage.world.auth.networks == ["127.0.0.1"]
    me = await http.get("/v1/me", headers={"Authorization": f"Bearer {guest['tokens']['access_token']}"})
    assert me.json()["account"]["account_id"] == guest["account"]["account_id"]


async def test_a_retried_guest_with_the_same_key_is_the_same_guest_also_in_parallel(http: httpx.AsyncClient) -> None:
    key = {"Idempotency-Key": str(uuid4())}
    answers = await asyncio.gather(*(http.post("/v1/guests", json={}, headers=key) for _ in range(5)))
    assert len({answer.json()["account"]["account_id"] for answer in answers}) == 1
    other = await http.post("/v1/guests", json={})
    assert other.json()["account"]["account_id"] != answers[0].json()["account"]["account_id"]


async def test_a_guessable_idempotency_key_is_refused(http: httpx.AsyncClient) -> None:
    assert is_problem(await http.post("/v1/guests", json={}, headers={"Idempotency-Key": "1"}), 422, "INVALID_REQUEST")


async def test_p40_asking_for_a_code_is_202_and_a_wrong_code_is_a_problem_with_facts(http: httpx.AsyncClient) -> None:
    started = await http.post("/v1/login", json={"email": "ana@example.org"})
    assert started.status_code == 202
    login = f"/v1/login/{started.json()['login_id']}"
    wrong = await http.post(login, json={"code": "00000000"})
    assert is_problem(wrong, 401, "CODE_WRONG")
    assert wrong.json()["facts"] == {"tries_left": 4}
    right = await http.post(login, json={"code": "12345678"})
    assert right.status_code == 200 and right.json()["created"]


@pytest.mark.parametrize("key", [None, uuid4()])
async def test_p40_a_sign_in_whose_answer_is_lost_is_repeated_under_one_id(
    stage: Stage, http: httpx.AsyncClient, key: UUID | None
) -> None:
    auth = stage.world.auth
    headers = {} if key is None else {"Idempotency-Key": str(key)}
    for path, body in (("/v1/login", {"email": "ana@example.org"}), (f"/v1/login/{'0' * 32}", {"code": "12345678"})):
        auth.lost_answers, auth.login_requests = 1, []
        assert (await http.post(path, json=body, headers=headers)).is_success
        first, again = auth.login_requests
        assert first == again and len(first) == 16
        assert key is None or first == key.bytes


async def test_a_program_gets_the_refresh_token_in_the_body_and_no_cookie(http: httpx.AsyncClient) -> None:
    answer = await http.post("/v1/tokens", json={"refresh_token": "r" * 43})
    assert answer.json()["tokens"]["refresh_token"] == "r" * 43
    assert "set-cookie" not in answer.headers


async def test_a_page_gets_the_refresh_token_as_a_cookie_no_script_can_read(stage: Stage) -> None:
    async with httpx.AsyncClient(base_url=stage.http_url, headers={"Origin": ORIGIN}) as page:
        signed_in = await page.post("/v1/guests", json={})
        assert signed_in.json()["tokens"]["refresh_token"] is None
        cookie = signed_in.headers["set-cookie"]
        assert cookie.startswith("whist-refresh=") and "HttpOnly" in cookie and "SameSite=strict" in cookie
        renewed = await page.post("/v1/tokens", json={})
        assert renewed.status_code == 200
        assert stage.world.auth.refreshed == ["r" * 43]
        assert (await page.request("DELETE", "/v1/session", json={})).status_code == 204
        assert stage.world.auth.logged_out == ["r" * 43]


async def test_behind_tls_the_cookie_is_bound_to_the_host(short_folder: Path) -> None:
    async with staged(short_folder, secure_cookies=True) as stage, httpx.AsyncClient(base_url=stage.http_url) as page:
        cookie = (await page.post("/v1/guests", json={}, headers={"Origin": ORIGIN})).headers["set-cookie"]
    assert cookie.startswith("__Host-whist-refresh=")
    assert "Secure" in cookie and "Path=/" in cookie and "Domain" not in cookie


@pytest.mark.parametrize("origin", [None, "https://evil.example", "null"])
async def test_the_cookie_alone_refreshes_nothing_for_a_foreign_page(
    stage: Stage, http: httpx.AsyncClient, origin: str | None
) -> None:
    headers = {"Cookie": "whist-refresh=" + "r" * 43} | ({"Origin": origin} if origin else {})
    assert is_problem(await http.post("/v1/tokens", json={}, headers=headers), 403, "FOREIGN_ORIGIN")
    assert is_problem(await http.request("DELETE", "/v1/session", json={}, headers=headers), 403, "FOREIGN_ORIGIN")
    assert stage.world.auth.refreshed == stage.world.auth.logged_out == []


@pytest.mark.usefixtures("account")
async def test_me_is_answered_while_leagues_are_away(stage: Stage, http: httpx.AsyncClient) -> None:
    whole = (await http.get("/v1/me")).json()
    assert (whole["level"], whole["experience"], whole["form"]) == (2, 120, "fire")
    assert (whole["standing"]["points"], whole["standing"]["tier"]) == (55, "jack")
    assert (whole["wallet"]["coins"], whole["wallet"]["held"]["coins"], whole["wallet"]["cups"]["x1.5"]) == (
        1000,
        100,
        10,
    )
    stage.world.leagues.down = True
    part = await http.get("/v1/me")
    assert part.status_code == 200 and part.json()["level"] is None and part.json()["wallet"]["coins"] == 1000
    league = await http.get("/v1/leagues/me")
    assert is_problem(league, 503, "DATABASE_AWAY") and league.headers["retry-after"] == "1"


async def test_p8_queueing_carries_room_mode_coffee_and_the_accounts_name(
    stage: Stage, http: httpx.AsyncClient, account: UUID
) -> None:
    answer = await http.post("/v1/queue", json={"room": 3, "mode": "classic", "coffee": "x2"})
    assert answer.json()["state"] == "waiting"
    [asked] = stage.world.matchmaking.enqueued
    assert (asked.account_id, asked.name, asked.room) == (account.bytes, "Ana", 3)
    assert (asked.mode, asked.coffee) == (types_pb2.MODE_CLASSIC, types_pb2.COFFEE_X2)
    assert (await http.get("/v1/queue")).json()["state"] == "idle"
    assert (await http.delete("/v1/queue")).status_code == 204
    refused = await http.post("/v1/queue", json={"room": 12})
    assert is_problem(refused, 403, "LEVEL_TOO_LOW") and refused.json()["facts"] == {"level": 40}


@pytest.mark.usefixtures("account")
async def test_purse_rooms_record_and_league_are_read(http: httpx.AsyncClient) -> None:
    rooms = (await http.get("/v1/rooms")).json()
    assert (rooms["rooms"][0]["name"], rooms["vip_days"]) == ("Cottage", ["monday", "sunday"])
    assert (await http.get("/v1/wallet")).json()["coins"] == 1000
    history = (await http.get("/v1/wallet/history", params={"limit": 5})).json()
    assert history["movements"][0]["reason"] == "signup_gift" and history["next_before"] is None
    assert (await http.get(f"/v1/games/{TABLE}")).json() == {"v": 1, "deals": []}
    assert (await http.get("/v1/leagues/me")).json()["standing"]["week"] == "2026-W49"


async def test_a6_a_table_is_shown_to_its_own_seat_and_refused_to_others(
    stage: Stage, http: httpx.AsyncClient, account: UUID
) -> None:
    seen = (await http.get(f"/v1/tables/{TABLE}")).json()
    assert (seen["seat"], seen["view"], seen["status"]) == (2, {"round": 0}, "live")
    stage.world.worker.strangers.add(account.bytes)
    assert is_problem(await http.get(f"/v1/tables/{TABLE}"), 403, "NOT_AT_TABLE")
    assert is_problem(await http.post(f"/v1/tables/{TABLE}/hint"), 403, "NOT_AT_TABLE")


@pytest.mark.usefixtures("account")
async def test_p60_a_hint_is_given_where_hints_are_allowed(stage: Stage, http: httpx.AsyncClient) -> None:
    assert (await http.post(f"/v1/tables/{TABLE}/hint")).json() == {
        "turn": 3,
        "action": {"bid": 2},
        "advice": [{"action": {"bid": 2}, "points": 4.5, "error": 0.125, "chance": 0.75}],
    }
    stage.world.worker.hints = False
    assert is_problem(await http.post(f"/v1/tables/{TABLE}/hint"), 403, "HINTS_NOT_ALLOWED")


async def test_a6_every_route_but_the_named_ones_needs_a_token(http: httpx.AsyncClient) -> None:
    """A route that is new and open fails here until it is named."""
    opened = {
        ("/v1/config", "get"), ("/v1/guests", "post"), ("/v1/login", "post"), ("/v1/login/{login_id}", "post"),
        ("/v1/tokens", "post"), ("/v1/session", "delete"),
    }  # fmt: skip
    paths = (await http.get("/openapi.json")).json()["paths"]
    closed = [(path, verb) for path, verbs in paths.items() for verb, route in verbs.items() if "security" in route]
    assert {(path, verb) for path, verbs in paths.items() for verb in verbs} - set(closed) == opened
    for path, verb in closed:
        body = {"json": {"room": 1}} if verb == "post" else {}
        answer = await http.request(verb, path.replace("{table_id}", TABLE).replace("{session_id}", TABLE), **body)  # type: ignore[arg-type]
        assert is_problem(answer, 401, "TOKEN_INVALID"), (path, verb)


@pytest.mark.usefixtures("account")
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/queue", {"room": 1, "balance": 5}),
        ("/v1/queue", {"room": 0}),
        ("/v1/queue", {"room": "1"}),
        ("/v1/queue", {"room": 1.5}),
        ("/v1/queue", {"room": 1, "mode": "slow"}),
        ("/v1/queue", []),
        ("/v1/guests", {"is_vip": True}),
        ("/v1/guests", {"device": "x" * 65}),
        ("/v1/login", {"email": "x" * 300}),
        ("/v1/login/" + "0" * 32, {"code": "1234"}),
        ("/v1/login/nope", {"code": "12345678"}),
    ],
)
async def test_a7_bad_bodies_are_refused_and_not_repeated_in_the_answer(
    stage: Stage, http: httpx.AsyncClient, path: str, body: Any
) -> None:
    answer = await http.post(path, json=body)
    assert is_problem(answer, 422, "INVALID_REQUEST")
    assert "x" * 60 not in answer.text
    assert stage.world.matchmaking.enqueued == []


async def test_a_fault_shows_a_request_id_and_nothing_else(stage: Stage, http: httpx.AsyncClient) -> None:
    stage.world.auth.broken = True
    answer = await http.post("/v1/guests", json={})
    assert answer.status_code == 503 and "secret" not in answer.text

    def broken(*_: Any) -> None:
        raise RuntimeError("secret detail")

    stage.gateway.sessions.verify = broken  # type: ignore[method-assign, assignment]
    answer = await http.get("/v1/me", headers={"Authorization": "Bearer x"})
    assert is_problem(answer, 500, "INTERNAL")
    assert set(answer.json()) == {"type", "title", "status", "code", "request_id"}


async def test_n2_a_body_over_64_kib_is_413_with_a_length_and_without(http: httpx.AsyncClient) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(70):
            yield b" " * 1024

    for size in (70_000, 10_000_000):
        assert is_problem(await http.post("/v1/guests", content=b" " * size), 413, "BODY_TOO_BIG")
    assert is_problem(await http.post("/v1/guests", content=chunks()), 413, "BODY_TOO_BIG")


@pytest.mark.parametrize("at_once", [True, False], ids=["in one piece", "in pieces"])
async def test_n3_a_flood_of_headers_is_refused_however_it_comes(stage: Stage, at_once: bool) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", stage.gateway.http_port)
    head = b"GET /v1/config HTTP/1.1\r\nHost: x\r\n" + b"a: b\r\n" * 3000 + b"\r\n"
    try:
        for piece in [head] if at_once else [head[:9000], head[9000:]]:
            writer.write(piece)
            await writer.drain()
        async with asyncio.timeout(10):
            answer = await reader.read(-1)
    finally:
        writer.close()
    # uvicorn gives up on a head that is not whole, and says so in plain text.
    assert (b" 431 " in answer and b"HEADERS_TOO_BIG" in answer) or b" 400 " in answer


async def test_what_is_no_http_is_answered_and_not_logged(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    upgrade = b"GET /v1/ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade"
    for nonsense in (b"\x16\x03\x01\x00", upgrade):
        reader, writer = await asyncio.open_connection("127.0.0.1", stage.gateway.http_port)
        writer.write(nonsense + b"\r\n\r\n")
        async with asyncio.timeout(10):
            assert (await reader.readline()).startswith(b"HTTP/1.1 4")
        writer.close()
    assert caplog.records == []


async def test_n3_slow_headers_and_slow_bodies_are_cut_off(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.gateway.http.server.HEADER_SECONDS", 0.2)
    monkeypatch.setattr("services.gateway.http.edge.BODY_SECONDS", 0.2)
    for begun, answered in (
        (b"", b""),
        (b"GET /v1/config HTTP/1.1\r\nHost: x\r\nX-Slow: ", b""),
        (b"POST /v1/guests HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{", b"HTTP/1.1 408"),
    ):
        reader, writer = await asyncio.open_connection("127.0.0.1", stage.gateway.http_port)
        writer.write(begun)
        async with asyncio.timeout(5):
            assert (await reader.read())[:12] == answered
        writer.close()


async def test_a_connection_serves_request_after_request(http: httpx.AsyncClient) -> None:
    for _ in range(5):
        assert (await http.get("/v1/config")).status_code == 200


async def test_n4_too_many_requests_are_429_with_retry_after_and_a_forged_header_does_not_help(
    short_folder: Path,
) -> None:
    """N8: without a trusted proxy nobody's X-Forwarded-For is believed."""
    async with (
        staged(short_folder, rate_guests="2/minute") as stage,
        httpx.AsyncClient(base_url=stage.http_url) as client,
    ):
        answers = [
            await client.post("/v1/guests", json={}, headers={"X-Forwarded-For": f"10.0.0.{number}"})
            for number in range(3)
        ]
        assert [answer.status_code for answer in answers] == [201, 201, 429]
        assert is_problem(answers[2], 429, "RATE_LIMITED")
        assert 1 <= int(answers[2].headers["retry-after"]) <= 61


async def test_n4_an_account_is_limited_whatever_its_network(short_folder: Path) -> None:
    async with (
        staged(short_folder, rate_account="2/minute", trusted_proxies=1) as stage,
        httpx.AsyncClient(base_url=stage.http_url) as client,
    ):
        token = stage.world.keys.token()
        statuses = [
            (
                await client.get(
                    "/v1/queue", headers={"Authorization": f"Bearer {token}", "X-Forwarded-For": f"10.0.0.{number}"}
                )
            ).status_code
            for number in range(3)
        ]
    assert statuses == [200, 200, 429]


@pytest.mark.parametrize(
    ("peer", "forwarded", "proxies", "network"),
    [
        ("1.2.3.4", ["9.9.9.9"], 0, "1.2.3.4"),
        ("1.2.3.4", ["6.6.6.6, 9.9.9.9"], 1, "9.9.9.9"),
        ("1.2.3.4", ["6.6.6.6", "9.9.9.9, 8.8.8.8"], 2, "9.9.9.9"),
        ("1.2.3.4", ["9.9.9.9"], 2, "1.2.3.4"),
        ("1.2.3.4", ["not an address"], 1, "1.2.3.4"),
        ("2001:db8:1:2:3:4:5:6", [], 0, "2001:db8:1:2::"),
        ("fe80::1%eth0", [], 0, "fe80::"),
        ("::ffff:1.2.3.4", [], 0, "1.2.3.4"),
    ],
)
def test_n8_the_network_is_what_our_own_proxies_saw(
    peer: str, forwarded: list[str], proxies: int, network: str
) -> None:
    assert network_of(peer, forwarded, proxies) == network


@pytest.mark.parametrize(
    ("network", "neighbours"),
    [
        ("5.2.151.7", bytes((5, 2, 151))),
        ("2a02:2f00:1:2::", bytes.fromhex("2a022f0000010002")),
        ("127.0.0.1", b""),
        ("192.168.1.7", b""),
        ("10.0.0.1", b""),
        ("100.64.1.1", b""),
        ("fe80::", b""),
        ("fd00:1:2:3::", b""),
        ("", b""),
        ("unix:", b""),
    ],
)
def test_x12_neighbours_have_a_public_network_in_common(network: str, neighbours: bytes) -> None:
    assert neighbours_of(network) == neighbours


async def test_x12_queueing_tells_the_network_that_our_own_proxies_saw(short_folder: Path) -> None:
    async with (
        staged(short_folder, trusted_proxies=1) as stage,
        httpx.AsyncClient(base_url=stage.http_url) as client,
    ):
        holder = uuid4()
        headers = {"Authorization": f"Bearer {stage.world.keys.token(holder)}", "X-Forwarded-For": "8.8.8.8, 5.2.151.7"}
        assert (await client.post("/v1/queue", json={"room": 1}, headers=headers)).status_code == 200
        [asked] = stage.world.matchmaking.enqueued
        assert asked.network == bytes((5, 2, 151))


@pytest.mark.parametrize("peer", ["1.2.3.4", "2001:db8:1:2:3:4:5:6", "::ffff:1.2.3.4", "::1"])
def test_auth_counts_the_network_that_the_gateway_names(peer: str) -> None:
    assert network_at_auth(network_of(peer, [], 0)) == network_at_auth(peer)


@pytest.mark.parametrize("path", ["/metrics", "/admin/v1/bench-tables", "/dev/mail", "/docs/../etc/passwd", "/redoc"])
async def test_n6_nothing_of_operators_is_on_the_public_listener(http: httpx.AsyncClient, path: str) -> None:
    for answer in (await http.get(path), await http.post(path, json={})):
        assert is_problem(answer, 404, "NOT_FOUND")


@pytest.mark.parametrize("path", ["/v1/me/", "/v1/me%2f", "/v1/rooms/", "/docs/"])
async def test_a_path_with_a_slash_too_many_is_not_found_and_leads_nowhere(http: httpx.AsyncClient, path: str) -> None:
    """A redirect would name the Host that was sent, by http, and a token would follow it out of TLS."""
    answer = await http.get(path, headers={"Host": "evil.example"})
    assert is_problem(answer, 404, "NOT_FOUND")
    assert "location" not in answer.headers


async def test_b32_garbage_at_every_route_is_never_a_5xx(stage: Stage, http: httpx.AsyncClient) -> None:
    """Hypothesis makes the requests, one loop sends them."""
    paths = (await http.get("/openapi.json")).json()["paths"]
    routes = [(path, verb) for path, verbs in paths.items() for verb in verbs]
    token = stage.world.keys.token()
    word = st.text(st.characters(codec="utf-8", exclude_characters="/?#\\"), min_size=1, max_size=20)
    json_values = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
        max_leaves=6,
    )
    shaped = st.fixed_dictionaries(
        {},
        optional=dict.fromkeys(("room", "mode", "coffee", "email", "code", "device", "refresh_token"), json_values),
    )
    request = st.tuples(
        st.sampled_from(routes),
        st.just(TABLE) | st.text(string.hexdigits, min_size=32, max_size=32) | word,
        st.binary(max_size=60) | (json_values | shaped).map(lambda value: json.dumps(value).encode()),
        st.dictionaries(st.sampled_from(["limit", "before"]), word, max_size=2),
        st.sampled_from(["application/json", "text/plain", "application/json; charset=utf-16", ""]),
    )
    made: list[Any] = []

    @settings(max_examples=250, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(request)
    def collect(one: Any) -> None:
        made.append(one)

    collect()
    for (path, verb), part, body, query, media in made:
        answer = await http.request(
            verb,
            path.replace("{table_id}", quote(part))
            .replace("{login_id}", quote(part))
            .replace("{session_id}", quote(part)),
            content=body,
            params=query,
            headers={"Authorization": f"Bearer {token}", "Content-Type": media},
        )
        assert answer.status_code < 500, (path, verb, part, body, query, answer.text)
        assert answer.status_code < 400 or answer.headers["content-type"] == MEDIA_TYPE
