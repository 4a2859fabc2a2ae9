"""REST of accounts: a guest who signs in, the own name, devices, export and the account's end (P41, P42, P45)."""

from uuid import uuid4

import httpx
import pytest

from tests.services.gateway.test_rest import is_problem
from tests.services.gateway.world import Stage

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
