"""Accounts: guests, sign-in by e-mailed code, tokens, oneself (P40-P42)."""

import asyncio
from collections.abc import Awaitable
from datetime import UTC
from typing import Annotated, Any, TypeVar
from uuid import UUID

from fastapi import APIRouter, Header, Path, Request, Response

from libs.chassis.errors import DomainError, Kind
from services.gateway.http import models
from services.gateway.http.bearer import (
    Guest,
    Holder,
    drop_refresh_cookie,
    guest_id_of,
    is_page_of_ours,
    refresh_token_of,
    set_refresh_cookie,
)
from services.gateway.http.parts import Parts, PartsOf
from whist.auth.v1 import auth_pb2
from whist.leagues.v1 import leagues_pb2
from whist.wallet.v1 import wallet_pb2

router = APIRouter(prefix="/v1", tags=["accounts"])

T = TypeVar("T")
IdempotencyKey = Annotated[
    models.Uuid | None,
    Header(description="A random UUID of yours: the same one again is answered as the first time."),
]


@router.post("/guests", status_code=201)
async def create_guest(
    request: Request, response: Response, parts: PartsOf, body: models.Device, idempotency_key: IdempotencyKey = None
) -> models.SignedIn:
    """Play at once, without signing in (P42)."""
    parts.limits.guest(request.state.network)
    answer = await parts.clients.auth.call(
        parts.clients.auth_stub.CreateGuest,
        auth_pb2.CreateGuestRequest(
            device=body.device, network=request.state.network, request_id=request_id(idempotency_key, parts)
        ),
    )
    return _signed_in(request, response, parts, answer)


@router.post("/login", status_code=202)
async def start_login(
    request: Request, parts: PartsOf, body: models.LoginStart, idempotency_key: IdempotencyKey = None
) -> models.LoginStarted:
    """Send a code to the address. Answered alike whether it is known or not (P40)."""
    parts.limits.login(request.state.network)
    answer = await parts.clients.auth.call(
        parts.clients.auth_stub.StartLogin,
        auth_pb2.StartLoginRequest(
            email=body.email,
            network=request.state.network,
            locale=body.locale,
            request_id=request_id(idempotency_key, parts),
        ),
    )
    return models.LoginStarted(login_id=answer.login_id.hex(), expires_at=answer.expires_at.ToDatetime(UTC))


@router.post("/login/{login_id}")
async def finish_login(
    request: Request,
    response: Response,
    parts: PartsOf,
    body: models.LoginFinish,
    login_id: Annotated[models.Id, Path()],
    asking: Guest,
    idempotency_key: IdempotencyKey = None,
) -> models.SignedIn:
    """Exchange the code for tokens; the first sign-in of an address makes its account.

    A guest sends its access token along: with a new address it becomes the account and keeps what it has earned. For
    an address that has its account the answer is GUEST_WOULD_BE_DROPPED, and the code stays good, until `drop_guest`.
    """
    parts.limits.login(request.state.network)
    answer = await parts.clients.auth.call(
        parts.clients.auth_stub.FinishLogin,
        auth_pb2.FinishLoginRequest(
            login_id=bytes.fromhex(login_id),
            code=body.code,
            device=body.device,
            network=request.state.network,
            request_id=request_id(idempotency_key, parts),
            guest_id=guest_id_of(asking, dropped=body.drop_guest),
            drop_guest=body.drop_guest,
        ),
    )
    return _signed_in(request, response, parts, answer)


@router.post("/tokens")
async def refresh(
    request: Request, response: Response, parts: PartsOf, body: models.RefreshToken | None = None
) -> models.SignedIn:
    """New tokens for the refresh token, which is used up by this; a page sends its cookie instead."""
    parts.limits.login(request.state.network)
    token = refresh_token_of(request, body.refresh_token if body else None, parts)
    answer = await parts.clients.auth.call(
        parts.clients.auth_stub.Refresh, auth_pb2.RefreshRequest(refresh_token=token)
    )
    return _signed_in(request, response, parts, answer)


@router.delete("/session", status_code=204)
async def log_out(
    request: Request, response: Response, parts: PartsOf, body: models.RefreshToken | None = None
) -> None:
    """End the session of this refresh token, its sockets too. Idempotent."""
    token = refresh_token_of(request, body.refresh_token if body else None, parts)
    await parts.clients.auth.call(parts.clients.auth_stub.Logout, auth_pb2.LogoutRequest(refresh_token=token))
    drop_refresh_cookie(response, parts.settings)


@router.get("/me")
async def me(parts: PartsOf, holder: Holder) -> models.Me:
    """Account, level, league and purse in one answer."""
    clients, account_id = parts.clients, holder.account_id
    account, profile, standing, balances = await asyncio.gather(
        clients.auth.call(clients.auth_stub.GetAccount, auth_pb2.GetAccountRequest(account_id=account_id)),
        _if_available(
            clients.leagues.call(clients.leagues_stub.Profile, leagues_pb2.ProfileRequest(account_id=account_id))
        ),
        _if_available(
            clients.leagues.call(clients.leagues_stub.Standing, leagues_pb2.StandingRequest(account_id=account_id))
        ),
        _if_available(
            clients.wallet.call(clients.wallet_stub.Balances, wallet_pb2.BalancesRequest(account_id=account_id))
        ),
    )
    progress = None if profile is None else models.Progress.of(profile)
    return models.Me(
        account=models.Account.of(account.account),
        level=progress.level if progress else None,
        experience=progress.experience if progress else None,
        next_level_at=progress.next_level_at if progress else None,
        form=progress.form if progress else None,
        standing=None if standing is None else models.Standing.of(standing),
        wallet=None if balances is None else models.Wallet.of_balances(balances),
    )


async def _if_available(answer: Awaitable[T]) -> T | None:
    try:
        return await answer
    except DomainError as error:
        if error.kind is Kind.UNAVAILABLE:
            return None
        raise


def request_id(key: str | None, parts: Parts) -> bytes:
    """The client's key, or one of our own: a call whose answer is lost on the way from auth is sent again."""
    return UUID(key).bytes if key else parts.entropy.bytes(16)


def _signed_in(request: Request, response: Response, parts: Parts, answer: Any) -> models.SignedIn:
    """Programs get the refresh token in the body, pages of ours as a cookie out of their scripts' reach."""
    tokens: auth_pb2.Tokens = answer.tokens
    page = is_page_of_ours(request, parts.settings)
    if page:
        set_refresh_cookie(response, tokens.refresh_token, parts.settings)
    return models.SignedIn(
        tokens=models.Tokens(
            access_token=tokens.access_token,
            access_expires_at=tokens.access_expires_at.ToDatetime(UTC),
            refresh_token=None if page else tokens.refresh_token,
            refresh_expires_at=tokens.refresh_expires_at.ToDatetime(UTC),
        ),
        account=models.Account.of(answer.account),
        created=isinstance(answer, auth_pb2.CreateGuestResponse) or getattr(answer, "created", False),
    )
