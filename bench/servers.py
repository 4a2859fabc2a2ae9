"""The servers under load: ours in one process or as a cluster, on a data folder of its own, and the two peers."""

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg

from libs.chassis.entropy import SystemEntropy
from services.allinone.cluster import Cluster, ClusterSettings, free_port
from services.allinone.cluster import started as cluster_started
from services.allinone.home import Home

ROOT = Path(__file__).parent.parent
PEERS = Path(__file__).parent / "peers"
SERVER_CORE, LOAD_CORE = "0", "1"
START_SECONDS = 90.0
STOP_SECONDS = 30.0
PROBE_SECONDS = 0.05
# Only the limits that tell one player from a crowd on one machine are lifted. And turns last longer, for tables are
# made before play begins: no turn may run out meanwhile, on however slow a machine.
UNLIMITED = {"WHIST_SOCKET_RATE": "0", "WHIST_SOCKETS_PER_NETWORK": "0", "WHIST_TURN_LIMIT_SCALE": "10"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A server that is ready. `pids` are the roots of its processes. Ours has a data folder and a PostgreSQL."""

    adapter: str
    url: str
    pids: Sequence[int]
    environment: dict[str, str] = field(default_factory=dict)
    folder: Path = Path()
    socket_dir: Path | None = None
    # gRPC targets of our table workers by name; one without a name where everything is one process.
    workers: dict[str, str] = field(default_factory=dict)

    @property
    def postgres(self) -> dict[str, str]:
        """Where PostgreSQL is, as asyncpg wants it. Only ours has one."""
        return {"host": str(self.socket_dir), "user": "postgres", "database": "whist"}


def pinned(core: str) -> tuple[str, ...]:
    """Words in front of a command; none on a machine without taskset."""
    return ("taskset", "-c", core) if shutil.which("taskset") else ()


async def started(words: Sequence[str], log: Path, ready: str, **options: object) -> asyncio.subprocess.Process:
    """Start a process and wait for a word in its log. Raises RuntimeError with the log's end."""
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            *words, stdout=output, stderr=output, start_new_session=True, **options  # type: ignore[arg-type]
        )  # fmt: skip
    try:
        async with asyncio.timeout(START_SECONDS):
            while process.returncode is None:
                if ready in log.read_text(errors="replace"):
                    return process
                await asyncio.sleep(PROBE_SECONDS)
    except BaseException:
        await stopped(process)
        raise
    raise RuntimeError(f"{' '.join(words)} ended at start:\n{log.read_text()[-3000:]}")


async def stopped(process: asyncio.subprocess.Process) -> None:
    """Ask, wait, insist."""
    if process.returncode is None:
        process.terminate()
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()


@asynccontextmanager
async def whist(folder: Path, *, core: str = SERVER_CORE) -> AsyncIterator[Running]:
    """`python -m services.allinone` on a fresh folder: fsync on, every service, metrics and PostgreSQL on one core.

    With an empty `core` on all of them.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    http, socket, admin, metrics = (free_port() for _ in range(4))
    environment = {
        **os.environ,
        "WHIST_DATA_DIR": str(folder),
        "WHIST_HTTP_LISTEN": f"127.0.0.1:{http}",
        "WHIST_SOCKET_LISTEN": f"127.0.0.1:{socket}",
        "WHIST_ADMIN_LISTEN": f"127.0.0.1:{admin}",
        "WHIST_METRICS_LISTEN": f"127.0.0.1:{metrics}",
        **UNLIMITED,
    }
    words = [*(pinned(core) if core else ()), sys.executable, "-m", "services.allinone"]
    process = await started(words, folder / "server.log", "whist_ready", cwd=ROOT, env=environment)
    try:
        # pid, data folder, start time, port, socket folder
        postmaster = (folder / "postgres" / "postmaster.pid").read_text().splitlines()
        yield Running(
            adapter="whist",
            url=f"http://127.0.0.1:{http}",
            pids=(process.pid, int(postmaster[0])),
            environment={
                "WHIST_ADMIN": f"http://127.0.0.1:{admin}",
                "WHIST_SOCKET": f"ws://127.0.0.1:{socket}/v1/ws",
                "WHIST_OPERATOR_TOKEN": (folder / "secrets" / "operator-token").read_text(),
            },
            folder=folder,
            socket_dir=Path(postmaster[4]),
            workers={"": f"unix:{Home(folder, SystemEntropy()).sockets}/tables.sock"},
        )
    finally:
        await stopped(process)


@asynccontextmanager
async def cluster(folder: Path, workers: int, *, core: str = "") -> AsyncIterator[tuple[Cluster, Running]]:
    """Every service in a process of its own with mutual TLS, on a fresh folder; all on `core`, if one is given."""
    shutil.rmtree(folder, ignore_errors=True)
    http, socket, admin = (f"127.0.0.1:{free_port()}" for _ in range(3))
    settings = ClusterSettings(
        data_dir=folder,
        workers=workers,
        log_level="warning",
        http_listen=http,
        socket_listen=socket,
        admin_listen=admin,
    )
    home = Home(folder, SystemEntropy())
    cores = os.sched_getaffinity(0)
    before = {name: os.environ.get(name) for name in UNLIMITED}
    os.environ.update(UNLIMITED)
    if core:
        os.sched_setaffinity(0, {int(core)})  # children inherit it; ours is given back as soon as they run
    try:
        with home.held():
            async with cluster_started(settings, home) as running:
                os.sched_setaffinity(0, cores)
                postmaster = (folder / "postgres" / "postmaster.pid").read_text().splitlines()
                yield (
                    running,
                    Running(
                        adapter="whist",
                        url=running.url,
                        pids=(*(member.pid for member in running.members.values()), int(postmaster[0])),
                        environment={
                            "WHIST_SOCKET": f"ws://{socket}/v1/ws",
                            "WHIST_ADMIN": running.admin_url,
                            "WHIST_OPERATOR_TOKEN": home.secret("operator-token").read_text(),
                        },
                        folder=folder,
                        socket_dir=Path(postmaster[4]),
                        workers=await _workers(postmaster[4]),
                    ),
                )
    finally:
        os.sched_setaffinity(0, cores)
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


async def _workers(socket_dir: str) -> dict[str, str]:
    connection = await asyncpg.connect(host=socket_dir, user="postgres", database="whist")
    try:
        rows = await connection.fetch("select worker_id, address from tables.worker order by worker_id")
    finally:
        await connection.close()
    return {row["worker_id"]: f"ipv4:{row['address']}" for row in rows}


@asynccontextmanager
async def peer(name: str, folder: Path, deals: int) -> AsyncIterator[Running]:
    """`boardgameio`, `colyseus-imm` (a patch after each move) or `colyseus-patch` (one each 50 ms, its default)."""
    library, _, mode = name.partition("-")
    script = {"boardgameio": "server.js", "colyseus": "server.mjs"}[library]
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    await installed(PEERS / library)
    environment = {
        **os.environ, "NODE_ENV": "production", "PORT": str(port), "DEALS": str(deals), "MODE": mode, "DELTA": "0",
    }  # fmt: skip
    words = [*pinned(SERVER_CORE), "node", script]
    process = await started(words, folder / "server.log", "READY", cwd=PEERS / library, env=environment)
    try:
        yield Running(adapter=library, url=f"http://127.0.0.1:{port}", pids=(process.pid,))
    finally:
        await stopped(process)


async def installed(folder: Path) -> None:
    """npm's packages, on first use. Raises RuntimeError."""
    if (folder / "node_modules").exists():
        return
    install = await asyncio.create_subprocess_exec(
        "npm", "install", "--no-audit", "--no-fund", "--omit=optional", "--loglevel=error", cwd=folder,
        stdout=2,  # npm's chatter beside our own result; the descriptor, since a test may have replaced the object
    )  # fmt: skip
    if await install.wait():
        raise RuntimeError(f"npm install failed in {folder}")


def family(roots: list[int]) -> list[int]:
    """These processes and all their descendants."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(") ")[2].split()[1])
        except OSError:  # ended meanwhile
            continue
        parents.setdefault(parent, []).append(int(stat.parent.name))
    found = list(roots)
    for pid in found:
        found.extend(parents.get(pid, []))
    return found


def pss(pid: int) -> int:
    """Proportional set size in KiB; 0 for a process that has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
