"""The whole service as others see it: gRPC on a Unix socket, wired as it runs."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from libs.chassis.clock import SystemClock
from libs.chassis.errors import DomainError
from libs.chassis.events.memory import MemoryBus
from libs.chassis.rpc.peer import Peer
from libs.chassis.run import check, running
from libs.chassis.tokens import AccessTokens
from services.auth.grpc_api import ALLOW, SERVICE
from services.auth.settings import AuthSettings
from services.auth.wiring import MIGRATIONS, SPEC
from tests.conftest import MakeDatabase
from tests.services.auth.builders import SmtpServer, fresh_network, smtp_server
from whist.auth.v1 import auth_pb2 as pb
from whist.auth.v1 import auth_pb2_grpc


@dataclass
class Line:
    """One caller's way to the running service."""

    peer: Peer
    stub: "auth_pb2_grpc.AuthServiceAsyncStub"
    mail: SmtpServer


@pytest.fixture(scope="module")
async def mail() -> AsyncIterator[SmtpServer]:
    async with smtp_server() as server:
        yield server


@pytest.fixture(scope="module")
async def settings(
    make_database: MakeDatabase, tmp_path_factory: pytest.TempPathFactory, mail: SmtpServer
) -> AuthSettings:
    home = tmp_path_factory.mktemp("auth")
    return AuthSettings(
        database_url=await make_database(MIGRATIONS),
        grpc_listen=f"unix:{home}/auth.sock",
        signing_keys=home / "keys",
        pepper_file=home / "pepper",
        keys_create=True,
        smtp_host="127.0.0.1",
        smtp_port=mail.port,
        smtp_security="none",
    )


@pytest.fixture(scope="module")
async def gateway(settings: AuthSettings, mail: SmtpServer) -> AsyncIterator[Line]:
    async with SPEC.open(settings, bus=MemoryBus()) as (chassis, service), running(SPEC, chassis, service):
        peer = Peer(chassis.address, "gateway")
        yield Line(peer, auth_pb2_grpc.AuthServiceStub(peer.channel), mail)
        await peer.close()


async def code_for(gateway: Line, email: str) -> str:
    """The code of the one mail that comes, to `email`."""
    await gateway.mail.arrived.wait()
    (message,) = gateway.mail.messages
    assert message["To"] == email
    found = re.search(r"\b\d{8}\b", str(message.get_payload()))
    assert found is not None
    return found.group()


async def test_p40_the_whole_way_from_address_to_logout(gateway: Line) -> None:
    call, stub = gateway.peer.call, gateway.stub
    asked = pb.StartLoginRequest(email="ana@example.com", network=fresh_network(), locale="ro")
    login = await call(stub.StartLogin, asked)
    assert len(login.login_id) == 16

    code = await code_for(gateway, "ana@example.com")
    wanted = pb.FinishLoginRequest(login_id=login.login_id, code=code, device="Phone", network=fresh_network())
    answer = await call(stub.FinishLogin, wanted)
    assert answer.created
    assert not answer.account.guest

    jwks = (await call(stub.Jwks, pb.JwksRequest())).jwks_json
    claims = AccessTokens().verify(answer.tokens.access_token, jwks, SystemClock().now())
    assert claims.account_id.bytes == answer.account.account_id

    known = await call(stub.GetAccount, pb.GetAccountRequest(account_id=answer.account.account_id))
    assert known.account == answer.account

    refreshed = await call(stub.Refresh, pb.RefreshRequest(refresh_token=answer.tokens.refresh_token))
    assert refreshed.tokens.refresh_token != answer.tokens.refresh_token
    assert refreshed.account == answer.account

    for _ in range(2):
        await call(stub.Logout, pb.LogoutRequest(refresh_token=refreshed.tokens.refresh_token))
    with pytest.raises(DomainError) as refusal:
        await call(stub.Refresh, pb.RefreshRequest(refresh_token=refreshed.tokens.refresh_token))
    assert refusal.value.reason == "REFRESH_INVALID"


async def test_p42_a_guest_over_the_wire(gateway: Line) -> None:
    wanted = pb.CreateGuestRequest(device="Tablet", network=fresh_network(), request_id=bytes(range(16)))

    first = await gateway.peer.call(gateway.stub.CreateGuest, wanted)
    again = await gateway.peer.call(gateway.stub.CreateGuest, wanted)

    assert first.account.guest
    assert again.account == first.account
    assert again.tokens.refresh_token == first.tokens.refresh_token


@pytest.mark.parametrize(
    ("method", "sent", "reason"),
    [
        ("StartLogin", pb.StartLoginRequest(email="x", network="10.0.0.1"), "EMAIL_INVALID"),
        ("StartLogin", pb.StartLoginRequest(email="a@example.com", network="x"), "NETWORK_INVALID"),
        ("StartLogin", pb.StartLoginRequest(email="a@example.com", network="::1", request_id=b"x"), "ID_INVALID"),
        ("FinishLogin", pb.FinishLoginRequest(login_id=bytes(16), code="12345678", network="::1"), "CODE_SPENT"),
        ("FinishLogin", pb.FinishLoginRequest(login_id=bytes(16), code="x", network="::1"), "CODE_MALFORMED"),
        ("FinishLogin", pb.FinishLoginRequest(login_id=b"x", code="12345678", network="::1"), "ID_INVALID"),
        ("CreateGuest", pb.CreateGuestRequest(network="::1"), "ID_INVALID"),
        ("CreateGuest", pb.CreateGuestRequest(network="::1", device="\n", request_id=bytes(16)), "DEVICE_INVALID"),
        ("Refresh", pb.RefreshRequest(), "REFRESH_INVALID"),
        ("Logout", pb.LogoutRequest(refresh_token="x"), "REFRESH_INVALID"),
        ("GetAccount", pb.GetAccountRequest(account_id=bytes(16)), "ACCOUNT_UNKNOWN"),
        ("GetAccount", pb.GetAccountRequest(account_id=b"x"), "ACCOUNT_UNKNOWN"),
    ],
)
async def test_bad_input_is_answered_with_its_reason(gateway: Line, method: str, sent: object, reason: str) -> None:
    with pytest.raises(DomainError) as refusal:
        await gateway.peer.call(getattr(gateway.stub, method), sent)  # type: ignore[arg-type]

    assert refusal.value.reason == reason


async def test_other_services_may_ask_who_somebody_is_and_nothing_else(gateway: Line) -> None:
    peer = Peer(gateway.peer.target, "wallet")
    stub = auth_pb2_grpc.AuthServiceStub(peer.channel)
    try:
        assert (await peer.call(stub.Jwks, pb.JwksRequest())).jwks_json
        with pytest.raises(DomainError) as refusal:
            await peer.call(stub.GetAccount, pb.GetAccountRequest(account_id=bytes(16)))
        assert refusal.value.reason == "ACCOUNT_UNKNOWN"
        for method, sent in (
            (stub.StartLogin, pb.StartLoginRequest()),
            (stub.FinishLogin, pb.FinishLoginRequest()),
            (stub.CreateGuest, pb.CreateGuestRequest()),
            (stub.Refresh, pb.RefreshRequest()),
            (stub.Logout, pb.LogoutRequest()),
        ):
            with pytest.raises(DomainError) as refusal:
                await peer.call(method, sent)
            assert refusal.value.reason == "CALLER_NOT_ALLOWED"
    finally:
        await peer.close()


def test_every_method_says_who_may_call_it() -> None:
    methods = {f"{SERVICE}/{method.name}" for method in pb.DESCRIPTOR.services_by_name["AuthService"].methods}

    assert set(ALLOW) == methods


async def test_the_service_checks_its_settings_and_schema(settings: AuthSettings) -> None:
    await check(SPEC, settings)


async def test_a_wrong_key_folder_stops_the_start(settings: AuthSettings, tmp_path: Path) -> None:
    wrong = settings.model_copy(update={"keys_create": False, "signing_keys": tmp_path})

    with pytest.raises(ValueError, match="WHIST_SIGNING_KEYS"):
        await check(SPEC, wrong)
