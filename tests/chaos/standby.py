"""PostgreSQL twice: a primary and a synchronous standby, and what an operator does when the primary is lost.

All by the tools of the embedded wheel: pg_basebackup, pg_ctl promote, pg_rewind. In a cluster the same is done by
its operator (deploy/README.md).
"""

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg

from libs.chassis.db import embedded
from libs.chassis.db.embedded import EmbeddedPostgres

STANDBY = "standby"  # the name under which it follows, and which the primary waits for
PROMOTE_SECONDS = "20"
# A commit is answered when the standby has it on disk too; without one it is not answered at all. What was written is
# kept long enough for pg_rewind to find where the two parted.
SYNCHRONOUS = (
    "alter system set synchronous_commit = 'on'",
    f"alter system set synchronous_standby_names = 'ANY 1 ({STANDBY})'",
    "alter system set wal_keep_size = '512MB'",
    "select pg_reload_conf()",
)


def following(primary: EmbeddedPostgres, data: Path) -> EmbeddedPostgres:
    """A copy of the primary in `data` that follows it from now on."""
    data.mkdir(parents=True)
    embedded._give(data, embedded._owner())
    data.chmod(0o700)  # of a folder that others may look into no server starts
    embedded._run(
        "pg_basebackup", "-D", str(data), "-d", source_of(primary), "-X", "stream", "-R", "-c", "fast",
        user=embedded._owner(),
    )  # fmt: skip
    return embedded.start(data)


def source_of(server: EmbeddedPostgres) -> str:
    """How a standby connects."""
    return f"host={server.socket_dir} user={embedded.USER} dbname=postgres application_name={STANDBY}"


async def made_synchronous(primary: EmbeddedPostgres) -> None:
    """From now on the primary waits for the standby's disk; returns when the standby counts."""
    async with connected(primary) as connection:
        for statement in SYNCHRONOUS:
            await connection.execute(statement)
        while not await connection.fetchval("select count(*) from pg_stat_replication where sync_state = 'quorum'"):
            await connection.execute("select pg_sleep(0.05)")


def kill(server: EmbeddedPostgres) -> None:
    """SIGKILL of the postmaster; its children end by themselves."""
    os.kill(server.pid(), signal.SIGKILL)


def promote(standby: EmbeddedPostgres) -> None:
    """It accepts writes when this returns."""
    embedded._run(
        "pg_ctl", "promote", "-D", str(standby.data), "-w", "-t", PROMOTE_SECONDS, user=embedded._owner()
    )  # fmt: skip


def rejoin(old: EmbeddedPostgres, primary: EmbeddedPostgres) -> EmbeddedPostgres:
    """Make the old primary a standby of the new one: what it alone had written is undone."""
    embedded._run("pg_ctl", "-D", str(old.data), "-m", "fast", "-w", "stop", user=embedded._owner())
    embedded._run(
        "pg_rewind", f"--target-pgdata={old.data}", f"--source-server={source_of(primary)}", "--write-recovery-conf",
        user=embedded._owner(),
    )  # fmt: skip
    return embedded.start(old.data)


@asynccontextmanager
async def connected(server: EmbeddedPostgres) -> AsyncIterator[asyncpg.Connection]:
    """A plain connection to one of the two."""
    connection = await asyncpg.connect(server.url().replace("+asyncpg", "", 1), timeout=10)
    try:
        yield connection
    finally:
        connection.terminate()
