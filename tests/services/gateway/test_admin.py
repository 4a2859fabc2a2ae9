"""P82, N6: the operators' listener: who may do what, and what each act becomes."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from hashlib import sha256
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from structlog.testing import capture_logs

from libs.chassis.settings import WrongSettings
from services.gateway.admin import operators as desk
from services.gateway.admin.operators import POWERS, Power, Role
from tests.services.gateway.operators_world import BEGUN, NOBODY
from tests.services.gateway.world import Stage, staged
from whist.tables.v1 import tables_pb2
from whist.types.v1 import audit_pb2
from whist.wallet.v1 import wallet_pb2

TOKENS = {role: role.value[0] * 32 for role in Role}
PRIVATE = ip_network("fd00::/8")
ACCOUNT, TABLE = "ab" * 16, "cd" * 16
WHY = {"reason": "asked by mail"}

# Every route but the document: its power, its method and path, and a body that does something.
ROUTES: dict[tuple[str, str], tuple[Power, dict[str, Any] | None]] = {
    ("post", "/admin/v1/accounts/search"): (Power.LOOK, WHY | {"words": "ana@example.org"}),
    ("post", "/admin/v1/accounts/{account_id}/suspend"): (Power.RULE, WHY),
    ("post", "/admin/v1/accounts/{account_id}/reinstate"): (Power.RULE, WHY),
    ("post", "/admin/v1/accounts/{account_id}/silence"): (Power.SILENCE, WHY | {"minutes": 60}),
    ("get", "/admin/v1/accounts/{account_id}/wallet"): (Power.LOOK, None),
    ("get", "/admin/v1/accounts/{account_id}/history"): (Power.LOOK, None),
    ("post", "/admin/v1/accounts/{account_id}/correct"): (Power.CORRECT, WHY | {"coins": -5, "cups": {"x2": 1}}),
    ("post", "/admin/v1/ledger-check"): (Power.PROVE, None),
    ("get", "/admin/v1/tables"): (Power.LOOK, None),
    ("get", "/admin/v1/tables/{table_id}"): (Power.LOOK, None),
    ("post", "/admin/v1/tables/{table_id}/void"): (Power.RULE, WHY),
    ("post", "/admin/v1/tables/{table_id}/close"): (Power.RULE, WHY),
    ("get", "/admin/v1/reports"): (Power.LOOK, None),
    ("get", "/admin/v1/audit"): (Power.LOOK, None),
    ("post", "/admin/v1/bench-tables"): (Power.RULE, {"rounds": 1, "count": 1}),
}
ACTS = {route: body for route, (_, body) in ROUTES.items() if body is not None and "reason" in body}


def operators_file(folder: Path) -> Path:
    path = folder / "operators"
    lines = [f"{role.value}-1 {role.value} {sha256(token.encode()).hexdigest()}" for role, token in TOKENS.items()]
    path.write_text("# who may act\n\n" + "\n".join(lines) + "\n")
    return path


@pytest.fixture
async def operators(short_folder: Path) -> AsyncIterator[Stage]:
    async with staged(
        short_folder, admin_listen="127.0.0.1:0", operators_file=operators_file(short_folder), rate_guests="1/minute",
        rate_operators="8/minute",
    ) as stage:  # fmt: skip
        yield stage


def client_of(stage: Stage, role: Role | str = Role.ADMIN) -> httpx.AsyncClient:
    token = TOKENS[role] if isinstance(role, Role) else role
    return httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{stage.gateway.admin_port}",
        headers={"Authorization": f"Bearer {token}"} if token else {},
        timeout=30,
    )


def acts_of(stage: Stage) -> list[tuple[str, Any]]:
    world = stage.world
    return [*world.auth.acts, *world.worker.acts, *world.purse.acts]


async def ask(
    client: httpx.AsyncClient, route: tuple[str, str], key: str | None = "", **changes: Any
) -> httpx.Response:
    """Call a route as its row says; `key` empty: a new one."""
    method, path = route
    body = ROUTES[route][1]
    headers = {} if key is None else {"Idempotency-Key": key or str(uuid4())}
    url = path.format(account_id=ACCOUNT, table_id=TABLE)
    return await client.request(method, url, json=None if body is None else body | changes, headers=headers)


async def test_p82_the_document_has_every_route_and_is_for_operators_alone(operators: Stage) -> None:
    async with client_of(operators, Role.SUPPORT) as client:
        document = (await client.get("/admin/v1/openapi.json")).json()
    found = {(method, path) for path, methods in document["paths"].items() for method in methods}
    assert found == set(ROUTES)
    for method, path in found:
        about = document["paths"][path][method]
        assert about["security"] and "Problem" in json.dumps(about["responses"]["default"]), path
        needs_key = [each for each in about.get("parameters", ()) if each["name"] == "Idempotency-Key"]
        assert [each["required"] for each in needs_key] == ([True] if (method, path) in ACTS else []), path
    async with client_of(operators, "") as client:
        for path in ("/admin/v1/openapi.json", "/openapi.json", "/docs", "/redoc"):
            assert (await client.get(path)).status_code in (401, 404), path


@pytest.mark.parametrize("role", Role)
async def test_p82_each_role_may_do_what_it_is_for_and_nothing_else(operators: Stage, role: Role) -> None:
    async with client_of(operators, role) as client:
        for route, (power, _) in ROUTES.items():
            before = len(acts_of(operators)) + len(operators.world.worker.created)
            answer = await ask(client, route)
            if power in POWERS[role]:
                assert answer.status_code == 200, (route, answer.text)
            else:
                assert answer.status_code == 403, (route, answer.text)
                assert answer.json()["code"] == "ROLE_NOT_ALLOWED"
                assert answer.json()["facts"] == {"role": role.value, "power": power.value}
                assert len(acts_of(operators)) + len(operators.world.worker.created) == before


def test_p82_support_looks_and_silences_treasurers_correct_and_admins_do_all() -> None:
    assert {role: {str(power) for power in powers} for role, powers in POWERS.items()} == {
        Role.SUPPORT: {"look", "silence"},
        Role.TREASURER: {"look", "correct", "prove"},
        Role.ADMIN: {"look", "silence", "correct", "prove", "rule"},
    }


async def test_p82_a_wrong_token_is_401_everywhere_and_does_nothing(short_folder: Path) -> None:
    async with staged(
        short_folder, admin_listen="127.0.0.1:0", operators_file=operators_file(short_folder), rate_operators=""
    ) as stage:
        player = stage.world.keys.token()
        wrong = ["", "x", TOKENS[Role.ADMIN][:-1], TOKENS[Role.ADMIN] + "a", "ö" * 32, player]
        wrong.append(sha256(TOKENS[Role.ADMIN].encode()).hexdigest())  # the file's own word is no token
        async with client_of(stage, "") as client:
            for token in wrong:
                client.headers = httpx.Headers([(b"Authorization", f"Bearer {token}".encode())] if token else [])
                for route in ROUTES:
                    answer = await ask(client, route)
                    assert (answer.status_code, answer.json()["code"]) == (401, "NOT_AN_OPERATOR"), route
                    assert answer.headers["WWW-Authenticate"] == "Bearer"
        assert acts_of(stage) == [] and stage.world.worker.created == []


async def test_p82_too_many_wrong_tokens_of_one_network_are_waited_out(operators: Stage) -> None:
    async with client_of(operators, "guess") as client:
        codes = [(await client.get("/admin/v1/tables")).status_code for _ in range(10)]
        assert codes == [401] * 8 + [429] * 2
        refused = await client.get("/admin/v1/tables")
        assert refused.json()["code"] == "RATE_LIMITED" and int(refused.headers["Retry-After"]) > 0


async def test_p82_a_right_token_is_counted_against_nobody(operators: Stage) -> None:
    async with client_of(operators) as client:
        assert {(await client.get("/admin/v1/tables")).status_code for _ in range(20)} == {200}


@pytest.mark.parametrize("route", ACTS, ids=str)
async def test_p82_an_act_needs_a_reason_and_a_key_and_is_done_once(operators: Stage, route: tuple[str, str]) -> None:
    async with client_of(operators) as client:
        for answer in (
            await ask(client, route, key=None), await ask(client, route, key="1"), await ask(client, route, reason=""),
            await ask(client, route, reason="x" * 501), await ask(client, route, reason=None),
            await ask(client, route, operator="somebody else"), await ask(client, route, request_id="00" * 16),
        ):  # fmt: skip
            assert (answer.status_code, answer.json()["code"]) == (422, "INVALID_REQUEST"), answer.text
        assert acts_of(operators) == []
        key = str(uuid4())
        answers = [await ask(client, route, key=key) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [200] * 3
        assert len({answer.text for answer in answers}) == 1
        assert (await ask(client, route, key=key, reason="another")).json()["code"] == "ACT_DIFFERS"
    [(_, request)] = acts_of(operators)
    assert (request.act.operator, request.act.reason) == ("admin-1", WHY["reason"])
    assert request.act.request_id.hex() == key.replace("-", "")


async def test_p82_what_an_act_asks_of_the_services(operators: Stage) -> None:
    async with client_of(operators) as client:
        for route in ACTS:
            await ask(client, route)
    asked = dict(acts_of(operators))
    assert asked["find"].words == "ana@example.org"
    assert (asked["silence"].minutes, asked["silence"].account_id.hex()) == (60, ACCOUNT)
    assert (asked["correct"].assets.coins, asked["correct"].assets.cups_x2) == (-5, 1)
    assert {asked[name].account_id.hex() for name in ("suspend", "reinstate", "correct")} == {ACCOUNT}
    assert {asked[name].table_id.hex() for name in ("void", "close")} == {TABLE}


async def test_p82_a_services_refusal_reaches_the_operator(operators: Stage) -> None:
    async with client_of(operators) as client:
        unknown = await client.post(
            f"/admin/v1/accounts/{NOBODY.hex()}/suspend", json=WHY, headers={"Idempotency-Key": str(uuid4())}
        )
        assert (unknown.status_code, unknown.json()["code"]) == (404, "ACCOUNT_UNKNOWN")
        for act, body in (("correct", {"coins": 5}), ("silence", {"minutes": 5})):
            unknown = await client.post(
                f"/admin/v1/accounts/{NOBODY.hex()}/{act}", json=WHY | body, headers={"Idempotency-Key": str(uuid4())}
            )
            assert (unknown.status_code, unknown.json()["code"]) == (404, "ACCOUNT_UNKNOWN")
        assert acts_of(operators) == []
        poor = await ask(client, ("post", "/admin/v1/accounts/{account_id}/correct"), coins=-1001)
        assert (poor.status_code, poor.json()["code"]) == (409, "INSUFFICIENT_FUNDS")
        table = await client.get(f"/admin/v1/tables/{NOBODY.hex()}")
        assert (table.status_code, table.json()["code"]) == (404, "TABLE_UNKNOWN")


@pytest.mark.parametrize(
    "changes",
    [
        {"coins": 10**12 + 1}, {"coins": -(2**63)}, {"coins": 1.5}, {"coins": "1"}, {"coins": True}, {"coins": None},
        {"cups": {"x9": 1}}, {"cups": {"x2": 2**53}}, {"balance": 5},
    ],
    ids=str,
)  # fmt: skip
async def test_x17_an_amount_that_is_none_is_refused(operators: Stage, changes: dict[str, Any]) -> None:
    async with client_of(operators) as client:
        answer = await ask(client, ("post", "/admin/v1/accounts/{account_id}/correct"), **changes)
    assert (answer.status_code, answer.json()["code"]) == (422, "INVALID_REQUEST")
    assert acts_of(operators) == []


async def test_p82_a_void_goes_to_the_tables_owner_and_once_it_has_ended_to_anybody(operators: Stage) -> None:
    route = ("post", "/admin/v1/tables/{table_id}/void")
    world = operators.world
    owner = await world.another_worker()
    world.worker.owner = owner.address
    world.worker.unowned = 2  # between two owners: asked again
    async with client_of(operators) as client:
        answer = await ask(client, route)
        assert answer.json() == {"had_finished": False}
        assert len(owner.acts) == 1 and world.worker.acts == []
        world.worker.finished = world.worker.has_ended = True
        answer = await ask(client, route)
        assert answer.json() == {"had_finished": True}
    assert len(owner.acts) == len(world.worker.acts) == 1


async def test_p82_accounts_are_shown_as_they_stand(operators: Stage) -> None:
    async with client_of(operators, Role.SUPPORT) as client:
        [found] = (await ask(client, ("post", "/admin/v1/accounts/search"))).json()["accounts"]
    assert (found["name"], found["email"], found["suspended"], found["seen_at"]) == (
        "Ana", "ana@example.org", True, None,
    )  # fmt: skip


async def test_p17_the_ledger_is_proved_and_what_differs_is_told(operators: Stage) -> None:
    async with client_of(operators, Role.TREASURER) as client:
        assert (await client.post("/admin/v1/ledger-check")).json() == {
            "ok": True, "differences": [], "unproved": [],
        }  # fmt: skip
        operators.world.purse.differences = [
            wallet_pb2.LedgerDifference(rule="E2", subject="a1 coin", expected="5", found="6")
        ]
        operators.world.purse.unproved = [wallet_pb2.LedgerUnproved(rule="E7", count=3, why="older")]
        told = (await client.post("/admin/v1/ledger-check")).json()
    assert told == {
        "ok": False, "differences": [{"rule": "E2", "subject": "a1 coin", "expected": "5", "found": "6"}],
        "unproved": [{"rule": "E7", "count": 3, "why": "older"}],
    }  # fmt: skip


async def test_p22_complaints_are_paged(operators: Stage) -> None:
    async with client_of(operators, Role.SUPPORT) as client:
        seen: list[int] = []
        before: dict[str, int] = {}
        while True:
            page = (await client.get("/admin/v1/reports", params={"limit": 3, **before})).json()
            seen += [report["number"] for report in page["reports"]]
            if page["next_before"] is None:
                break
            before = {"before": page["next_before"]}
    assert seen == [7, 6, 5, 4, 3, 2, 1]


async def test_p82_the_logs_of_all_services_are_one_newest_first(operators: Stage) -> None:
    world = operators.world
    for number, one in enumerate((world.auth, world.worker, world.purse)):
        for step in range(7 + number):
            at = BEGUN + timedelta(seconds=step * 3 + number)
            one.log("suspend", audit_pb2.Act(request_id=uuid4().bytes, operator="ana", reason="r"), b"s" * 16, at)
    async with client_of(operators, Role.TREASURER) as client:
        for limit in (1, 2, 5, 24, 500):
            seen: list[dict[str, Any]] = []
            before: str | None = ""
            while before is not None:
                page = (await client.get("/admin/v1/audit", params={"limit": limit, "before": before})).json()
                assert len(page["lines"]) <= limit
                seen += page["lines"]
                before = page["next_before"]
            assert len({(line["service"], line["number"]) for line in seen}) == len(seen) == 24
            assert [line["at"] for line in seen] == sorted((line["at"] for line in seen), reverse=True)
        assert seen[0]["details"] == {"minutes": 60}
        for cursor in ("x", "1.2", "1.2.3.4", "-1.2.3", "9" * 19 + ".1.1", "1.2.٣"):
            answer = await client.get("/admin/v1/audit", params={"before": cursor})
            assert (answer.status_code, answer.json()["code"]) == (400, "BAD_CURSOR")


async def test_p82_of_acts_at_once_none_is_lost_between_two_pages(operators: Stage) -> None:
    """Numbers are given before the times beside them, so of two acts at once the later may be the earlier."""
    tables = operators.world.worker
    for milliseconds in (0, 3, 2, 1, 4):
        act = audit_pb2.Act(request_id=uuid4().bytes, operator="ana", reason="r")
        tables.log("void", act, b"t" * 16, BEGUN + timedelta(milliseconds=milliseconds))
    async with client_of(operators, Role.TREASURER) as client:
        for limit in (1, 2, 3):
            seen: list[int] = []
            before: str | None = ""
            while before is not None:
                page = (await client.get("/admin/v1/audit", params={"limit": limit, "before": before})).json()
                seen += [line["number"] for line in page["lines"]]
                before = page["next_before"]
            assert seen == [5, 4, 3, 2, 1]


async def test_bench_tables_have_four_guests_each_and_no_network_limit(operators: Stage) -> None:
    async with client_of(operators) as client:
        answer = await client.post("/admin/v1/bench-tables", json={"rounds": 100, "count": 200})
    tables = answer.json()["tables"]
    assert len({table["table"] for table in tables}) == 200
    assert len({token for table in tables for token in table["tokens"]}) == 800
    created = operators.world.worker.created
    assert {request.kind for request in created} == {tables_pb2.TABLE_KIND_BENCH}
    assert {(request.seats, len(request.players), request.game) for request in created} == {(4, 4, "romanian")}
    assert {request.options_json for request in created} == {'{"mode": "bench", "rounds": 100}'}
    networks = operators.world.auth.networks
    assert len(set(networks)) == 200 and all(ip_address(network) in PRIVATE for network in networks)
    assert all(table["table"][12] == "8" for table in tables)  # UUIDv8


async def test_p82_no_token_and_no_reason_is_in_a_log(operators: Stage) -> None:
    with capture_logs() as logs:
        async with client_of(operators) as client:
            await asyncio.gather(*(ask(client, route) for route in ROUTES))
        async with client_of(operators, "a-wrong-token") as client:
            await client.get("/admin/v1/tables")
        async with client_of(operators, Role.SUPPORT) as client:
            await ask(client, ("post", "/admin/v1/tables/{table_id}/void"))
    [line] = [line for line in logs if line["event"] == "bench_tables"]
    assert (line["operator"], line["count"], line["rounds"]) == ("admin-1", 1, 1)
    [refused] = [line for line in logs if line["event"] == "operator_refused"]
    assert (refused["operator"], refused["power"]) == ("support-1", "rule")
    assert any(line["event"] == "operator_unknown" for line in logs)
    told = str(logs)
    for secret in (*TOKENS.values(), "a-wrong-token", WHY["reason"], "ana@example.org"):
        assert secret not in told


GOOD = sha256(b"token").hexdigest()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "1 to 200 operators"),
        ("# nobody\n", "1 to 200 operators"),
        ("ana admin", "line 1: three words"),
        (f"ana admin {GOOD} more", "three words"),
        (f"\nAna admin {GOOD}", "line 2: a name"),
        (f"{'a' * 65} admin {GOOD}", "a name"),
        (f"ana root {GOOD}", "a role is support, treasurer, admin"),
        ("ana admin token-in-the-clear-token-in-the-clear", "64 digits"),
        (f"ana admin {GOOD.upper()}", "64 digits"),
        (f"ana admin {sha256(b'').hexdigest()}", "64 digits"),
        (f"ana admin {GOOD}\nana support {'0' * 64}", "one name"),
        (f"ana admin {GOOD}\nradu support {GOOD}", "one digest"),
        ("".join(f"a{n} admin {n:064x}\n" for n in range(201)), "1 to 200"),
        ("\udcff", "operators"),
    ],
)
def test_p83_a_wrong_operators_file_is_named_and_not_repeated(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "operators"
    file.write_text(text, errors="surrogateescape")
    with pytest.raises(WrongSettings, match="WHIST_OPERATORS_FILE") as wrong:
        desk.read(file)
    assert told in str(wrong.value)
    assert GOOD not in str(wrong.value) and "in-the-clear" not in str(wrong.value)


async def test_p83_an_admin_listener_without_operators_stops_the_start(short_folder: Path) -> None:
    for file in (None, short_folder / "none"):
        with pytest.raises(ExceptionGroup) as wrong:
            async with staged(short_folder, admin_listen="127.0.0.1:0", operators_file=file):
                pass
        assert wrong.group_contains(ValueError, match="WHIST_OPERATORS_FILE")


async def test_n6_the_public_listener_serves_nothing_of_the_operators(operators: Stage) -> None:
    async with httpx.AsyncClient(base_url=operators.http_url, timeout=15) as client:
        document = (await client.get("/openapi.json")).json()
        assert not [path for path in document["paths"] if "admin" in path]
        client.headers["Authorization"] = f"Bearer {TOKENS[Role.ADMIN]}"
        for route in ROUTES:
            assert (await ask(client, route)).status_code == 404, route
        assert (await client.get("/admin/v1/openapi.json")).status_code == 404
    assert acts_of(operators) == []
