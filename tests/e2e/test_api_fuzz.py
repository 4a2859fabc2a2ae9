"""X17, A7, B32: the whole REST API by its own document, as a guest and as an account. `make fuzz-api` does more."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager
from uuid import uuid4

import httpx
import pytest

from libs.chassis.entropy import SystemEntropy
from libs.client import Whist
from services.allinone.home import Home
from tests.e2e.api_fuzz import Caller, Findings, State, fuzz, operations, unreached
from tests.e2e.conftest import UNLIMITED, Embedded, embedded, hurried, own_folder
from tests.e2e.story import mailed_code, play

EXAMPLES = int(os.environ.get("WHIST_FUZZ_API", "2"))  # of a kind, an operation, a caller and a set of ids
# Their own answer to a wrong code or token is 401 too.
NEEDS_A_SECRET = {"POST /v1/login/{login_id}", "POST /v1/tokens", "DELETE /v1/session"}
# Allowed to make thousands of tables, which is what it is for.
LOADS = {"/admin/v1/bench-tables"}


@pytest.fixture(scope="module")
async def fuzzed() -> AsyncIterator[Embedded]:
    """A run of its own, on which nobody else plays and nothing happens by itself: turns are short, so that a table that
    is dealt is soon over, and who waits at one without a socket keeps the seat.
    """
    with own_folder() as place:
        longest = {"seat_lease_ms = 60000": "seat_lease_ms = 600000", "deserted_ms = 300000": "deserted_ms = 600000"}
        patient = hurried(place, longest)
        async with embedded(
            place / "run", WHIST_PLATFORM_CONFIG=str(patient), WHIST_TURN_LIMIT_SCALE="0.01", **UNLIMITED
        ) as run:
            yield run


def connecting(run: Embedded, name: str) -> AbstractAsyncContextManager[Whist]:
    """Be a new account, or a new guest: an address gets no second mail within a minute (P40)."""
    if name == "guest":
        return Whist.connect(run.url)
    address = f"{uuid4().hex}@example.org"
    return Whist.connect(run.url, email=address, ask_code=lambda: mailed_code(run.data / "mail", address))


async def token(run: Embedded, name: str) -> str:
    async with connecting(run, name) as whist:
        return await whist._session.access_token()


async def played(run: Embedded, name: str) -> tuple[str, str, str]:
    """Play a game to its end: who did, the game, and an access token."""
    async with connecting(run, name) as whist:
        table = await whist.quick_game()
        await play(table)
        return whist.account["account_id"], table.id, await whist._session.access_token()


@pytest.fixture(scope="module")
def state(fuzzed: Embedded) -> Iterator[State]:
    state = State(Home(fuzzed.data, SystemEntropy()).postgres().url())
    yield state
    state.close()


@pytest.mark.timeout(400)  # some twelve hundred requests, each between two looks at every table
def test_x17_b32_no_request_breaks_the_api_its_document_or_anybodys_state(fuzzed: Embedded, state: State) -> None:
    document = httpx.get(f"{fuzzed.url}/openapi.json").raise_for_status().json()
    findings = Findings()
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        who = {name: runner.run(played(fuzzed, name)) for name in ("account", "guest")}
        accounts = [account for account, _, _ in who.values()]

        def caller(name: str) -> Caller:
            _, game, access = who[name]

            def ids() -> dict[str, list[str]]:
                table = open_table(fuzzed.url, host.headers())
                return {"table_id": [table, game], "game_id": [game, table], "account_id": accounts}

            return Caller(name=name, token=access, sign_in=lambda: runner.run(token(fuzzed, name)), ids=ids)

        host, guest = caller("account"), caller("guest")
        for operation in operations(document):
            for each in (host, guest):
                fuzz(fuzzed.url, operation, each, state, findings, EXAMPLES)
    assert findings.faults == {}
    assert findings.compared > 100
    assert unreached(findings) <= NEEDS_A_SECRET


def open_table(url: str, headers: dict[str, str]) -> str:
    """The friends' table at which the account sits, opened when there is none."""
    opened = httpx.post(f"{url}/v1/friends-tables", headers=headers, json={})
    if opened.status_code == 409:
        return str(httpx.get(f"{url}/v1/seat", headers=headers).raise_for_status().json()["table"])
    return str(opened.raise_for_status().json()["table"])


@pytest.mark.timeout(400)
def test_x17_p82_nor_does_any_of_an_operator(fuzzed: Embedded, state: State) -> None:
    token = (fuzzed.data / "secrets" / "operator-token").read_text().strip()
    headers = {"Authorization": f"Bearer {token}"}
    document = httpx.get(f"{fuzzed.admin_url}/admin/v1/openapi.json", headers=headers).raise_for_status().json()
    findings = Findings()
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        account, game, _ = runner.run(played(fuzzed, "account"))
        ids = {"account_id": [account], "table_id": [game]}
        operator = Caller(name="operator", token=token, sign_in=lambda: token, ids=lambda: ids)
        for operation in operations(document):
            if operation.path not in LOADS:
                fuzz(fuzzed.admin_url, operation, operator, state, findings, EXAMPLES)
    assert findings.faults == {}
    assert unreached(findings) == set()
