"""A service as a value: what its wiring hands to the run loop, and what the chassis hands to its wiring."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import structlog

from libs.chassis.clock import Clock, SystemClock
from libs.chassis.db.database import Database, Store, Transaction
from libs.chassis.db.migrate import Migrations
from libs.chassis.entropy import Entropy, SystemEntropy
from libs.chassis.events.bus import Bus, Listener, Subscription
from libs.chassis.events.kafka import KafkaBus
from libs.chassis.events.relay import Relay
from libs.chassis.rpc.peer import Peer
from libs.chassis.rpc.server import Registrar
from libs.chassis.rpc.tls import TlsFiles
from libs.chassis.settings import ServiceSettings

log = structlog.get_logger()

T = TypeVar("T", bound=Transaction)
S = TypeVar("S", bound=ServiceSettings)


async def _nothing() -> None:
    """The default hook."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Something done again and again: `run` each `every_seconds`, or once and for as long as it runs when that is 0.

    A run that raises is logged and counted, and comes again: after a second, then after longer, a minute or its period
    at most.
    """

    name: str
    run: Callable[[], Awaitable[object]]
    every_seconds: float = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What a wiring builds."""

    registrars: Sequence[Registrar] = ()
    # Full gRPC method -> callers that may use it; what is not named is refused to everybody.
    allow: Mapping[str, frozenset[str]] = field(default_factory=dict)
    subscriptions: Sequence[Subscription] = ()
    listeners: Sequence[Listener] = ()
    jobs: Sequence[Job] = ()
    # After the gRPC server listens (its address is known), before the service is ready.
    start: Callable[[], Awaitable[object]] = _nothing
    # On SIGTERM, while calls are still served: hand over what others will carry on.
    drain: Callable[[], Awaitable[object]] = _nothing
    # After the server has stopped.
    close: Callable[[], Awaitable[object]] = _nothing


class Chassis(Generic[S]):
    """What a wiring may draw on. One per service, also when several share a process."""

    def __init__(
        self,
        name: str,
        settings: S,
        *,
        bus: Bus | None = None,
        neighbours: dict[str, Any] | None = None,
        clock: Clock | None = None,
        entropy: Entropy | None = None,
    ) -> None:
        self.name = name
        self.settings = settings
        self.clock: Clock = clock or SystemClock()
        self.entropy: Entropy = entropy or SystemEntropy()
        self.tls = TlsFiles.of(settings)
        # What services that share this process offer each other without a network between, by address.
        self.neighbours: dict[str, Any] = {} if neighbours is None else neighbours
        self.bus: Bus = bus or KafkaBus(settings.kafka_bootstrap, idempotent=settings.kafka_idempotent)
        self.database = Database.open(settings.database_url, name, pool=settings.database_pool)
        # For proofs that read whole tables, which take as long as they take and must not use up the others' pool.
        self.proofs_database = Database.open(settings.database_url, name, pool=2, command_seconds=None)
        self.relay = Relay(self.database, self.bus)
        # The address callers reach this process at; known when `Service.start` runs.
        self.address = ""
        self._peers: dict[str, Peer] = {}

    def store(self, kind: type[T]) -> Store[T]:
        """Transactions of this service's own kind."""
        return Store(self.database, kind, self.entropy, self.relay.wake)

    def peer(self, service: str, target: str) -> Peer:
        """One channel a target, closed with the service; its certificate must be that of `service`."""
        if target not in self._peers:
            self._peers[target] = Peer(target, self.name, self.tls, server_name=service)
        return self._peers[target]

    def subscribe(self, service: Service) -> None:
        """Tell the bus what `service` consumes. Before any relay on this bus runs: what nobody consumes is gone."""
        for subscription in service.subscriptions:
            self.bus.subscribe(subscription)
        for listener in service.listeners:
            self.bus.listen(listener)

    async def close(self) -> None:
        """Channels and connections."""
        for peer in self._peers.values():
            await peer.close()
        await self.database.close()
        await self.proofs_database.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec(Generic[S]):
    """A service's name, settings, schema and wiring: all that a process needs to run it."""

    name: str
    settings: type[S]
    wire: Callable[[Chassis[S]], Service]
    migrations: Migrations | None = None

    @asynccontextmanager
    async def open(
        self, settings: S, *, bus: Bus | None = None, neighbours: dict[str, Any] | None = None
    ) -> AsyncIterator[tuple[Chassis[S], Service]]:
        """Wire the service and subscribe what it consumes; closes its channels and connections at the end."""
        chassis = Chassis(self.name, settings, bus=bus, neighbours=neighbours)
        try:
            service = self.wire(chassis)
            chassis.subscribe(service)
            yield chassis, service
        finally:
            await chassis.close()
