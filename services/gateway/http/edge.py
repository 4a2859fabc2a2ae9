"""What surrounds every request: its id, its size and time, its limits, headers of the answer, the metric."""

import asyncio
from collections.abc import Mapping
from http import HTTPStatus

import structlog
from opentelemetry.trace import SpanKind
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from libs.chassis.clock import Clock
from libs.chassis.entropy import Entropy
from libs.chassis.errors import DomainError
from libs.chassis.telemetry.tracing import span
from services.gateway.http import leagues
from services.gateway.http.problems import of_domain, problem
from services.gateway.limits import Limits
from services.gateway.metrics import http_seconds
from services.gateway.network import network_of

log = structlog.get_logger()

BODY_MAX_BYTES = 64 * 1024
# An offline game's record, whole.
BODY_MAX_BYTES_AT: Mapping[str, int] = {leagues.OFFLINE_GAMES: leagues.RECORD_BYTES_MAX}
BODY_SECONDS = 10.0
# Read and thrown away before a body is called too big: a connection closed on unread bytes loses the answer.
BODY_WASTE_MAX_BYTES = 16 * 1024 * 1024
HEADERS_MAX_BYTES = 16 * 1024  # with the path; uvicorn's own limit knows only heads that come in pieces

BASE_HEADERS = {
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"content-security-policy": b"default-src 'none'; frame-ancestors 'none'",
}


class _TooBig(Exception):
    """The body is larger than any of ours."""


class _HeadTooBig(Exception):
    """So are the path and the headers."""


class Edge:
    """ASGI middleware around the whole application; nothing that happens inside becomes more than a 500."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        limits: Limits,
        clock: Clock,
        entropy: Entropy,
        trusted_proxies: int,
    ) -> None:
        self._app = app
        self._limits = limits
        self._clock = clock
        self._entropy = entropy
        self._trusted_proxies = trusted_proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        # A caller's own traceparent is not heard: the outside does not decide what is recorded here.
        with span("request", kind=SpanKind.SERVER) as recorded:
            answered = await self._answered(scope, receive, send)
            recorded.update_name(answered)

    async def _answered(self, scope: Scope, receive: Receive, send: Send) -> str:
        """Answer one request; returns its method and route."""
        started = self._clock.monotonic()
        request_id = self._entropy.uuid7().hex
        state = scope.setdefault("state", {})
        state["request_id"] = request_id
        state["network"] = self._network(scope)
        answer = _Answer(send, request_id)
        try:
            self._limits.network(state["network"])
            _check_head(scope)
            body = await _whole_body(receive, BODY_MAX_BYTES_AT.get(scope["path"], BODY_MAX_BYTES))
            await self._app(scope, _replay(body, receive), answer.send)
        except DomainError as error:
            await of_domain(request_id, error)(scope, receive, answer.send)
        except _TooBig:
            refusal = problem(request_id, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "BODY_TOO_BIG", headers=_CLOSE)
            await refusal(scope, receive, answer.send)
        except _HeadTooBig:
            status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
            await problem(request_id, status, "HEADERS_TOO_BIG", headers=_CLOSE)(scope, receive, answer.send)
        except TimeoutError:
            refusal = problem(request_id, HTTPStatus.REQUEST_TIMEOUT, "BODY_TOO_SLOW", headers=_CLOSE)
            await refusal(scope, receive, answer.send)
        except Exception:  # a process's edge: what is not ours to name is logged and hidden (CONTRIBUTING, style 3)
            log.exception("request_failed", request_id=request_id)
            if answer.status == 0:
                refusal = problem(request_id, HTTPStatus.INTERNAL_SERVER_ERROR, "INTERNAL")
                await refusal(scope, receive, answer.send)
        finally:
            route = getattr(scope.get("route"), "path", "other")
            method = scope["method"] if scope["method"] in _METHODS else "other"
            http_seconds.labels(route, method, str(answer.status)).observe(self._clock.monotonic() - started)
        return f"{method} {route}"

    def _network(self, scope: Scope) -> str:
        client = scope.get("client")
        forwarded = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for"]
        return network_of(client[0] if client else "", forwarded, self._trusted_proxies)


_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_CLOSE: Mapping[str, str] = {"Connection": "close"}


class _Answer:
    """Adds the headers of every answer, and remembers its status."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._request_id = request_id
        self.status = 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = list(message.get("headers", ()))
            present = {name.lower() for name, _ in headers}
            headers += [(name, value) for name, value in BASE_HEADERS.items() if name not in present]
            headers.append((b"x-request-id", self._request_id.encode()))
            if b"cache-control" not in present:
                headers.append((b"cache-control", b"no-store"))
            message = {**message, "headers": headers}
        await self._send(message)


def _check_head(scope: Scope) -> None:
    size = len(scope.get("raw_path", b"")) + len(scope["query_string"])
    size += sum(len(name) + len(value) + 4 for name, value in scope["headers"])  # colon, space, end of line
    if size > HEADERS_MAX_BYTES:
        raise _HeadTooBig


async def _whole_body(receive: Receive, most: int) -> bytes:
    """The body, complete before anything is done with it. Raises _TooBig, or TimeoutError after ten seconds."""
    parts: list[bytes] = []
    size = 0
    async with asyncio.timeout(BODY_SECONDS):
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return b""
            part = message.get("body", b"")
            size += len(part)
            more = message.get("more_body", False)
            if size <= most:
                parts.append(part)
                if not more:
                    return b"".join(parts)
            elif not more or size > BODY_WASTE_MAX_BYTES:
                raise _TooBig


def _replay(body: bytes, receive: Receive) -> Receive:
    sent = False

    async def again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
