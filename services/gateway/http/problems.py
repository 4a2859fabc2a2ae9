"""Every refusal as RFC 9457 problem+json with a stable `code`; an unknown fault shows its request id alone."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException

from libs.chassis.errors import DomainError, Kind

log = structlog.get_logger()

MEDIA_TYPE = "application/problem+json"
STATUSES = {
    Kind.NOT_FOUND: HTTPStatus.NOT_FOUND,
    Kind.INVALID: HTTPStatus.BAD_REQUEST,
    Kind.CONFLICT: HTTPStatus.CONFLICT,
    Kind.FORBIDDEN: HTTPStatus.FORBIDDEN,
    Kind.UNAUTHENTICATED: HTTPStatus.UNAUTHORIZED,
    Kind.EXHAUSTED: HTTPStatus.TOO_MANY_REQUESTS,
    Kind.UNAVAILABLE: HTTPStatus.SERVICE_UNAVAILABLE,
}


class ProblemResponse(JSONResponse):
    """JSON whatever a refusal repeats of what was sent: half a surrogate pair, which JSON can escape, is no text."""

    media_type = MEDIA_TYPE

    def render(self, content: Any) -> bytes:
        return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(errors="replace")


class Problem(BaseModel):
    """RFC 9457. Clients decide and translate by `code`, never by text."""

    model_config = ConfigDict(extra="allow")

    type: str = "about:blank"
    title: str
    status: int
    code: str
    request_id: str
    facts: dict[str, Any] | None = None


def problem(
    request_id: str,
    status: int,
    code: str,
    facts: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """A problem document as a response."""
    body = Problem(
        title=HTTPStatus(status).phrase,
        status=status,
        code=code,
        request_id=request_id,
        facts=dict(facts) if facts else None,
    )
    return ProblemResponse(body.model_dump(exclude_none=True), status, headers=dict(headers or {}))


def of_domain(request_id: str, error: DomainError) -> JSONResponse:
    """A domain error's problem: status by kind, code = reason."""
    headers = {}
    if error.kind is Kind.UNAUTHENTICATED:
        headers["WWW-Authenticate"] = "Bearer"
    if error.kind in (Kind.EXHAUSTED, Kind.UNAVAILABLE):
        wait = error.facts.get("retry_after_seconds", 1)
        headers["Retry-After"] = str(wait if isinstance(wait, int) else 1)
    return problem(request_id, STATUSES[error.kind], error.reason, error.facts, headers)


def install(app: FastAPI) -> None:
    """Map each kind of exception once."""

    @app.exception_handler(DomainError)
    async def on_domain_error(request: Request, error: DomainError) -> JSONResponse:
        return of_domain(request.state.request_id, error)

    @app.exception_handler(RequestValidationError)
    async def on_invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        # What was sent is not repeated: it may hold a token or a code.
        fields = [{"at": [str(part) for part in each["loc"]], "what": each["type"]} for each in error.errors()]
        return problem(request.state.request_id, HTTPStatus.UNPROCESSABLE_ENTITY, "INVALID_REQUEST", {"fields": fields})

    @app.exception_handler(Exception)
    async def on_fault(request: Request, _error: Exception) -> JSONResponse:
        # Raised again behind this answer; the edge logs it.
        return problem(request.state.request_id, HTTPStatus.INTERNAL_SERVER_ERROR, "INTERNAL")

    @app.exception_handler(HTTPException)
    async def on_http(request: Request, error: HTTPException) -> JSONResponse:
        code = HTTPStatus(error.status_code).name
        return problem(request.state.request_id, error.status_code, code, headers=error.headers)
