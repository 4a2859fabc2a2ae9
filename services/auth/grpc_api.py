"""AuthService on the wire: translation alone."""

from datetime import datetime
from typing import Any
from uuid import UUID

from google.protobuf.timestamp_pb2 import Timestamp

from services.auth.domain import accounts
from services.auth.domain.errors import AccountUnknown
from services.auth.handlers.accounts import get_account
from services.auth.handlers.desk import ID_BYTES, Desk
from services.auth.handlers.guests import CreateGuest, create_guest
from services.auth.handlers.sessions import logout, refresh
from services.auth.handlers.signing_in import FinishLogin, StartLogin, finish_login, start_login
from whist.auth.v1 import auth_pb2 as pb
from whist.auth.v1 import auth_pb2_grpc

SERVICE = "/whist.auth.v1.AuthService"
GATEWAY = frozenset({"gateway"})
ANYONE = frozenset({"*"})

ALLOW = {
    f"{SERVICE}/StartLogin": GATEWAY,
    f"{SERVICE}/FinishLogin": GATEWAY,
    f"{SERVICE}/CreateGuest": GATEWAY,
    f"{SERVICE}/Refresh": GATEWAY,
    f"{SERVICE}/Logout": GATEWAY,
    f"{SERVICE}/GetAccount": ANYONE,
    f"{SERVICE}/Jwks": ANYONE,
}


class AuthApi(auth_pb2_grpc.AuthServiceServicer):
    """Each method turns one request into one use case."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def StartLogin(self, request: pb.StartLoginRequest, context: Any) -> pb.StartLoginResponse:  # noqa: N802
        command = StartLogin(
            email=request.email, network=request.network, locale=request.locale, request_id=request.request_id
        )
        login = await start_login(command, desk=self._desk)
        return pb.StartLoginResponse(login_id=login.login_id, expires_at=_timestamp(login.expires_at))

    async def FinishLogin(self, request: pb.FinishLoginRequest, context: Any) -> pb.FinishLoginResponse:  # noqa: N802
        command = FinishLogin(
            login_id=request.login_id,
            code=request.code,
            device=request.device,
            network=request.network,
            request_id=request.request_id,
        )
        answer = await finish_login(command, desk=self._desk)
        return pb.FinishLoginResponse(
            tokens=_tokens(answer.tokens), account=_account(answer.account), created=answer.created
        )

    async def CreateGuest(self, request: pb.CreateGuestRequest, context: Any) -> pb.CreateGuestResponse:  # noqa: N802
        command = CreateGuest(device=request.device, network=request.network, request_id=request.request_id)
        answer = await create_guest(command, desk=self._desk)
        return pb.CreateGuestResponse(tokens=_tokens(answer.tokens), account=_account(answer.account))

    async def Refresh(self, request: pb.RefreshRequest, context: Any) -> pb.RefreshResponse:  # noqa: N802
        answer = await refresh(request.refresh_token, desk=self._desk)
        return pb.RefreshResponse(tokens=_tokens(answer.tokens), account=_account(answer.account))

    async def Logout(self, request: pb.LogoutRequest, context: Any) -> pb.LogoutResponse:  # noqa: N802
        await logout(request.refresh_token, desk=self._desk)
        return pb.LogoutResponse()

    async def GetAccount(self, request: pb.GetAccountRequest, context: Any) -> pb.GetAccountResponse:  # noqa: N802
        if len(request.account_id) != ID_BYTES:
            raise AccountUnknown
        account = await get_account(UUID(bytes=request.account_id), desk=self._desk)
        return pb.GetAccountResponse(account=_account(account))

    async def Jwks(self, request: pb.JwksRequest, context: Any) -> pb.JwksResponse:  # noqa: N802
        return pb.JwksResponse(jwks_json=self._desk.signer.jwks())


def _account(account: accounts.Account) -> pb.Account:
    return pb.Account(
        account_id=account.account_id.bytes,
        name=account.name,
        guest=account.guest,
        created_at=_timestamp(account.created_at),
    )


def _tokens(tokens: accounts.Tokens) -> pb.Tokens:
    return pb.Tokens(
        access_token=tokens.access_token,
        access_expires_at=_timestamp(tokens.access_expires_at),
        refresh_token=tokens.refresh_token,
        refresh_expires_at=_timestamp(tokens.refresh_expires_at),
    )


def _timestamp(moment: datetime) -> Timestamp:
    stamp = Timestamp()
    stamp.FromDatetime(moment)
    return stamp
