"""All sockets of this gateway: who they are, how many an account may have, when they must go."""

import asyncio
from collections.abc import Mapping

import structlog
from picows import WSTransport

from libs.chassis.clock import Clock
from libs.chassis.entropy import Entropy
from libs.chassis.errors import DomainError, Kind
from libs.wire import frames
from libs.wire.frames import CloseCode
from libs.wire.neighbours import Neighbour
from services.gateway import ports
from services.gateway.limits import Limits
from services.gateway.metrics import accounts_connected, frames_in, frames_out, sockets_open
from services.gateway.network import network_of
from services.gateway.ports import Locator, OpenPeer, QueueWatch
from services.gateway.sessions import Bearer, Sessions
from services.gateway.settings import GatewaySettings
from services.gateway.socket.company import Company
from services.gateway.socket.connection import Connection
from services.gateway.socket.inbox import Inbox
from services.gateway.socket.tables import Tables
from services.gateway.socket.watches import Watches
from services.gateway.tasks import Tasks

log = structlog.get_logger()

SOCKETS_PER_ACCOUNT = 5
HEARTBEAT_SECONDS = 15.0
DRAIN_SECONDS = 2.0  # over which sockets are sent away, so that they do not all come back at once
DRAIN_STEPS = 40


class Hub:
    """The sockets' registry. `tables` routes their frames, `watches` their places in matchmaking, `company`
    friends' tables.
    """

    def __init__(
        self,
        settings: GatewaySettings,
        *,
        sessions: Sessions,
        tables: Tables,
        watches: Watches,
        company: Company,
        clock: Clock,
        entropy: Entropy,
        tasks: Tasks,
    ) -> None:
        self.clock = clock
        self.tables = tables
        self.watches = watches
        self.company = company
        self.inbox = Inbox()
        self.frames_in = 0
        self.frames_out = 0
        self.draining = False
        self._settings = settings
        self._sessions = sessions
        self._entropy = entropy
        self._tasks = tasks
        # Numbers start at random, so that two gateways' sockets are not taken for each other in a worker's frames.
        self._number = entropy.below(1 << 31) << 20
        self._sockets: dict[int, Connection] = {}
        self._accounts: dict[bytes, list[Connection]] = {}
        self._networks: dict[str, int] = {}
        traced = bool(settings.otlp_endpoint) and settings.trace_ratio > 0
        self._trace_every = round(1 / settings.trace_ratio) if traced else 0
        self._untraced = 0

    # ---- sockets ----

    def connection(self) -> Connection:
        """A new socket, on its way through the handshake."""
        self._number += 1
        return Connection(self, self._number, rate=self._settings.socket_rate, burst=self._settings.socket_burst)

    def opened(self, connection: Connection, transport: WSTransport) -> None:
        """Count it, by network too; one too many of a network is closed."""
        peer = transport.underlying_transport.get_extra_info("peername")
        forwarded = transport.request.headers.getall("X-Forwarded-For", [])
        host = peer[0] if isinstance(peer, tuple) else ""
        connection.network = network_of(host, forwarded, self._settings.trusted_proxies)
        self._sockets[connection.number] = connection
        sockets_open.set(len(self._sockets))
        count = self._networks[connection.network] = self._networks.get(connection.network, 0) + 1
        if self.draining:
            connection.close(CloseCode.RESTART, "restarting")
        elif self._settings.sockets_per_network and count > self._settings.sockets_per_network:
            connection.close(CloseCode.POLICY, "too many sockets of this network")

    def admitted(self, connection: Connection) -> None:
        """The socket's account is known; an account's oldest socket makes room for a sixth."""
        sockets = self._accounts.setdefault(connection.account_id, [])
        sockets.append(connection)
        accounts_connected.set(len(self._accounts))
        if len(sockets) > SOCKETS_PER_ACCOUNT:
            sockets[0].close(CloseCode.SUPERSEDED, "too many sockets of this account")

    def gone(self, connection: Connection) -> None:
        """Forget a socket. Idempotent."""
        if self._sockets.pop(connection.number, None) is None:
            return
        sockets_open.set(len(self._sockets))
        left = self._networks[connection.network] - 1
        if left:
            self._networks[connection.network] = left
        else:
            del self._networks[connection.network]
        for table in list(connection.tables.values()):
            self.tables.unfollow(connection, table)
        self.watches.forget(connection)
        self.company.forget(connection)
        sockets = self._accounts.get(connection.account_id)
        if sockets is not None and connection in sockets:
            sockets.remove(connection)
            if not sockets:
                del self._accounts[connection.account_id]
        accounts_connected.set(len(self._accounts))

    # ---- tokens ----

    def bearer_now(self, token: str) -> Bearer | None:
        """What the token says; None when that cannot be told without waiting, or when it does not stand."""
        try:
            return self._sessions.verify(token)
        except DomainError:
            return None

    def check_later(self, connection: Connection, token: str) -> None:
        """Check a token that needs a new key, and let the socket know."""
        self._tasks.spawn(self._check(connection, token))

    async def _check(self, connection: Connection, token: str) -> None:
        try:
            bearer = await self._sessions.verified(token)
        except DomainError as error:
            if error.kind is Kind.UNAVAILABLE:
                connection.delay()
            else:
                connection.reject(error.reason)
        else:
            connection.welcome(bearer)

    def revoked(self, session_id: bytes) -> None:
        """Close the sockets of a session that has ended (ASVS 7.4.1)."""
        for connection in [each for each in self._sockets.values() if each.session_id == session_id]:
            connection.close(CloseCode.TOKEN, "session ended")

    def welcome_frame(self, bearer: Bearer) -> bytes:
        """The answer to a good Hello."""
        return frames.encode(
            frames.Welcome(
                account=bearer.account_id.hex(),
                guest=bearer.guest,
                now=self.now_ms(),
                heartbeat_ms=int(HEARTBEAT_SECONDS * 1000),
                token_expires=int(bearer.expires_at.timestamp() * 1000),
            )
        )

    # ---- time and traces ----

    def now_ms(self) -> int:
        """Unix milliseconds."""
        return int(self.clock.now().timestamp() * 1000)

    def now_ns(self) -> int:
        """Unix nanoseconds, for spans."""
        return int(self.clock.now().timestamp() * 1e9)

    def sample(self) -> str:
        """A `traceparent` for every so many-th move, empty for the others: no span is made before it is wanted."""
        if not self._trace_every:
            return ""
        self._untraced += 1
        if self._untraced < self._trace_every:
            return ""
        self._untraced = 0
        return f"00-{self._entropy.bytes(16).hex()}-{self._entropy.bytes(8).hex()}-01"

    # ---- once a second, and the end ----

    def sweep(self) -> None:
        """Carry the counts to the metrics and let the tables look after their commands."""
        frames_in.inc(self.frames_in)
        frames_out.inc(self.frames_out)
        self.frames_in = self.frames_out = 0
        self.tables.sweep()

    async def drain(self) -> None:
        """Send every socket away within two seconds; each comes back elsewhere with `since`."""
        self.draining = True
        leaving = list(self._sockets.values())
        step = -(-len(leaving) // DRAIN_STEPS)
        for start in range(0, len(leaving), step or 1):
            for connection in leaving[start : start + step]:
                connection.close(CloseCode.RESTART, "restarting")
            await asyncio.sleep(DRAIN_SECONDS / DRAIN_STEPS)


def build_hub(
    settings: GatewaySettings,
    *,
    sessions: Sessions,
    locator: Locator,
    queue: QueueWatch,
    friends: ports.Company,
    limits: Limits,
    open_peer: OpenPeer,
    neighbours: Mapping[str, Neighbour],
    clock: Clock,
    entropy: Entropy,
    tasks: Tasks,
) -> Hub:
    """A hub with its tables and watches."""
    tables = Tables(
        locator=locator,
        open_peer=open_peer,
        neighbours=neighbours,
        clock=clock,
        entropy=entropy,
        tasks=tasks,
    )
    return Hub(
        settings,
        sessions=sessions,
        tables=tables,
        watches=Watches(queue, entropy, tasks),
        company=Company(friends, limits, entropy, tasks),
        clock=clock,
        entropy=entropy,
        tasks=tasks,
    )
