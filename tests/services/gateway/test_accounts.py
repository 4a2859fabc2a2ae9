"""REST of accounts: a guest who signs in, the own name, devices, export and the account's end (P41, P42, P45)."""

from pathlib import Path
from uuid import UUID, uuid4

import httpx
import pytest

from tests.services.gateway.test_rest import is_problem
from tests.services.gateway.world import Stage, staged

LOGIN = f"/v1/login/{'0' * 32}"


def guest_token(stage: Stage, account: object = None, **changes: object) -> dict[str, str]:
    keys = stage.world.keys
    claims = keys.claims(account or uuid4(), guest=True, **changes)  # type: ignore[arg-type]
    return {"Authorization": f"Bearer {keys.sign(claims)}"}


async def test_p42_a_guests_token_goes_along_with_its_sign_in(stage: Stage, http: httpx.AsyncClient) -> None:
    guest = uuid4()
    answer = await http.post(LOGIN, json={"code": "12345678"}, headers=guest_token(stage, guest))
    assert answer.status_code == 200
    (asked,) = stage.world.auth.finished
    assert (asked.guest_id, asked.drop_guest) == (guest.bytes, False)


async def test_p42_an_accounts_token_is_no_guest(stage: Stage, http: httpx.AsyncClient) -> None:
    headers = {"Authorization": f"Bearer {stage.world.keys.token(uuid4())}"}
    assert (await http.post(LOGIN, json={"code": "12345678"}, headers=headers)).status_code == 200
    assert (await http.post(LOGIN, json={"code": "12345678"})).status_code == 200
    assert [asked.guest_id for asked in stage.world.auth.finished] == [b"", b""]


async def test_p42_to_drop_the_guest_is_warned_of_by_409_and_agreed_to(stage: Stage, http: httpx.AsyncClient) -> None:
    stage.world.auth.drops_guests = True
    headers = guest_token(stage)
    refused = await http.post(LOGIN, json={"code": "12345678"}, headers=headers)
    assert is_problem(refused, 409, "GUEST_WOULD_BE_DROPPED")
    agreed = await http.post(LOGIN, json={"code": "12345678", "drop_guest": True}, headers=headers)
    assert agreed.status_code == 200
    assert stage.world.auth.finished[-1].drop_guest


@pytest.mark.parametrize(("seconds", "code"), [(-60, "TOKEN_EXPIRED"), (600, "TOKEN_INVALID")])
async def test_p42_a_guest_whose_token_is_no_good_any_more_loses_nothing_unless_that_was_agreed_to(
    stage: Stage, http: httpx.AsyncClient, seconds: int, code: str
) -> None:
    session = uuid4()
    headers = guest_token(stage, session=session, seconds=seconds)

    if code == "TOKEN_INVALID":
        stage.gateway.revoked(session.bytes)

    assert is_problem(await http.post(LOGIN, json={"code": "12345678"}, headers=headers), 401, code)
    assert not stage.world.auth.finished
    again = await http.post(LOGIN, json={"code": "12345678", "drop_guest": True}, headers=headers)
    assert again.status_code == 200
    assert stage.world.auth.finished[-1].guest_id == b""


@pytest.fixture
def account(stage: Stage, http: httpx.AsyncClient) -> UUID:
    """A signed-in client, by the session whose id is sixteen s."""
    holder = uuid4()
    http.headers["Authorization"] = f"Bearer {stage.world.keys.token(holder, UUID(bytes=b's' * 16))}"
    return holder


async def test_p41_a_name_is_claimed_and_a_refusal_says_which_rule(
    stage: Stage, http: httpx.AsyncClient, account: UUID
) -> None:
    answer = await http.put("/v1/account/name", json={"name": "Ștefania"})
    assert answer.status_code == 200
    assert (answer.json()["account"]["name"], answer.json()["account"]["named"]) == ("Ștefania", True)
    assert answer.json()["next_change_at"] > answer.json()["account"]["created_at"]
    assert stage.world.auth.claimed[0].account_id == account.bytes
    refused = await http.put("/v1/account/name", json={"name": "Admin"})
    assert is_problem(refused, 400, "NAME_INVALID") and refused.json()["facts"] == {"rule": "reserved"}
    for body in ({}, {"name": 7}, {"name": "x" * 65}, {"name": "Ana", "named": True}):
        assert is_problem(await http.put("/v1/account/name", json=body), 422, "INVALID_REQUEST")


@pytest.mark.usefixtures("account")
async def test_devices_are_listed_with_the_one_that_asks_and_signed_out(stage: Stage, http: httpx.AsyncClient) -> None:
    devices = (await http.get("/v1/sessions")).json()["sessions"]
    assert [(each["device"], each["current"]) for each in devices] == [("Phone", True), ("", False)]
    for _ in range(2):
        assert (await http.delete(f"/v1/sessions/{devices[0]['session_id']}")).status_code == 204
    assert len(stage.world.auth.revoked) == 2
    assert is_problem(await http.delete(f"/v1/sessions/{'0' * 32}"), 404, "SESSION_UNKNOWN")
    assert is_problem(await http.delete("/v1/sessions/nope"), 422, "INVALID_REQUEST")


@pytest.mark.usefixtures("account")
async def test_p45_the_export_is_whole_with_every_page_of_the_history(stage: Stage, http: httpx.AsyncClient) -> None:
    stage.world.purse.older_pages = 4
    answer = await http.get("/v1/account/export")
    assert answer.headers["content-disposition"] == 'attachment; filename="whist-account.json"'
    assert answer.headers["cache-control"] == "no-store"
    whole = answer.json()
    assert (whole["account"], whole["tables"]) == ({"email": "ana@example.org"}, {"chat": []})
    assert len(whole["movements"]) == 5
    assert (whole["wallet"]["coins"], whole["progress"]["level"], whole["standing"]["points"]) == (1000, 2, 55)
    stage.world.leagues.down = True
    assert is_problem(await http.get("/v1/account/export"), 503, "DATABASE_AWAY")


async def test_p45_copies_are_few_an_hour(short_folder: Path) -> None:
    async with staged(short_folder, rate_exports="1/hour") as stage, httpx.AsyncClient(base_url=stage.http_url) as one:
        headers = {"Authorization": f"Bearer {stage.world.keys.token()}"}
        answers = [await one.get("/v1/account/export", headers=headers) for _ in range(2)]
        assert answers[0].status_code == 200
        assert is_problem(answers[1], 429, "RATE_LIMITED")


async def test_p45_an_account_is_deleted_by_a_fresh_session_and_the_cookie_dropped(
    stage: Stage, http: httpx.AsyncClient, account: UUID
) -> None:
    answer = await http.delete("/v1/account")
    assert answer.status_code == 204
    assert 'whist-refresh=""' in answer.headers["set-cookie"]
    (asked,) = stage.world.auth.deleted
    assert (asked.account_id, asked.session_id) == (account.bytes, b"s" * 16)
    http.headers["Authorization"] = f"Bearer {stage.world.keys.token(account)}"
    refused = await http.delete("/v1/account")
    assert is_problem(refused, 403, "SIGN_IN_NOT_FRESH") and refused.json()["facts"] == {"minutes": 10}
