"""The product as processes on this machine, to be killed, frozen and cut off one by one.

Each service runs in a process of its own, as `make cluster` starts it: gRPC over mutual TLS, PostgreSQL, a
Kafka-protocol broker. A scenario names the services that it needs. Every process can be started again on the addresses
that it had.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg
import grpc
import httpx
from grpc_health.v1 import health_pb2, health_pb2_grpc

from libs.chassis import localca
from libs.chassis.db import embedded
from libs.chassis.db.embedded import EmbeddedPostgres
from libs.chassis.entropy import SystemEntropy
from libs.chassis.rpc.peer import Peer
from libs.chassis.rpc.tls import TlsFiles
from services.allinone.cluster import SINGLE, free_port
from services.allinone.home import Home
from services.allinone.wiring import SPECS
from tests.e2e.conftest import UNLIMITED
from tests.e2e.outages import Broker
from tests.faults.proxy import Proxy, proxied

START_SECONDS = 60.0
STOP_SECONDS = 30.0
PROBE_SECONDS = 0.05


@dataclass(slots=True, kw_only=True)
class Member:
    """One process, and all it takes to start it again as it was."""

    name: str
    service: str
    words: tuple[str, ...]
    environment: dict[str, str]
    log: Path
    process: asyncio.subprocess.Process | None = None

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.returncode is None

    @property
    def address(self) -> str:
        """Where its gRPC listens."""
        return self.environment["WHIST_GRPC_LISTEN"]

    async def start(self) -> None:
        """Start it; returns when it says that it is ready. Raises RuntimeError with its log's end."""
        with self.log.open("ab") as output:
            self.process = await asyncio.create_subprocess_exec(
                *self.words, env=self.environment, stdout=output, stderr=output, start_new_session=True
            )
        await self._ready()

    async def _ready(self) -> None:
        async with (
            asyncio.timeout(START_SECONDS),
            grpc.aio.insecure_channel(self.environment["WHIST_HEALTH_LISTEN"]) as channel,
        ):
            stub = health_pb2_grpc.HealthStub(channel)
            while self.alive:
                try:
                    answer = await stub.Check(health_pb2.HealthCheckRequest(service="ready"), timeout=1)
                except grpc.aio.AioRpcError:
                    pass
                else:
                    if answer.status == health_pb2.HealthCheckResponse.SERVING:
                        return
                await asyncio.sleep(PROBE_SECONDS)
        raise RuntimeError(f"{self.name} ended at start:\n{self.log.read_text()[-3000:]}")

    def send(self, number: signal.Signals) -> None:
        """A signal to the process."""
        assert self.process is not None
        self.process.send_signal(number)

    async def gone(self) -> None:
        """Wait for its end."""
        assert self.process is not None
        await self.process.wait()

    async def stop(self) -> None:
        """In order; killed when it takes too long. A frozen one is thawed first."""
        if not self.alive:
            return
        self.send(signal.SIGCONT)
        self.send(signal.SIGTERM)
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await self.gone()
        except TimeoutError:
            self.send(signal.SIGKILL)
            await self.gone()

    async def metric(self, sample: str) -> float:
        """The sum of its samples whose name and labels begin so, e.g. `whist_tables_live`; 0 when there is none."""
        async with httpx.AsyncClient() as client:
            text = (await client.get(f"http://{self.environment['WHIST_METRICS_LISTEN']}/metrics")).text
        return sum(float(line.rpartition(" ")[2]) for line in text.splitlines() if line.startswith(sample))


@dataclass(slots=True, kw_only=True)
class System:
    """Running processes by name: the services', gateway-1 … and worker-1 …."""

    home: Home
    database_url: str
    broker: Broker
    certificates: Mapping[str, TlsFiles]
    members: dict[str, Member] = field(default_factory=dict)

    def of(self, service: str) -> list[Member]:
        """The processes of a service that run."""
        return [each for each in self.members.values() if each.service == service and each.alive]

    @property
    def gateways(self) -> list[str]:
        """REST addresses of all gateways."""
        return [f"http://{each.environment['WHIST_HTTP_LISTEN']}" for each in self._all("gateway")]

    @property
    def sockets(self) -> list[tuple[str, str]]:
        """(name, socket address) of all gateways, in the order of `gateways`."""
        gateways = self._all("gateway")
        return [(each.name, f"ws://{each.environment['WHIST_SOCKET_LISTEN']}/v1/ws") for each in gateways]

    def _all(self, service: str) -> list[Member]:
        return [each for each in self.members.values() if each.service == service]

    @asynccontextmanager
    async def peer(self, member: Member, caller: str) -> AsyncIterator[Peer]:
        """That process as `caller` reaches it."""
        peer = Peer(f"ipv4:{member.address}", caller, self.certificates[caller], server_name=member.service)
        try:
            yield peer
        finally:
            await peer.close()

    @asynccontextmanager
    async def database(self) -> AsyncIterator[asyncpg.Connection]:
        """A connection of our own, which goes by no proxy."""
        connection = await asyncpg.connect(self.database_url.replace("+asyncpg", "", 1), timeout=10)
        try:
            yield connection
        finally:
            connection.terminate()

    def faults(self) -> dict[str, list[str]]:
        """By process, the lines of its log that no injected fault explains."""
        found = {}
        for name, member in self.members.items():
            lines = [line[:500] for line in member.log.read_text().splitlines() if any(f'"{w}"' in line for w in OURS)]
            if lines:
                found[name] = lines
        return found


# Events of our logs that mean a bug, whatever was done to the processes.
OURS = (
    "table_failed", "decide_failed", "draw_failed", "server_move_failed", "fold_failed", "void_failed", "game_voided",
    "entry_done_failed", "journal_failed",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Which processes a scenario needs. Auth is always there, a gateway's keys come from it.

    `database_url` is what services are given, by name ("tables", …) or "" for the others: behind a proxy, say.
    `own` is the environment of one process, `launcher` the words that start it instead of `-m services.<service>`.
    """

    services: tuple[str, ...] = ()
    gateways: int = 1
    workers: int = 2
    environment: Mapping[str, str] = field(default_factory=dict)
    database_url: Mapping[str, str] = field(default_factory=dict)
    own: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    launcher: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def names(self) -> list[tuple[str, str]]:
        """(name, service) of every process, callees first."""
        single = [(name, name) for name in ("auth", *(each for each in SINGLE if each in self.services))]
        workers = [(f"worker-{number}", "tables") for number in range(1, self.workers + 1)]
        gateways = [(f"gateway-{number}", "gateway") for number in range(1, self.gateways + 1)]
        return [*single, *workers, *gateways]


@asynccontextmanager
async def postgres(folder: Path) -> AsyncIterator[EmbeddedPostgres]:
    """A server with its data in `folder`, stopped at the block's end whatever was done to it."""
    server = await asyncio.to_thread(embedded.start, folder)
    try:
        yield server
    finally:
        await asyncio.to_thread(server.stop)


@asynccontextmanager
async def in_front_of(server: EmbeddedPostgres) -> AsyncIterator[Proxy]:
    """A proxy between services and their PostgreSQL; `by_way_of` it is their address."""
    async with proxied(server.socket_dir / ".s.PGSQL.5432") as proxy:
        yield proxy


def by_way_of(proxy: Proxy) -> str:
    """The database's URL through the proxy."""
    return f"postgresql+asyncpg://{embedded.USER}@127.0.0.1:{proxy.port}/{embedded.DATABASE}"


@asynccontextmanager
async def running(plan: Plan, folder: Path, *, url: str = "") -> AsyncIterator[System]:
    """Everything up and ready inside the block; stopped in order at its end.

    `url` is a database of the caller's, empty or not; without one PostgreSQL runs in `folder`.
    """
    home = Home(folder, SystemEntropy())
    broker = Broker()
    async with AsyncExitStack() as stack:
        if not url:
            url = (await stack.enter_async_context(postgres(folder / "postgres"))).url()
        stack.push_async_callback(broker.kill)
        await asyncio.gather(migrated(plan, url), broker.start())
        certificates = await asyncio.to_thread(localca.ensure, home.certificates, [spec.name for spec in SPECS])
        system = System(home=home, database_url=url, broker=broker, certificates=certificates)
        for member in _members(plan, system, folder):
            system.members[member.name] = member
        try:
            async with asyncio.TaskGroup() as group:
                for member in system.members.values():
                    group.create_task(member.start())
            yield system
        finally:
            for service in ("gateway", "matchmaking", "tables", "coach", "leagues", "wallet", "auth"):
                await asyncio.gather(*(member.stop() for member in system.of(service)))


async def migrated(plan: Plan, url: str) -> None:
    """The schemas of the plan's services."""
    wanted = {service for _, service in plan.names()}
    for spec in SPECS:
        if spec.migrations is not None and spec.name in wanted:
            await spec.migrations.upgrade(url)


def _members(plan: Plan, system: System, folder: Path) -> list[Member]:
    ports = {name: free_port() for name, _ in plan.names()}
    nowhere = free_port()
    home = system.home
    workers = ",".join(f"127.0.0.1:{port}" for name, port in ports.items() if name.startswith("worker"))
    logs = folder / "log"
    logs.mkdir(exist_ok=True)
    shared = {
        **os.environ,
        **UNLIMITED,
        **{f"WHIST_{name.upper()}_TARGET": f"ipv4:127.0.0.1:{ports.get(name, nowhere)}" for name in SINGLE},
        "WHIST_TABLES_TARGET": f"ipv4:{workers}",
        "WHIST_KAFKA_BOOTSTRAP": system.broker.address,
        "WHIST_BOT_PACE_SCALE": "0",
        "WHIST_SOCKET_RATE": "0",
        "WHIST_CODES_PER_NETWORK_HOUR": "100000",
        "WHIST_OPERATORS_FILE": str(home.operators),
        "WHIST_SIGNING_KEYS": str(home.signing_keys),
        "WHIST_PEPPER_FILE": str(home.secret("pepper")),
        "WHIST_KEYS_CREATE": "true",
        "WHIST_VIP_KEY": home.secret("vip-key").read_text(),
        "WHIST_MAIL_DIR": str(home.mails),
        **plan.environment,
    }
    members = []
    for name, service in plan.names():
        files = system.certificates[service]
        own = {
            "WHIST_DATABASE_URL": plan.database_url.get(service, plan.database_url.get("", system.database_url)),
            "WHIST_TLS_CERT": str(files.cert),
            "WHIST_TLS_KEY": str(files.key),
            "WHIST_TLS_CA": str(files.ca),
            "WHIST_GRPC_LISTEN": f"127.0.0.1:{ports[name]}",
            "WHIST_HEALTH_LISTEN": f"127.0.0.1:{free_port()}",
            "WHIST_METRICS_LISTEN": f"127.0.0.1:{free_port()}",
            "WHIST_WORKER_ID": name,
        }
        if service == "gateway":
            own |= {
                "WHIST_HTTP_LISTEN": f"127.0.0.1:{free_port()}",
                "WHIST_SOCKET_LISTEN": f"127.0.0.1:{free_port()}",
                "WHIST_ALLOWED_ORIGINS": json.dumps(["http://localhost"]),
            }
        launcher = plan.launcher.get(name, ("-m", f"services.{service}"))
        own |= plan.own.get(name, {})
        words = (sys.executable, *launcher, "serve")
        members.append(
            Member(name=name, service=service, words=words, environment={**shared, **own}, log=logs / f"{name}.log")
        )
    return members
