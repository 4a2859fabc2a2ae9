"""The REST API, one method a route: plain JSON in and out, problems as `WhistError`.

Nothing here signs requests by itself: who calls passes the access token (`session` keeps it fresh).
"""

import asyncio
import uuid
from collections.abc import Mapping
from typing import Any

import httpx

from libs.client.sdk.backoff import Backoff
from libs.client.sdk.errors import Unreachable, WhistError

Json = dict[str, Any]

TIMEOUT_S = 10.0
TRIES = 4  # about a second in all: enough for a lost packet or a restart's gap
PASSING = frozenset({502, 503, 504})  # a proxy or a draining server: the same request may be sent again


class Api:
    """Requests to one server. Each is safe to repeat and is, on a lost answer, up to `TRIES` times."""

    def __init__(self, url: str, http: httpx.AsyncClient, backoff: Backoff) -> None:
        self.url = url.rstrip("/")
        self._http = http
        self._backoff = backoff

    async def request(
        self, method: str, path: str, *, token: str = "", body: Json | None = None, key: str = ""
    ) -> Json:
        """The answer's JSON; {} when it has none. Raises WhistError with the problem's code, or Unreachable.

        What may change something carries one `Idempotency-Key` for all its tries: a repeat is answered as the first.
        `key` is it where a later request is to repeat this one; else a new one is made.
        """
        headers = {"Idempotency-Key": key or uuid.uuid4().hex} if method != "GET" else {}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        backoff = self._backoff.fresh()
        for left in reversed(range(TRIES)):
            try:
                answer = await self._http.request(method, self.url + path, json=body, headers=headers)
            except httpx.TransportError as error:
                if not left:
                    raise Unreachable(self.url, _said(error)) from None
            except (httpx.InvalidURL, UnicodeError) as error:
                raise Unreachable(self.url, _said(error)) from None
            else:
                if answer.is_success:
                    return _json(answer)
                if answer.status_code not in PASSING or not left:
                    raise _problem(answer)
            await asyncio.sleep(backoff.next_s())
        raise AssertionError("the last try returns or raises")

    async def config(self) -> Json:
        """{"socket_url", …}: where the socket is."""
        return await self.request("GET", "/v1/config")

    async def create_guest(self, device: str) -> Json:
        """{"tokens", "account"}: a guest plays at once (P42)."""
        return await self.request("POST", "/v1/guests", body={"device": device})

    async def start_login(self, email: str, locale: str) -> str:
        """Have a code e-mailed (P40); the login's id. Says nothing of whether the address is known."""
        answer = await self.request("POST", "/v1/login", body={"email": email, "locale": locale})
        return str(answer["login_id"])

    async def finish_login(
        self, login_id: str, code: str, device: str, *, guest_token: str = "", drop_guest: bool = False
    ) -> Json:
        """{"tokens", "account"}. With a guest's access token it becomes the account of a new address (P42).

        Raises WhistError CODE_WRONG, CODE_SPENT, RATE_LIMITED, GUEST_WOULD_BE_DROPPED.
        """
        body = {"code": code, "device": device} | ({"drop_guest": True} if drop_guest else {})
        return await self.request("POST", f"/v1/login/{login_id}", token=guest_token, body=body)

    async def refresh(self, refresh_token: str) -> Json:
        """{"tokens", "account"}; the refresh token is spent. Raises WhistError REFRESH_INVALID, REFRESH_REUSED."""
        return await self.request("POST", "/v1/tokens", body={"refresh_token": refresh_token})


def _json(answer: httpx.Response) -> Json:
    if not answer.content:
        return {}
    try:
        value = answer.json()
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise WhistError("NOT_WHIST", answer.status_code, {"url": str(answer.url)})
    return value


def _problem(answer: httpx.Response) -> WhistError:
    """RFC 9457: `code` is ours, `facts` say more, `request_id` finds a fault in the server's log."""
    try:
        problem = answer.json()
    except ValueError:
        problem = None
    if not isinstance(problem, Mapping) or "code" not in problem:
        return WhistError(f"HTTP_{answer.status_code}", answer.status_code, {"url": str(answer.url)})
    told = problem.get("facts")
    facts = dict(told) if isinstance(told, Mapping) else {}
    if answer.is_server_error and "request_id" in problem:
        facts["request_id"] = problem["request_id"]
    return WhistError(str(problem["code"]), answer.status_code, facts)


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__
