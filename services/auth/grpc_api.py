"""AuthService on the wire: translation alone."""

import json
from datetime import datetime
from typing import Any
from uuid import UUID

from google.protobuf.timestamp_pb2 import Timestamp

from libs.chassis.audit import asked, asked_page, told
from services.auth.domain import accounts
from services.auth.domain.errors import AccountUnknown, SessionUnknown
from services.auth.handlers.accounts import claim_name, get_account, get_accounts
from services.auth.handlers.deletion import delete_account, export_account
from services.auth.handlers.desk import ID_BYTES, Desk, check_id
from services.auth.handlers.guests import CreateGuest, create_guest
from services.auth.handlers.operators import audit_log, find_accounts, reinstate, suspend
from services.auth.handlers.sessions import list_sessions, logout, refresh, revoke_session
from services.auth.handlers.signing_in import FinishLogin, StartLogin, finish_login, start_login
from whist.auth.v1 import auth_pb2 as pb
from whist.auth.v1 import auth_pb2_grpc
from whist.types.v1 import audit_pb2

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
    f"{SERVICE}/GetAccounts": ANYONE,
    f"{SERVICE}/ClaimName": GATEWAY,
    f"{SERVICE}/ListSessions": GATEWAY,
    f"{SERVICE}/RevokeSession": GATEWAY,
    f"{SERVICE}/ExportAccount": GATEWAY,
    f"{SERVICE}/DeleteAccount": GATEWAY,
    # The operators' listener, which lives in the gateway.
    f"{SERVICE}/FindAccounts": GATEWAY,
    f"{SERVICE}/Suspend": GATEWAY,
    f"{SERVICE}/Reinstate": GATEWAY,
    f"{SERVICE}/AuditLog": GATEWAY,
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
            guest_id=request.guest_id,
            drop_guest=request.drop_guest,
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
        account = await get_account(_account_id(request.account_id), desk=self._desk)
        return pb.GetAccountResponse(account=_account(account))

    async def GetAccounts(self, request: pb.GetAccountsRequest, context: Any) -> pb.GetAccountsResponse:  # noqa: N802
        ids = {UUID(bytes=each) for each in request.account_ids if len(each) == ID_BYTES}
        return pb.GetAccountsResponse(accounts=map(_account, await get_accounts(ids, desk=self._desk)))

    async def ClaimName(self, request: pb.ClaimNameRequest, context: Any) -> pb.ClaimNameResponse:  # noqa: N802
        account, next_change_at = await claim_name(_account_id(request.account_id), request.name, desk=self._desk)
        return pb.ClaimNameResponse(account=_account(account), next_change_at=_timestamp(next_change_at))

    async def ListSessions(self, request: pb.ListSessionsRequest, context: Any) -> pb.ListSessionsResponse:  # noqa: N802
        found = await list_sessions(_account_id(request.account_id), desk=self._desk)
        return pb.ListSessionsResponse(sessions=map(_session, found))

    async def RevokeSession(self, request: pb.RevokeSessionRequest, context: Any) -> pb.RevokeSessionResponse:  # noqa: N802
        if len(request.session_id) != ID_BYTES:
            raise SessionUnknown
        session_id = UUID(bytes=request.session_id)
        await revoke_session(_account_id(request.account_id), session_id, desk=self._desk)
        return pb.RevokeSessionResponse()

    async def ExportAccount(self, request: pb.ExportAccountRequest, context: Any) -> pb.ExportAccountResponse:  # noqa: N802
        found = await export_account(_account_id(request.account_id), desk=self._desk)
        return pb.ExportAccountResponse(export_json=json.dumps(found, ensure_ascii=False))

    async def DeleteAccount(self, request: pb.DeleteAccountRequest, context: Any) -> pb.DeleteAccountResponse:  # noqa: N802
        if request.session_id:
            check_id("session_id", request.session_id)
        session_id = UUID(bytes=request.session_id) if request.session_id else None
        await delete_account(_account_id(request.account_id), session_id, desk=self._desk)
        return pb.DeleteAccountResponse()

    async def FindAccounts(self, request: pb.FindAccountsRequest, context: Any) -> pb.FindAccountsResponse:  # noqa: N802
        found = await find_accounts(asked(request.act, "find", ""), request.words, desk=self._desk)
        return pb.FindAccountsResponse(accounts=map(_found, found))

    async def Suspend(self, request: pb.SuspendRequest, context: Any) -> pb.SuspendResponse:  # noqa: N802
        account_id = _account_id(request.account_id)
        await suspend(asked(request.act, "suspend", account_id.hex), account_id, desk=self._desk)
        return pb.SuspendResponse()

    async def Reinstate(self, request: pb.ReinstateRequest, context: Any) -> pb.ReinstateResponse:  # noqa: N802
        account_id = _account_id(request.account_id)
        await reinstate(asked(request.act, "reinstate", account_id.hex), account_id, desk=self._desk)
        return pb.ReinstateResponse()

    async def AuditLog(self, request: pb.AuditLogRequest, context: Any) -> pb.AuditLogResponse:  # noqa: N802
        lines = await audit_log(*asked_page(request.before, request.limit), desk=self._desk)
        return pb.AuditLogResponse(lines=[audit_pb2.AuditLine(**told(line)) for line in lines])

    async def Jwks(self, request: pb.JwksRequest, context: Any) -> pb.JwksResponse:  # noqa: N802
        return pb.JwksResponse(jwks_json=self._desk.signer.jwks())


def _account_id(value: bytes) -> UUID:
    """Raises AccountUnknown for what is no id."""
    if len(value) != ID_BYTES:
        raise AccountUnknown
    return UUID(bytes=value)


def _account(account: accounts.Account) -> pb.Account:
    return pb.Account(
        account_id=account.account_id.bytes,
        name=account.name,
        guest=account.guest,
        created_at=_timestamp(account.created_at),
        named=account.named,
        suspended=account.suspended,
    )


def _session(device: accounts.Device) -> pb.Session:
    return pb.Session(
        session_id=device.session_id.bytes,
        device=device.device,
        created_at=_timestamp(device.created_at),
        used_at=_timestamp(device.used_at),
        expires_at=_timestamp(device.expires_at),
    )


def _found(found: accounts.Found) -> pb.FoundAccount:
    return pb.FoundAccount(
        account=_account(found.account),
        email=found.email,
        deleted=found.deleted,
        sessions=found.sessions,
        seen_at=_timestamp(found.seen_at) if found.seen_at else None,
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
