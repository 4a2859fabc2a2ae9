"""Who asks: the access token in the header, the refresh token in a body or a cookie, the page in Origin."""

from typing import Annotated

from fastapi import Depends, Request, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from libs.chassis.errors import DomainError, Kind
from libs.chassis.tokens import TokenExpired, TokenInvalid
from services.gateway.http.parts import Parts, PartsOf
from services.gateway.sessions import Bearer
from services.gateway.settings import GatewaySettings

SECURE_COOKIE = "__Host-whist-refresh"
PLAIN_COOKIE = "whist-refresh"  # development without TLS, where no browser takes the other
COOKIE_SECONDS = 30 * 86_400  # the refresh token's own end comes first

_scheme = HTTPBearer(auto_error=False, description="Access token of POST /v1/guests or of a sign-in; ten minutes.")


class ForeignOrigin(DomainError):
    """The cookie came with a page that is not ours."""

    kind = Kind.FORBIDDEN
    reason = "FOREIGN_ORIGIN"


class RefreshMissing(DomainError):
    """Neither the body nor a cookie holds a refresh token."""

    kind = Kind.UNAUTHENTICATED
    reason = "REFRESH_INVALID"


async def bearer(
    parts: PartsOf, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_scheme)]
) -> Bearer:
    """The account behind the request. Raises TokenInvalid, TokenExpired, RateLimited."""
    if credentials is None:
        raise TokenInvalid
    holder = await parts.sessions.verified(credentials.credentials)
    if parts.sessions.outgrown(holder):
        raise TokenExpired  # it is out in the guest's sessions, which the account's name, address and purse are not for
    parts.limits.account(holder.account_id)
    return holder


Holder = Annotated[Bearer, Depends(bearer)]


async def guest(request: Request, parts: PartsOf) -> Bearer | DomainError | None:
    """The guest behind a sign-in, if it says that there is one; a token that is no good is the route's to judge."""
    credentials = await _scheme(request)  # not a dependency: the document would ask everybody for a token
    if credentials is None:
        return None
    try:
        return await parts.sessions.verified(credentials.credentials)
    except (TokenInvalid, TokenExpired) as refusal:
        return refusal


Guest = Annotated[Bearer | DomainError | None, Depends(guest)]


def guest_id_of(asking: Bearer | DomainError | None, *, dropped: bool) -> bytes:
    """The id of the guest who signs in, or empty (P42).

    Raises what is wrong with the token: a guest whose token has just expired must not lose all it has. Who has agreed
    to lose the guest is not kept out by it; the first such request may have been the one that ended the token.
    """
    if isinstance(asking, DomainError):
        if dropped:
            return b""
        raise asking
    return asking.account_id if asking is not None and asking.guest else b""


def is_page_of_ours(request: Request, settings: GatewaySettings) -> bool:
    """Whether the request names an allowed Origin, as every POST of our own pages does."""
    return request.headers.get("origin") in settings.allowed_origins


def refresh_token_of(request: Request, given: str | None, parts: Parts) -> str:
    """The refresh token of the body, or of a cookie sent by a page of ours. Raises RefreshMissing, ForeignOrigin."""
    if given is not None:
        return given
    cookie = request.cookies.get(cookie_name(parts.settings))
    if not cookie:
        raise RefreshMissing
    if not is_page_of_ours(request, parts.settings):
        raise ForeignOrigin
    return cookie


def cookie_name(settings: GatewaySettings) -> str:
    return SECURE_COOKIE if settings.secure_cookies else PLAIN_COOKIE


def set_refresh_cookie(response: Response, token: str, settings: GatewaySettings) -> None:
    """Only for this host, only over TLS where there is TLS, never for a script or a foreign page."""
    response.set_cookie(
        cookie_name(settings),
        token,
        max_age=COOKIE_SECONDS,
        path="/",
        secure=settings.secure_cookies,
        httponly=True,
        samesite="strict",
    )


def drop_refresh_cookie(response: Response, settings: GatewaySettings) -> None:
    response.delete_cookie(
        cookie_name(settings), path="/", secure=settings.secure_cookies, httponly=True, samesite="strict"
    )
