"""N7: nothing secret is in a log or an event, whatever the tests before this one did, at the most talkative level."""

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
from tests.e2e.rogue import bearer, rogue
from tests.e2e.story import mailed_code, play

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

    text = product.log.read_text() + (product.data / "postgres" / "log").read_text(errors="replace")
    assert "service_ready" in text
    leaks = [name for name, value in {
        "canary": canary, "code": code, "access token": access, "refresh token": refresh, "secret of a game": secret,
    }.items() if value in text]  # fmt: skip
    assert leaks == []
    assert TOKEN.search(text) is None
    assert CARDS.search(text) is None
    for payload in await events(product):
        for value in (canary, code, refresh):
            assert value.encode() not in payload


async def events(product: Embedded) -> list[bytes]:
    """The payload of every event of every service."""
    engine = create_async_engine(Home(product.data, SystemEntropy()).postgres().url())
    try:
        async with engine.connect() as connection:
            found = await connection.execute(
                sa.text(
                    " union all ".join(
                        f"select payload from {schema}.event"
                        for schema in ("auth", "matchmaking", "tables", "wallet", "leagues", "coach")
                    )
                )
            )
            return [bytes(row.payload) for row in found]
    finally:
        await engine.dispose()
