"""N7, B34: nothing secret is in a log, an event or a metric, whatever came before, at the most talkative level."""

import re
import secrets

import httpx
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine

from libs.chassis.entropy import SystemEntropy
from libs.client import Whist
from libs.engine.cards import CARD_BY_TEXT
from libs.wire.frames import CloseCode
from services.allinone.home import Home
from tests.e2e.conftest import Embedded
from tests.e2e.digest import SCHEMAS
from tests.e2e.rogue import bearer, rogue
from tests.e2e.story import arrives, mailed_code, play

TOKEN = re.compile(r"eyJ[A-Za-z0-9_-]{20}")
CARDS = re.compile(rf"\b({'|'.join(CARD_BY_TEXT)})\b")


async def test_n7_no_token_code_address_or_card_is_in_any_log_or_event(product: Embedded) -> None:
    canary = secrets.token_hex(8)
    address = f"{canary}@example.org"
    code = ""

    async def ask_code() -> str:
        nonlocal code
        code = await mailed_code(product.data / "mail", address)
        return code

    async with (
        Whist.connect(product.url, email=address, ask_code=ask_code) as whist,
        httpx.AsyncClient(base_url=product.url) as client,
    ):
        refresh = whist._session._held.refresh
        headers = await bearer(whist)
        wrong = [f"{canary}-refresh", headers["Authorization"] + canary, f"{canary}@", f"{canary}-device"]
        assert (await client.post("/v1/tokens", json={"refresh_token": wrong[0]})).status_code == 401
        assert (await client.get("/v1/me", headers={"Authorization": wrong[1]})).status_code == 401
        assert (await client.post("/v1/login", json={"email": wrong[2]})).status_code == 400
        assert (await client.post("/v1/guests", json={"device": wrong[3]})).status_code == 201
        assert (await client.post(f"/v1/login/{'0' * 32}", json={"code": code})).status_code in (400, 401)
        assert (await client.get(f"/v1/{canary}?token={canary}", headers={"Cookie": canary})).status_code == 404
        table = await whist.quick_game()
        async with rogue(product.url, headers["Authorization"].removeprefix("Bearer ")) as socket:
            await socket.join(table.id)
            await socket.say({"t": canary})
            await socket.act(table.id, "canary", 10**6, {canary: canary})
            await socket.answer("canary")
            await socket.say({"t": "hello", "token": canary})
            assert await socket.closed() == CloseCode.TOKEN
        await play(table)
        secret = (await whist.record(table.id))["secret"]
        access = headers["Authorization"]

    text = await said(product)
    leaks = [name for name, value in {
        "canary": canary, "code": code, "access token": access, "refresh token": refresh, "secret of a game": secret,
    }.items() if value in text]  # fmt: skip
    assert leaks == []
    assert TOKEN.search(text) is None
    assert CARDS.search(text) is None
    for payload in await events(product):
        for value in (canary, code, refresh):
            assert value.encode() not in payload


async def test_p45_of_a_deleted_account_nothing_is_left_but_the_name_in_events_that_are_kept(product: Embedded) -> None:
    """Names are public and stay in events for their 35 days (docs/security.md); an address is nowhere at any time."""
    canary, name = secrets.token_hex(8), f"Zoe{secrets.token_hex(6)}"
    address = f"{canary}@example.org"
    async with Whist.connect(
        product.url, email=address, ask_code=lambda: mailed_code(product.data / "mail", address)
    ) as whist:
        await whist._session.request("PUT", "/v1/account/name", {"name": name})
        table = await whist.friends.open(players=4)
        company = await whist.enter(table["table"])
        while company.table is None:
            await company.changed(company.version)
        await company.say(f"{canary} says {name}")
        await whist.friends.close(table["table"])
        kept = await rows_with(product, [canary, name])
        assert kept["auth.account"] == {canary, name}, "both were there before"
        await whist._session.request("DELETE", "/v1/account")

    async def left() -> dict[str, set[str]]:
        return await rows_with(product, [canary, name])

    await arrives(left, lambda found: not any(found.values()))
    text = await said(product)
    assert canary not in text
    assert name not in text
    assert not [payload for payload in await events(product) if canary.encode() in payload]


async def test_p82_no_operators_token_is_in_a_log_an_event_a_metric_or_a_table(product: Embedded) -> None:
    token = (product.data / "secrets" / "operator-token").read_text().strip()
    wrong, why = secrets.token_hex(16), f"reason {secrets.token_hex(8)}"
    async with httpx.AsyncClient(base_url=product.admin_url) as desk, Whist.connect(product.url) as whist:
        account = whist.account["account_id"]
        path, act = f"/admin/v1/accounts/{account}/suspend", {"reason": why}
        for given, status in ((wrong, 401), (token, 200), (token, 200)):
            headers = {"Authorization": f"Bearer {given}", "Idempotency-Key": "1" * 32}
            answer = await desk.post(path, json=act, headers=headers)
            assert answer.is_success if status == 200 else answer.status_code == status, answer.text
    text = await said(product)
    payloads = await events(product)
    for value in (token, wrong):
        assert value not in text
        assert not [payload for payload in payloads if value.encode() in payload]
    assert not any((await rows_with(product, [token, wrong])).values())
    assert [name for name, found in (await rows_with(product, [why])).items() if found] == ["auth.audit"]


async def said(product: Embedded) -> str:
    """What a run has told anybody who watches it: its log, PostgreSQL's, and its metrics."""
    async with httpx.AsyncClient() as client:
        metrics = (await client.get(f"{product.metrics_url}/metrics")).text
    logs = product.log.read_text() + (product.data / "postgres" / "log").read_text(errors="replace")
    assert "service_ready" in logs
    assert "whist_events_handled" in metrics
    return logs + metrics


async def rows_with(product: Embedded, values: list[str]) -> dict[str, set[str]]:
    """By table, which of the values stand in a row of it, as text or as bytes; events that are kept are left out."""
    engine = create_async_engine(Home(product.data, SystemEntropy()).postgres().url())
    found: dict[str, set[str]] = {}
    try:
        async with engine.connect() as connection:
            names = await connection.execute(
                sa.text(
                    "select schemaname || '.' || tablename as name from pg_tables "
                    "where schemaname = any(:schemas) and tablename !~ '^(event|outbox)'"
                ),
                {"schemas": list(SCHEMAS)},
            )
            for (name,) in names.all():
                rows = await connection.execute(sa.text(f"select t::text as row from {name} t"))
                text = "".join(row.row.lower() for row in rows)
                found[name] = {each for each in values if each.lower() in text or each.encode().hex() in text}
    finally:
        await engine.dispose()
    return found


async def events(product: Embedded) -> list[bytes]:
    """The payload of every event of every service."""
    engine = create_async_engine(Home(product.data, SystemEntropy()).postgres().url())
    try:
        async with engine.connect() as connection:
            found = await connection.execute(
                sa.text(" union all ".join(f"select payload from {schema}.event" for schema in SCHEMAS))
            )
            return [bytes(row.payload) for row in found]
    finally:
        await engine.dispose()
