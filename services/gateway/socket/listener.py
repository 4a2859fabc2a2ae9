"""The sockets' own port: who may shake hands (reliability N1, N3)."""

import asyncio
import logging
import socket
from http import HTTPStatus

from picows import (
    WSAutoPingStrategy,
    WSListener,
    WSUpgradeRequest,
    WSUpgradeResponse,
    WSUpgradeResponseWithListener,
    ws_create_server,
)

from libs.wire.frames import FRAME_MAX_BYTES
from services.gateway.metrics import handshakes_refused
from services.gateway.socket.hub import HEARTBEAT_SECONDS, Hub

PATH = "/v1/ws"
HANDSHAKE_SECONDS = 10.0
# The kernel's, for each socket: left to itself it keeps up to 4 MiB for who does not read before our own bound is met.
SEND_BUFFER_BYTES = 64 * 1024
PONG_SECONDS = 15.0  # picows allows no more than the heartbeat; a dead peer is gone after 30 s

# picows logs each connection and each client's protocol error; both are counted here instead.
_quiet = logging.getLogger("whist.gateway.socket")
_quiet.setLevel(logging.CRITICAL)


class SocketListener:
    """Accepts WebSockets at `PATH` from allowed pages, and from programs, which send no Origin."""

    def __init__(self, hub: Hub, allowed_origins: frozenset[str]) -> None:
        self._hub = hub
        self._allowed_origins = allowed_origins
        self._server: asyncio.Server | None = None
        self.port = 0

    async def start(self, listening: socket.socket) -> None:
        """Serve on a bound socket."""
        self.port = listening.getsockname()[1]
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)  # those it accepts inherit it
        self._server = await ws_create_server(
            self._shake_hands,
            sock=listening,
            websocket_handshake_timeout=HANDSHAKE_SECONDS,
            enable_auto_ping=True,
            auto_ping_idle_timeout=HEARTBEAT_SECONDS,
            auto_ping_reply_timeout=PONG_SECONDS,
            auto_ping_strategy=WSAutoPingStrategy.PING_WHEN_IDLE,
            max_frame_size=FRAME_MAX_BYTES,
            read_buffer_init_size=2 * 1024,
            logger_name=_quiet,
        )

    def _shake_hands(self, request: WSUpgradeRequest) -> WSListener | WSUpgradeResponseWithListener:
        if request.path.partition(b"?")[0] != PATH.encode():
            return _refusal(HTTPStatus.NOT_FOUND, "path")
        # A page cannot leave Origin out; programs can, and are known by the token of their first frame alone.
        origins = request.headers.getall("Origin", [])
        if origins and (len(origins) > 1 or origins[0] not in self._allowed_origins):
            return _refusal(HTTPStatus.FORBIDDEN, "origin")
        if self._hub.draining:
            return _refusal(HTTPStatus.SERVICE_UNAVAILABLE, "draining")
        return self._hub.connection()

    async def close(self) -> None:
        """Stop accepting; open sockets are the hub's."""
        if self._server is not None:
            self._server.close()


def _refusal(status: HTTPStatus, reason: str) -> WSUpgradeResponseWithListener:
    handshakes_refused.labels(reason).inc()
    return WSUpgradeResponseWithListener(WSUpgradeResponse.create_error_response(status, status.phrase.encode()), None)
