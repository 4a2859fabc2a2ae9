"""A TCP proxy that misbehaves when told to: late, silent, deaf, or gone.

It stands between a client under test and a server it needs, and carries bytes both ways. Faults hold from the moment
they are set until `heal`; each may be narrowed to one connection, or to the connections of one client by a mark in what
that client has sent (for PostgreSQL the `application_name` of its start-up packet).

    async with proxied(upstream) as proxy:
        proxy.hold(RESPONSES, only=b"whist-tables-journal")   # the statement arrives, its answer does not
        ...
        proxy.reset()                                          # and never will
        proxy.heal()
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

CHUNK_BYTES = 64 * 1024
MARK_BYTES_MAX = 64 * 1024  # of a connection's first words, in which marks are looked for
PATIENCE_SECONDS = 20.0

# What a PostgreSQL server that goes down says on every connection before it closes it (57P02, crash_shutdown).
CRASH_NOTICE = b"E\0\0\0\x2eSFATAL\0VFATAL\0C57P02\0Mgoing down at once\0\0"

REQUESTS = "requests"  # from the client to the server
RESPONSES = "responses"  # from the server to the client

Upstream = Path | tuple[str, int]


@dataclass(eq=False, slots=True)
class Connection:
    """One client and its own connection to the server."""

    client: asyncio.StreamWriter
    server: asyncio.StreamWriter
    heard: bytearray = field(default_factory=bytearray)
    held: dict[str, int] = field(default_factory=lambda: {REQUESTS: 0, RESPONSES: 0})
    granted: set[str] = field(default_factory=set)
    pieces: dict[str, int] = field(default_factory=lambda: {REQUESTS: 0, RESPONSES: 0})
    aborted: bool = False

    def abort(self) -> None:
        """Cut both ends at once, with what lies in their buffers."""
        self.aborted = True
        for writer in (self.client, self.server):
            writer.transport.abort()


Only = bytes | Connection


def is_of(connection: Connection, only: Only) -> bool:
    """Whether it is this very connection, or its client has sent this mark; the empty mark is everybody's."""
    return connection is only if isinstance(only, Connection) else only in connection.heard


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What happens to bytes in one direction of some connections."""

    direction: str
    only: Only = b""
    delay_seconds: float = 0.0
    holds: bool = False
    drops: bool = False


class Proxy:
    """Listens on a free port of 127.0.0.1. All methods take effect at once, also on bytes that are under way."""

    def __init__(self, upstream: Upstream) -> None:
        self.port = 0
        self.accepted = 0
        self.connections: set[Connection] = set()
        self._upstream = upstream
        self._faults: list[Fault] = []
        self._refuses_all = False
        self._changed = asyncio.Condition()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    # ---- faults ----

    def delay(self, direction: str, seconds: float, *, only: Only = b"") -> None:
        """Every piece of data takes so much longer."""
        self._set(Fault(direction=direction, delay_seconds=seconds, only=only))

    def hold(self, direction: str, *, only: Only = b"") -> None:
        """Nothing passes; it is delivered at `heal`, late but whole."""
        self._set(Fault(direction=direction, holds=True, only=only))

    def drop(self, direction: str, *, only: Only = b"") -> None:
        """Nothing passes, and what came meanwhile is lost; the connection stays open."""
        self._set(Fault(direction=direction, drops=True, only=only))

    def blackhole(self, *, only: Only = b"") -> None:
        """A partition: nothing passes either way until `heal`, new connections included."""
        self.hold(REQUESTS, only=only)
        self.hold(RESPONSES, only=only)

    def let_one_pass(self, direction: str, *, only: Only = b"") -> None:
        """What is held now goes out; what comes after it is held again."""
        for connection in self.connections:
            if connection.held[direction] and is_of(connection, only):
                connection.granted.add(direction)
                connection.held[direction] = 0
        self._tell()

    def say(self, data: bytes, *, only: Only = b"") -> None:
        """Tell clients this, as if the server had."""
        for connection in self.connections:
            if is_of(connection, only):
                connection.client.write(data)

    def refuse(self) -> None:
        """New connections are cut as soon as they are made."""
        self._refuses_all = True

    def reset(self, *, only: Only = b"") -> None:
        """Cut the connections there are; what they held is lost."""
        for connection in [each for each in self.connections if is_of(each, only)]:
            connection.abort()
        self._tell()

    def redirect(self, upstream: Upstream) -> None:
        """Lead to another server from now on; the connections to the former one are cut."""
        self._upstream = upstream
        self.reset()

    def heal(self) -> None:
        """Be a good proxy again; what was held goes out."""
        self._faults.clear()
        self._refuses_all = False
        self._tell()

    # ---- observations ----

    def held(self, direction: str, *, only: Only = b"") -> int:
        """Bytes that are late, or wait for `heal`, now."""
        return sum(each.held[direction] for each in self.connections if is_of(each, only))

    def pieces(self, direction: str, *, only: Only = b"") -> int:
        """How often data has come in over the connections there are."""
        return sum(each.pieces[direction] for each in self.connections if is_of(each, only))

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait for a condition on this proxy's state."""
        async with asyncio.timeout(PATIENCE_SECONDS), self._changed:
            await self._changed.wait_for(lambda: bool(condition()))

    # ---- life ----

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        assert self._server is not None
        self._server.close()
        self.heal()
        while self._tasks:
            self.reset()
            await asyncio.wait(self._tasks)
        await self._server.wait_closed()

    def _set(self, fault: Fault) -> None:
        self._faults.append(fault)
        self._tell()

    def _tell(self) -> None:
        async def notify() -> None:
            async with self._changed:
                self._changed.notify_all()

        self._keep(asyncio.get_running_loop().create_task(notify()))

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _accept(self, reader: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        self.accepted += 1
        task = asyncio.current_task()
        assert task is not None
        self._keep(task)
        self._tell()
        if self._refuses_all:
            client.transport.abort()
            return
        try:
            answers, server = await (
                asyncio.open_unix_connection(str(self._upstream))
                if isinstance(self._upstream, Path)
                else asyncio.open_connection(*self._upstream)
            )
        except OSError:
            client.transport.abort()
            return
        connection = Connection(client, server)
        self.connections.add(connection)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._carry(connection, REQUESTS, reader, server))
                group.create_task(self._carry(connection, RESPONSES, answers, client))
        finally:
            connection.abort()
            self.connections.discard(connection)
            self._tell()

    async def _carry(
        self, connection: Connection, direction: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        with contextlib.suppress(OSError):  # either end may go at any time
            while data := await reader.read(CHUNK_BYTES):
                if direction == REQUESTS and len(connection.heard) < MARK_BYTES_MAX:
                    connection.heard += data
                connection.pieces[direction] += 1
                if await self._passes(connection, direction, len(data)):
                    writer.write(data)
                    await writer.drain()
        connection.abort()

    async def _passes(self, connection: Connection, direction: str, size: int) -> bool:
        """Wait as long as the faults say; False when the data is to be lost."""
        faults = self._faults_of(connection, direction)
        if any(fault.drops for fault in faults):
            return False
        seconds = max((fault.delay_seconds for fault in faults), default=0.0)
        connection.held[direction] = size
        try:
            async with self._changed:
                self._changed.notify_all()
            if seconds:
                await asyncio.sleep(seconds)
            async with self._changed:
                await self._changed.wait_for(lambda: self._may_pass(connection, direction))
        finally:
            connection.granted.discard(direction)
            connection.held[direction] = 0
        return not connection.aborted

    def _may_pass(self, connection: Connection, direction: str) -> bool:
        holds = any(fault.holds for fault in self._faults_of(connection, direction))
        return connection.aborted or direction in connection.granted or not holds

    def _faults_of(self, connection: Connection, direction: str) -> list[Fault]:
        return [fault for fault in self._faults if fault.direction == direction and is_of(connection, fault.only)]


@contextlib.asynccontextmanager
async def proxied(upstream: Upstream) -> AsyncIterator[Proxy]:
    """A proxy in front of a Unix socket's path or a host and port."""
    proxy = Proxy(upstream)
    await proxy.start()
    try:
        yield proxy
    finally:
        await proxy.close()
