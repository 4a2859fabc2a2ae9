"""The public application: routes, pages, and the edge around them."""

from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.routing import APIRoute
from starlette.types import ASGIApp

from services.gateway.http import accounts, friends, games, models, pages, play
from services.gateway.http.edge import Edge
from services.gateway.http.parts import Parts, PartsOf
from services.gateway.http.problems import MEDIA_TYPE, Problem, install
from services.gateway.socket.hub import HEARTBEAT_SECONDS

VERSION = "0.1.0"
DESCRIPTION = (
    "Romanian Whist online. Errors are RFC 9457 problems; decide and translate by their code. "
    "Live tables are on the socket that GET /v1/config names."
)
# Any route may answer with a problem; the codes are in the contract of the service behind it.
PROBLEM: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "A refusal",
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
}

_config = APIRouter(prefix="/v1", tags=["config"])


@_config.get("/config")
async def config(request: Request, parts: PartsOf) -> models.Config:
    """Where sockets are, and how often they are pinged."""
    return models.Config(
        version=request.app.version,
        socket_url=parts.socket_url(request.url.hostname or "localhost"),
        heartbeat_ms=int(HEARTBEAT_SECONDS * 1000),
    )


class _Api(FastAPI):
    """FastAPI whose document knows problems instead of FastAPI's own validation errors."""

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            schema = super().openapi()
            schemas = schema.setdefault("components", {}).setdefault("schemas", {})
            schemas["Problem"] = Problem.model_json_schema()
            for name in ("HTTPValidationError", "ValidationError"):
                schemas.pop(name, None)
            for methods in schema["paths"].values():
                for route in methods.values():
                    route["responses"].pop(str(int(HTTPStatus.UNPROCESSABLE_ENTITY)), None)
        assert self.openapi_schema is not None
        return self.openapi_schema


def build(parts: Parts) -> ASGIApp:
    """The whole of what the public listener serves."""
    app = _Api(
        title="Whist",
        version=VERSION,
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        responses=PROBLEM,
        generate_unique_id_function=_operation_id,
        license_info={"name": "MIT"},
    )
    app.state.parts = parts
    install(app)
    for router in (_config, accounts.router, play.router, friends.router, games.router, *pages.routers(parts)):
        app.include_router(router)
    if parts.settings.web_dir is not None:
        pages.mount_web(app, parts.settings.web_dir)
    return Edge(
        app,
        limits=parts.limits,
        clock=parts.clock,
        entropy=parts.entropy,
        trusted_proxies=parts.settings.trusted_proxies,
    )


def _operation_id(route: APIRoute) -> str:
    """Names of generated clients: the route's function."""
    return route.name
