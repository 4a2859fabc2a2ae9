"""uvicorn inside our own run loop: no signal handlers of its own, limits on what slow clients can hold."""

import asyncio
import contextlib
import socket
from collections.abc import Iterator

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 10.0
KEEP_ALIVE_SECONDS = 15
GRACEFUL_SECONDS = 5
HEADERS_MAX_BYTES = 16 * 1024


class PatientProtocol(H11Protocol):
    """HTTP/1.1 whose connections must have sent a request's headers within ten seconds (reliability N3)."""

    _header_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        super().connection_made(transport)
        self._await_headers()

    def data_received(self, data: bytes) -> None:
        if self._header_timer is None and (self.cycle is None or self.cycle.response_complete):
            self._await_headers()
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def _await_headers(self) -> None:
        self._header_timer = self.loop.call_later(HEADER_SECONDS, self._too_slow)

    def _too_slow(self) -> None:
        self._header_timer = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()

    def _stop_timer(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """The run loop of the chassis handles signals."""
        yield


class HttpServer:
    """One application on one bound socket."""

    def __init__(self, app: ASGIApp, *, concurrency: int) -> None:
        self._server = _Server(
            uvicorn.Config(
                app,
                http=PatientProtocol,
                ws="none",
                lifespan="off",
                log_config=None,
                log_level="error",  # it warns of each client's nonsense, which is answered with 400 and no news of ours
                access_log=False,
                proxy_headers=False,
                server_header=False,
                limit_concurrency=concurrency,
                timeout_keep_alive=KEEP_ALIVE_SECONDS,
                timeout_graceful_shutdown=GRACEFUL_SECONDS,
                h11_max_incomplete_event_size=HEADERS_MAX_BYTES,
            )
        )
        self._serving: asyncio.Task[None] | None = None
        self.port = 0

    async def start(self, listening: socket.socket) -> None:
        """Serve on a bound and listening socket."""
        self.port = listening.getsockname()[1]
        self._serving = asyncio.create_task(self._server.serve(sockets=[listening]))

    async def close(self) -> None:
        """Let running requests finish, five seconds at most."""
        if self._serving is not None:
            self._server.should_exit = True
            await self._serving


def bind(listen: str) -> socket.socket:
    """A listening socket on ``host:port``. Raises OSError when the address cannot be had."""
    host, _, port = listen.rpartition(":")
    return socket.create_server((host, int(port)), backlog=1024)
