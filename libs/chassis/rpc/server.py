"""The gRPC server of a service: listeners, limits, health in two parts (`live` and `ready`)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from libs.chassis.clock import Clock
from libs.chassis.rpc.interceptors import Gatekeeper
from libs.chassis.rpc.peer import MESSAGE_MAX
from libs.chassis.rpc.tls import TlsFiles
from libs.chassis.settings import WrongSettings

Registrar = Callable[[grpc.aio.Server], None]


class Server:
    """Starts serving NOT ready; `ready()` after the service has what it needs."""

    def __init__(
        self,
        service: str,
        allow: Mapping[str, frozenset[str]],
        clock: Clock,
        tls: TlsFiles | None = None,
    ) -> None:
        self._tls = tls
        self._server = grpc.aio.server(
            interceptors=[Gatekeeper(service, allow, clock, tls=tls is not None)],
            options=(
                ("grpc.max_receive_message_length", MESSAGE_MAX),
                ("grpc.keepalive_permit_without_calls", 1),
                ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
                ("grpc.http2.max_ping_strikes", 0),
                ("grpc.so_reuseport", 0),
            ),
        )
        self._health = health.aio.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        self._health_server: grpc.aio.Server | None = None
        self.port = 0
        self.health_port = 0

    async def start(self, listen: str, registrars: Sequence[Registrar], health_listen: str = "") -> None:
        """Listen on ``host:port`` or ``unix:/path``; probes, which have no certificate, on `health_listen`.

        Raises WrongSettings when an address cannot be had; nothing listens then.
        """
        for register in registrars:
            register(self._server)
        with _named("WHIST_GRPC_LISTEN", listen):
            self.port = (
                self._server.add_insecure_port(listen)
                if self._tls is None
                else self._server.add_secure_port(listen, self._tls.server())
            )
        if health_listen:
            self._health_server = grpc.aio.server()
            health_pb2_grpc.add_HealthServicer_to_server(self._health, self._health_server)
            with _named("WHIST_HEALTH_LISTEN", health_listen):
                self.health_port = self._health_server.add_insecure_port(health_listen)
        await self._set("live", serving=True)
        await self._set("ready", serving=False)
        await self._server.start()
        if self._health_server is not None:
            await self._health_server.start()

    async def ready(self, *, serving: bool = True) -> None:
        """Whether new calls should be sent here; liveness is not touched."""
        await self._set("ready", serving=serving)
        await self._set("", serving=serving)

    async def _set(self, part: str, *, serving: bool) -> None:
        states = health_pb2.HealthCheckResponse
        await self._health.set(part, states.SERVING if serving else states.NOT_SERVING)

    async def stop(self, grace_seconds: float) -> None:
        """Refuse new calls, let running ones finish for `grace_seconds`, then cancel them."""
        await self._server.stop(grace_seconds)
        if self._health_server is not None:
            await self._health_server.stop(None)


@contextmanager
def _named(variable: str, listen: str) -> Iterator[None]:
    """Say which setting gRPC's complaint is about."""
    try:
        yield
    except RuntimeError as error:
        raise WrongSettings(f"{variable}: {listen} cannot be had: {error}") from error
