"""The only file that names concrete classes: how the gateway is put together, started and stopped."""

import asyncio
import socket

import structlog

from libs.chassis.descriptors import raise_limit
from libs.chassis.rpc.peer import Peer
from libs.chassis.service import Chassis, Job, Service, Spec
from libs.chassis.settings import WrongSettings
from services.gateway.admin import app as admin
from services.gateway.admin import operators
from services.gateway.clients import Clients
from services.gateway.consumers import listeners
from services.gateway.http import app as public
from services.gateway.http.parts import Parts
from services.gateway.http.server import HttpServer, bind
from services.gateway.limits import Limits
from services.gateway.sessions import Sessions
from services.gateway.settings import GatewaySettings
from services.gateway.socket.hub import build_hub
from services.gateway.socket.listener import SocketListener
from services.gateway.tasks import Tasks

log = structlog.get_logger()

SWEEP_SECONDS = 1.0
ADMIN_CONCURRENCY = 20


class Gateway:
    """The gateway's listeners and what is behind them, as one thing to start, drain and close."""

    def __init__(self, chassis: Chassis[GatewaySettings]) -> None:
        settings = self._settings = chassis.settings
        self._chassis = chassis
        self._tasks = Tasks()
        self._limits = Limits(settings, chassis.clock)
        self._clients = Clients(
            auth=chassis.peer("auth", settings.auth_target),
            matchmaking=chassis.peer("matchmaking", settings.matchmaking_target),
            tables=chassis.peer("tables", settings.tables_target),
            wallet=chassis.peer("wallet", settings.wallet_target),
            leagues=chassis.peer("leagues", settings.leagues_target),
            coach=chassis.peer("coach", settings.coach_target),
            open_peer=self._open_worker,
        )
        self.sessions = Sessions(self._clients.jwks, chassis.clock)
        self.hub = build_hub(
            settings,
            sessions=self.sessions,
            locator=self._clients,
            queue=self._clients,
            friends=self._clients,
            limits=self._limits,
            open_peer=self._open_worker,
            neighbours=chassis.neighbours,
            clock=chassis.clock,
            entropy=chassis.entropy,
            tasks=self._tasks,
        )
        self._sockets = SocketListener(self.hub, frozenset(settings.allowed_origins))
        self._http: HttpServer | None = None
        self._admin: HttpServer | None = None

    def _open_worker(self, address: str) -> Peer:
        return Peer(address, self._chassis.name, self._chassis.tls, server_name="tables")

    @property
    def http_port(self) -> int:
        """Where REST is; 0 before `start`."""
        return self._http.port if self._http else 0

    @property
    def socket_port(self) -> int:
        """Where sockets are; 0 before `start`."""
        return self._sockets.port

    @property
    def admin_port(self) -> int:
        """Where operators are; 0 when nowhere."""
        return self._admin.port if self._admin else 0

    def revoked(self, session_id: bytes) -> None:
        """A session has ended: its tokens are refused and its sockets closed."""
        self.sessions.revoke(session_id)
        self.hub.revoked(session_id)

    async def start(self) -> None:
        """Open all listeners, or none. Raises WrongSettings for an address, the web client or the operators' file."""
        open_files = raise_limit()
        try:
            await self._listen()
        except BaseException:
            await self._sockets.close()
            await self.close()
            raise
        ports = {"http": self.http_port, "socket": self.socket_port, "admin": self.admin_port}
        log.info("gateway_listens", **ports, open_files=open_files)

    async def _listen(self) -> None:
        web_dir = self._settings.web_dir
        if web_dir is not None and not (web_dir / "index.html").is_file():
            raise WrongSettings(f"WHIST_WEB_DIR: {web_dir} holds no index.html")
        await self._sockets.start(_bound("WHIST_SOCKET_LISTEN", self._settings.socket_listen))
        parts = Parts(
            settings=self._settings,
            clients=self._clients,
            sessions=self.sessions,
            limits=self._limits,
            clock=self._chassis.clock,
            entropy=self._chassis.entropy,
            socket_port=self._sockets.port,
        )
        self._http = HttpServer(public.build(parts), concurrency=self._settings.http_concurrency)
        await self._http.start(_bound("WHIST_HTTP_LISTEN", self._settings.http_listen))
        if self._settings.admin_listen:
            self._admin = HttpServer(
                admin.build(parts, operators.read(self._settings.operators_file)), concurrency=ADMIN_CONCURRENCY
            )
            await self._admin.start(_bound("WHIST_ADMIN_LISTEN", self._settings.admin_listen))

    async def sweep(self) -> None:
        """Once a second: counts, old commands, silent workers."""
        self.hub.sweep()

    async def drain(self) -> None:
        """Refuse handshakes, send sockets away over two seconds, finish requests."""
        await self._sockets.close()
        await self.hub.drain()

    async def close(self) -> None:
        """Listeners and streams."""
        await asyncio.gather(*(server.close() for server in (self._http, self._admin) if server is not None))
        await self._tasks.close()


def _bound(variable: str, listen: str) -> socket.socket:
    try:
        return bind(listen)
    except OSError as error:
        raise WrongSettings(f"{variable}: {listen}: {error}") from error


def wire(chassis: Chassis[GatewaySettings]) -> Service:
    """Put the gateway together."""
    return service_of(Gateway(chassis))


def service_of(gateway: Gateway) -> Service:
    """What the run loop needs of a gateway."""
    return Service(
        listeners=listeners(gateway.revoked, gateway.sessions.upgraded),
        jobs=[Job(name="sweep", run=gateway.sweep, every_seconds=SWEEP_SECONDS)],
        start=gateway.start,
        drain=gateway.drain,
        close=gateway.close,
    )


SPEC = Spec(name="gateway", settings=GatewaySettings, wire=wire)
