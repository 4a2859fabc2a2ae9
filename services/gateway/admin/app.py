"""The operators' application: routes by subject, and a document of them that operators alone may read (P82, N6)."""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from starlette.types import ASGIApp

from services.gateway.admin import accounts, acts, bench, tables
from services.gateway.admin.gate import Looks
from services.gateway.admin.operators import Operators
from services.gateway.http.document import DocumentedApp
from services.gateway.http.edge import Edge
from services.gateway.http.parts import Parts

DESCRIPTION = (
    "Acts of operators. Each needs a reason and an Idempotency-Key, is done once, and is written down for ever. "
    "Errors are RFC 9457 problems; decide by their code."
)

_document = APIRouter(prefix="/admin/v1")


@_document.get("/openapi.json", include_in_schema=False)
async def document(request: Request, operator: Looks) -> JSONResponse:
    """This API as OpenAPI."""
    plain: dict[str, Any] = request.app.openapi()
    return JSONResponse(plain)


def build(parts: Parts, operators: Operators) -> ASGIApp:
    """What the operators' listener serves."""
    app = DocumentedApp(title="Whist operators", description=DESCRIPTION, parts=parts)
    app.state.operators = operators
    for router in (_document, accounts.router, accounts.ledger, tables.router, acts.router, bench.router):
        app.include_router(router)
    return Edge(app, limits=parts.limits, clock=parts.clock, entropy=parts.entropy, trusted_proxies=0)
