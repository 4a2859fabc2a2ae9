"""Coffee and refunds over REST (P12, P14): what is asked of the wallet, and what is said."""

from collections.abc import AsyncIterator
from uuid import UUID, uuid4

import httpx
import pytest

from tests.services.gateway.fake_peers import TABLE
from tests.services.gateway.test_rest import is_problem
from tests.services.gateway.world import Stage
from whist.types.v1 import types_pb2


@pytest.fixture
async def account(stage: Stage, http: httpx.AsyncClient) -> AsyncIterator[UUID]:
    holder = uuid4()
    http.headers["Authorization"] = f"Bearer {stage.world.keys.token(holder)}"
    yield holder


async def test_p12_coffee_is_bought_under_the_clients_own_key(
    stage: Stage, http: httpx.AsyncClient, account: UUID
) -> None:
    key = uuid4()
    for _ in range(2):
        answer = await http.post("/v1/wallet/coffee", json={"coffee": "x1.5"}, headers={"Idempotency-Key": str(key)})
        assert answer.json() == {"coins": 0, "bars": 4, "cups": {"x1.5": 0, "x2": 3, "x3": 0, "x5": 0}}
    first, again = stage.world.purse.orders
    assert first == again
    assert (first.account_id, first.request_id, first.coffee) == (account.bytes, key.bytes, types_pb2.COFFEE_X1_5)


@pytest.mark.usefixtures("account")
@pytest.mark.parametrize("key", [None, "", "1", "not-a-uuid"])
async def test_what_spends_needs_a_key_that_nobody_guesses(
    stage: Stage, http: httpx.AsyncClient, key: str | None
) -> None:
    headers = {} if key is None else {"Idempotency-Key": key}
    answer = await http.post("/v1/wallet/coffee", json={"coffee": "x2"}, headers=headers)
    assert is_problem(answer, 422, "INVALID_REQUEST")
    assert stage.world.purse.orders == []


@pytest.mark.usefixtures("account")
@pytest.mark.parametrize(
    "body", [{}, {"coffee": "x4"}, {"coffee": ""}, {"coffee": 2}, {"coffee": "x2", "cups": 100}, []]
)
async def test_a7_x17_what_is_no_order_is_refused(stage: Stage, http: httpx.AsyncClient, body: object) -> None:
    answer = await http.post("/v1/wallet/coffee", json=body, headers={"Idempotency-Key": str(uuid4())})
    assert is_problem(answer, 422, "INVALID_REQUEST")
    assert stage.world.purse.orders == []


async def test_p42_the_wallet_is_told_that_a_guest_asks(stage: Stage, http: httpx.AsyncClient) -> None:
    keys = stage.world.keys
    http.headers["Authorization"] = f"Bearer {keys.sign(keys.claims(uuid4(), None, 600) | {'guest': True})}"
    answer = await http.post("/v1/wallet/coffee", json={"coffee": "x2"}, headers={"Idempotency-Key": str(uuid4())})
    assert is_problem(answer, 403, "GUESTS_HAVE_NO_COFFEE")


async def test_p14_a_refund_is_offered_and_done_for_who_asks(
    stage: Stage, http: httpx.AsyncClient, account: UUID
) -> None:
    offer = (await http.get(f"/v1/games/{TABLE}/refund")).json()
    assert offer["refused"] is None and offer["until"] == "2026-11-30T12:15:00Z" and offer["loses_first_game"]
    assert (offer["returns"]["coins"], offer["returns"]["cups"]["x2"], offer["takes"]["bars"]) == (100, 1, 5)
    done = await http.post(f"/v1/games/{TABLE}/refund")
    assert done.json()["returned"]["coins"] == 100 and done.json()["assets"]["coins"] == 1000
    [asked] = stage.world.purse.refunds
    assert (asked.account_id, asked.table_id.hex()) == (account.bytes, TABLE)
    again = (await http.get(f"/v1/games/{TABLE}/refund")).json()
    assert (again["refused"], again["until"]) == ("ALREADY_REFUNDED", None)
    assert is_problem(await http.post(f"/v1/games/{'0' * 32}/refund"), 404, "GAME_UNKNOWN")


@pytest.mark.usefixtures("account")
@pytest.mark.parametrize("game", ["1", "g" * 32, "A" * 32, "0" * 33])
async def test_what_is_no_game_is_refused(http: httpx.AsyncClient, game: str) -> None:
    for answer in (await http.get(f"/v1/games/{game}/refund"), await http.post(f"/v1/games/{game}/refund")):
        assert is_problem(answer, 422, "INVALID_REQUEST")


async def test_a6_nobody_buys_or_gives_back_unsigned(http: httpx.AsyncClient) -> None:
    key = {"Idempotency-Key": str(uuid4())}
    for answer in (
        await http.post("/v1/wallet/coffee", json={"coffee": "x2"}, headers=key),
        await http.get(f"/v1/games/{TABLE}/refund"),
        await http.post(f"/v1/games/{TABLE}/refund"),
    ):
        assert answer.status_code == 401
