"""What an account does with itself: its name, its devices, a copy of all that is held of it, its end (P41, P45)."""

import asyncio
import json
from datetime import UTC
from typing import Annotated

from fastapi import APIRouter, Path, Response

from services.gateway.http import models
from services.gateway.http.bearer import Holder, drop_refresh_cookie
from services.gateway.http.parts import Parts, PartsOf
from whist.auth.v1 import auth_pb2
from whist.leagues.v1 import leagues_pb2
from whist.tables.v1 import tables_pb2
from whist.wallet.v1 import wallet_pb2

router = APIRouter(prefix="/v1", tags=["accounts"])

PAGE = 100  # movements a question: the most that the wallet gives


@router.put("/account/name")
async def claim_name(parts: PartsOf, holder: Holder, body: models.Name) -> models.NameClaimed:
    """Take a name that is one's own alone: a ✓ at the table. One change in thirty days, the first at once.

    Refused with NAME_INVALID, NAME_TAKEN (also by one that looks like it), NAME_TOO_SOON, GUESTS_CLAIM_NO_NAME.
    """
    clients = parts.clients
    answer = await clients.auth.call(
        clients.auth_stub.ClaimName, auth_pb2.ClaimNameRequest(account_id=holder.account_id, name=body.name)
    )
    return models.NameClaimed(
        account=models.Account.of(answer.account), next_change_at=answer.next_change_at.ToDatetime(UTC)
    )


@router.get("/sessions")
async def sessions(parts: PartsOf, holder: Holder) -> models.Sessions:
    """The devices that are signed in, the last used first."""
    clients = parts.clients
    answer = await clients.auth.call(
        clients.auth_stub.ListSessions, auth_pb2.ListSessionsRequest(account_id=holder.account_id)
    )
    return models.Sessions(
        sessions=[models.Session.of(each, current=each.session_id == holder.session_id) for each in answer.sessions]
    )


@router.delete("/sessions/{session_id}", status_code=204)
async def revoke_session(parts: PartsOf, holder: Holder, session_id: Annotated[models.Id, Path()]) -> None:
    """Sign a device out, its sockets too. Idempotent. Refused with SESSION_UNKNOWN, also for another's."""
    clients = parts.clients
    await clients.auth.call(
        clients.auth_stub.RevokeSession,
        auth_pb2.RevokeSessionRequest(account_id=holder.account_id, session_id=bytes.fromhex(session_id)),
    )


@router.get("/account/export")
async def export_account(response: Response, parts: PartsOf, holder: Holder) -> models.Export:
    """All that is held of the account, as one JSON document; whole, or not at all while a service is away."""
    parts.limits.export(holder.account_id)
    clients, account_id = parts.clients, holder.account_id
    account, tables, balances, profile, standing, movements = await asyncio.gather(
        clients.auth.call(clients.auth_stub.ExportAccount, auth_pb2.ExportAccountRequest(account_id=account_id)),
        clients.table_call("ExportAccount", tables_pb2.ExportAccountRequest(account_id=account_id)),
        clients.wallet.call(clients.wallet_stub.Balances, wallet_pb2.BalancesRequest(account_id=account_id)),
        clients.leagues.call(clients.leagues_stub.Profile, leagues_pb2.ProfileRequest(account_id=account_id)),
        clients.leagues.call(clients.leagues_stub.Standing, leagues_pb2.StandingRequest(account_id=account_id)),
        _movements(parts, account_id),
    )
    response.headers["Content-Disposition"] = 'attachment; filename="whist-account.json"'
    return models.Export(
        account=json.loads(account.export_json),
        wallet=models.Wallet.of_balances(balances),
        movements=movements,
        progress=models.Progress.of(profile),
        standing=models.Standing.of(standing),
        tables=json.loads(tables.export_json),
    )


@router.delete("/account", status_code=204)
async def delete_account(response: Response, parts: PartsOf, holder: Holder) -> None:
    """Erase the account for good: address, name, devices and chat; the ledger stays under an id that is nobody's.

    Asks for a session that a code has opened within ten minutes (SIGN_IN_NOT_FRESH otherwise: sign in again first). A
    guest's may be of any age.
    """
    clients = parts.clients
    await clients.auth.call(
        clients.auth_stub.DeleteAccount,
        auth_pb2.DeleteAccountRequest(account_id=holder.account_id, session_id=holder.session_id),
    )
    drop_refresh_cookie(response, parts.settings)


async def _movements(parts: Parts, account_id: bytes) -> list[models.Movement]:
    """The whole history, page after page, newest first."""
    found: list[models.Movement] = []
    before = ""
    while True:
        page = await parts.clients.wallet.call(
            parts.clients.wallet_stub.History,
            wallet_pb2.HistoryRequest(account_id=account_id, limit=PAGE, before=before),
        )
        found += map(models.Movement.of, page.movements)
        before = page.next_before
        if not before:
            return found
