"""A6, N6: each route of the public API by whoever may call it: nobody, a bad token, an operator, a guest, another
account, the owner. The routes are the served document's: one without a row fails, and so does a row without a route.
"""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx
import pytest

from libs.client import Whist
from tests.e2e.access_rows import OPEN, ROWS, Row, Statuses
from tests.e2e.conftest import Embedded
from tests.e2e.story import mailed_code, play

Document = Mapping[str, Any]
LETTERS = str.maketrans("0123456789", "ghijklmnop")


@dataclass(slots=True)
class Cast:
    """Access tokens by person, and ids by what they are of."""

    http: httpx.AsyncClient
    operator: str
    tokens: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)

    async def call(self, row: Any, token: str = "") -> httpx.Response:
        """Call a row's route; `token` empty: none."""
        method, url = row.route.split()
        path = getattr(row, "path", None) or {}
        url = re.sub(r"{(\w+)}", lambda found: self.ids.get(path.get(found[1], ""), "0" * 32), url)
        headers = {"Idempotency-Key": uuid4().hex} | ({"Authorization": f"Bearer {token}"} if token else {})
        body = None if row.body is None else {name: self._filled(value) for name, value in row.body.items()}
        return await self.http.request(method, url + getattr(row, "query", ""), json=body, headers=headers)

    def _filled(self, value: Any) -> Any:
        """`{ana}` is an account's id, `{fresh}` a word that nobody has had."""
        if not isinstance(value, str):
            return value
        fresh = uuid4().hex[:12].translate(LETTERS)
        return re.sub(r"{(\w+)}", lambda found: fresh if found[1] == "fresh" else self.ids[found[1]], value)


@pytest.fixture(scope="module")
async def cast(product: Embedded) -> AsyncIterator[Cast]:
    mails = product.data / "mail"
    async with AsyncExitStack() as stack:
        people: dict[str, Whist] = {}
        for name in ("ana", "radu", "vlad", "zoe"):
            address = f"{name}-{uuid4().hex[:8]}@example.org"

            async def code(address: str = address) -> str:
                return await mailed_code(mails, address)

            connecting = Whist.connect(product.url, email=address, ask_code=code)
            people[name] = await stack.enter_async_context(connecting)
        people["guest"] = await stack.enter_async_context(Whist.connect(product.url))
        made = Cast(
            http=await stack.enter_async_context(httpx.AsyncClient(base_url=product.url, timeout=30)),
            operator=(product.data / "secrets" / "operator-token").read_text().strip(),
        )
        table = await people["ana"].quick_game(room=1)
        await play(table)
        made.ids["game"] = table.id
        for place, host in (("live", "ana"), ("waiting", "radu"), ("doomed", "vlad")):
            opened = await people[host].friends.open(game="romanian", players=4, spectators=False)
            made.ids[place] = opened["table"]
        await people["ana"].friends.deal(made.ids["live"])
        for name, person in people.items():
            made.tokens[name] = await person._session.access_token()
            made.ids[name] = person.account["account_id"]
        vlad = {"Authorization": f"Bearer {made.tokens['vlad']}"}
        [session] = (await made.http.get("/v1/sessions", headers=vlad)).json()["sessions"]
        made.ids["session"] = session["session_id"]
        yield made


@pytest.fixture(scope="module")
async def document(cast: Cast) -> Document:
    plain: Document = (await cast.http.get("/openapi.json")).json()
    return plain


def routes_of(document: Document) -> dict[str, Any]:
    return {
        f"{method.upper()} {path}": about
        for path, methods in document["paths"].items()
        for method, about in methods.items()
    }


async def test_a6_every_route_has_its_row_and_every_row_its_route(document: Document) -> None:
    rows = [row.route for row in (*OPEN, *ROWS)]
    assert len(set(rows)) == len(rows)
    assert set(routes_of(document)) == set(rows)


async def test_a6_the_document_says_which_routes_ask_for_a_token(document: Document) -> None:
    guarded = {route for route, about in routes_of(document).items() if about.get("security")}
    assert {row.route for row in ROWS} <= guarded


async def test_a6_without_a_token_or_with_one_that_is_none_of_ours_nothing_is_answered(cast: Cast) -> None:
    ana = cast.tokens["ana"]
    head, body, signature = ana.split(".")
    wrong = ["", "x", cast.operator, f"{head}.{body}.", f"{head}.{body}.{signature[::-1]}", ana[:-2]]
    found = {}
    for row in ROWS:
        for token in wrong:
            answer = await cast.call(row, token)
            if answer.status_code != 401 or answer.json()["code"] not in ("TOKEN_INVALID", "NOT_SIGNED_IN"):
                found[row.route, token[:4]] = (answer.status_code, answer.text[:100])
    assert found == {}


async def test_a6_open_routes_answer_everybody_alike(cast: Cast) -> None:
    found = {}
    for row in OPEN:
        for who in ("", "ana", "guest"):
            answer = await cast.call(row, cast.tokens.get(who, ""))
            if answer.status_code != row.status or (row.status == 401 and answer.json()["code"] == "TOKEN_INVALID"):
                found[row.route, who] = (answer.status_code, answer.text[:100])
    assert found == {}


async def test_a6_what_is_ones_own_is_the_callers_and_nobody_elses(cast: Cast) -> None:
    for who in ("ana", "zoe", "guest"):
        headers = {"Authorization": f"Bearer {cast.tokens[who]}"}
        me = (await cast.http.get("/v1/me", headers=headers)).json()
        assert me["account"]["account_id"] == cast.ids[who]
        for id_of_another in ("account_id", "account", "as"):
            asked = await cast.http.get("/v1/me", headers=headers, params={id_of_another: cast.ids["radu"]})
            assert asked.json()["account"]["account_id"] == cast.ids[who]
    assert (await cast.http.get("/v1/wallet", headers=headers)).json()["cups"]["x2"] == 0


async def test_a6_each_route_answers_guests_others_and_owners_as_it_must(cast: Cast, document: Document) -> None:
    found = {}
    for row in ROWS:
        for who, due in _callers(row):
            answer = await cast.call(row, cast.tokens[who])
            if answer.status_code not in (due if isinstance(due, tuple) else (due,)):
                found[row.route, who] = (due, answer.status_code, answer.text[:160])
    assert found == {}


def _callers(row: Row) -> tuple[tuple[str, Statuses], ...]:
    """Who must be refused first: what the owner does may end it."""
    return ("guest", row.guest), ("zoe", row.other), (row.whose, row.owner)


async def test_n6_the_public_listener_knows_no_operators_route_whoever_asks(product: Embedded, cast: Cast) -> None:
    operator = {"Authorization": f"Bearer {cast.operator}"}
    async with httpx.AsyncClient(base_url=product.admin_url, timeout=30) as desk:
        inner = routes_of((await desk.get("/admin/v1/openapi.json", headers=operator)).json())
        assert len(inner) > 10
        for route in inner:
            method, url = route.split()
            url = re.sub(r"{\w+}", cast.ids["ana"], url)
            for token in (cast.operator, cast.tokens["ana"], ""):
                headers = {"Authorization": f"Bearer {token}"} if token else {}
                assert (await cast.http.request(method, url, json={}, headers=headers)).status_code == 404, route
            # And a player is nobody on the operators' side.
            player = {"Authorization": f"Bearer {cast.tokens['ana']}"}
            if url != "/admin/v1/openapi.json":
                assert (await desk.request(method, url, json={}, headers=player)).status_code in (401, 429), route
        assert (await cast.http.get("/admin/v1/openapi.json", headers=operator)).status_code == 404
        assert (await desk.get("/v1/config")).status_code == 404
