"""The operators' listener: its token, and tables for the load harness."""

from collections.abc import AsyncIterator
from ipaddress import ip_address, ip_network
from pathlib import Path

import httpx
import pytest
from structlog.testing import capture_logs

from tests.services.gateway.world import Stage, staged
from whist.tables.v1 import tables_pb2

TOKEN = "o" * 32
PRIVATE = ip_network("fd00::/8")


@pytest.fixture
async def operators(short_folder: Path) -> AsyncIterator[Stage]:
    (short_folder / "token").write_text(f"{TOKEN}\n")
    async with staged(
        short_folder, admin_listen="127.0.0.1:0", operator_token_file=short_folder / "token", rate_guests="1/minute"
    ) as stage:
        yield stage


def client_of(stage: Stage, token: str = TOKEN) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{stage.gateway.admin_port}",
        headers={"Authorization": f"Bearer {token}"} if token else {},
        timeout=30,
    )


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


@pytest.mark.parametrize("token", ["", "x", "o" * 31, "o" * 33, "ö" * 32])
async def test_a_wrong_operator_token_is_401_and_does_nothing(operators: Stage, token: str) -> None:
    headers = [(b"Authorization", f"Bearer {token}".encode())] if token else []
    async with client_of(operators, "") as client:
        answer = await client.post("/admin/v1/bench-tables", json={"rounds": 1, "count": 1}, headers=headers)
    assert answer.status_code == 401 and answer.json()["code"] == "NOT_AN_OPERATOR"
    assert operators.world.worker.created == []


async def test_p82_an_operators_act_leaves_an_audit_line_without_the_token(operators: Stage) -> None:
    with capture_logs() as logs:
        async with client_of(operators) as client:
            await client.post("/admin/v1/bench-tables", json={"rounds": 1, "count": 1})
    [line] = [line for line in logs if line["event"] == "bench_tables"]
    assert (line["count"], line["rounds"]) == (1, 1)
    assert TOKEN not in str(logs)


async def test_an_admin_listener_without_a_real_secret_stops_the_start(short_folder: Path) -> None:
    (short_folder / "token").write_text("short")
    for file in (None, short_folder / "token"):
        with pytest.raises(ExceptionGroup) as wrong:
            async with staged(short_folder, admin_listen="127.0.0.1:0", operator_token_file=file):
                pass
        assert wrong.group_contains(ValueError, match="WHIST_OPERATOR_TOKEN_FILE")
