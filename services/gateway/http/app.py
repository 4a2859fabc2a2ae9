"""The public application: routes, pages, and the edge around them."""

from fastapi import APIRouter, Request
from starlette.types import ASGIApp

from services.gateway.http import accounts, friends, games, leagues, models, pages, personal, play, wallet
from services.gateway.http.document import DocumentedApp
from services.gateway.http.edge import Edge
from services.gateway.http.parts import Parts, PartsOf
from services.gateway.socket.hub import HEARTBEAT_SECONDS

DESCRIPTION = (
    "Romanian Whist online. Errors are RFC 9457 problems; decide and translate by their code. "
    "Live tables are on the socket that GET /v1/config names."
)

_config = APIRouter(prefix="/v1", tags=["config"])


@_config.get("/config")
async def config(request: Request, parts: PartsOf) -> models.Config:
    """Where sockets are, and how often they are pinged."""
    return models.Config(
        version=request.app.version,
        socket_url=parts.socket_url(request.url.hostname or "localhost"),
        heartbeat_ms=int(HEARTBEAT_SECONDS * 1000),
    )


def build(parts: Parts) -> ASGIApp:
    """The whole of what the public listener serves."""
    app = DocumentedApp(title="Whist", description=DESCRIPTION, parts=parts)
    for router in (
        _config,
        accounts.router,
        personal.router,
        play.router,
        friends.router,
        games.router,
        leagues.router,
        wallet.router,
        *pages.routers(parts),
    ):
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
