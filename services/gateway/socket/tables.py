"""Who follows which table, and which worker has it: routes, resumes, and commands that outlive a broken stream."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, assert_never

import structlog

from libs.chassis.clock import Clock
from libs.chassis.entropy import Entropy
from libs.chassis.errors import DomainError, Kind
from libs.chassis.telemetry.tracing import root_afterwards
from libs.wire import link
from libs.wire.metrics import total_stage
from libs.wire.neighbours import Neighbour
from services.gateway.metrics import commands_expired, relocations, resumes_fresh, resumes_since, tables_followed
from services.gateway.ports import Locator, OpenPeer, Whereabouts
from services.gateway.socket.framing import BINARY, TEXT, framed
from services.gateway.socket.link import Link, NeighbourLink, WorkerLink
from services.gateway.socket.onlookers import Onlookers
from services.gateway.tasks import Tasks

if TYPE_CHECKING:
    from services.gateway.socket.connection import Connection

log = structlog.get_logger()

SNAPSHOT = -1  # `since` of who has nothing yet
BACKOFF_FIRST_MS = 50
BACKOFF_LONGEST_MS = 1_000
LOCATES_AT_ONCE = 500  # a dead worker's thousand tables are two calls (`services.gateway.locating`)
COMMAND_SECONDS = 10.0  # then the player is told, and may send the same `req` again
DOUBT_SECONDS = 1.5  # an unanswered command this old asks whether the table has moved
SILENCE_SECONDS = 3.0  # so does a link that says nothing at all, as a frozen worker's
DOUBTS_AT_ONCE = 20  # tables of a silent link asked after in one round
# msgspec writes a struct's tag first. A refusal to a `Subscribe` is the one frame whose kind matters here.
REFUSAL_PREFIX = b'{"t":"error"'


class Command:
    """A move on its way: kept until its answer, so that it can be sent again over another stream."""

    __slots__ = ("connection", "frame", "received_at", "req", "span_start_ns", "traceparent")

    def __init__(
        self,
        connection: "Connection",
        frame: link.Command | link.Vacate,
        received_at: float,
        traceparent: str = "",
        span_start_ns: int = 0,
    ) -> None:
        self.connection = connection
        self.req = frame.req
        self.frame = frame
        self.received_at = received_at
        self.traceparent = traceparent
        self.span_start_ns = span_start_ns


class Table:
    """A table that some socket here follows."""

    __slots__ = ("attempts", "commands", "epoch", "id", "link", "live", "locating", "seq", "waiting")

    def __init__(self, table_id: bytes) -> None:
        self.id = table_id
        self.epoch = 0
        self.seq = SNAPSHOT  # of the newest public frame passed on
        self.link: Link | None = None
        self.live: dict[int, Connection] = {}
        # Asked to follow, not yet answered; with what they have already. A worker answers each `Subscribe` with at
        # least one frame for that socket alone: what comes before it is older and not sent to the socket.
        self.waiting: dict[int, tuple[Connection, int]] = {}
        self.commands: dict[tuple[int, str], Command] = {}
        self.locating = False
        self.attempts = 0


class Tables:
    """All tables followed here. Everything but `_locate` and `_doubt` is a callback that never waits."""

    def __init__(
        self,
        *,
        locator: Locator,
        open_peer: OpenPeer,
        neighbours: Mapping[str, Neighbour],
        clock: Clock,
        entropy: Entropy,
        tasks: Tasks,
    ) -> None:
        self._locator = locator
        self._open_peer = open_peer
        self._neighbours = neighbours
        self._clock = clock
        self._entropy = entropy
        self._tasks = tasks
        self.onlookers = Onlookers()
        self._tables: dict[bytes, Table] = {}
        self._links: dict[str, Link] = {}
        self._locates = asyncio.Semaphore(LOCATES_AT_ONCE)

    # ---- from sockets ----

    def follow(self, connection: "Connection", table_id: bytes, since: int) -> None:
        """Subscribe a socket; again for one that follows already, which then gets what it asks for."""
        table = self._tables.get(table_id)
        if table is None:
            table = self._tables[table_id] = Table(table_id)
        (resumes_fresh if since == SNAPSHOT else resumes_since).inc()
        table.live.pop(connection.number, None)
        table.waiting[connection.number] = (connection, since)
        connection.tables[table_id] = table
        if table.link is not None:
            self._subscribe(table.link, table, connection, since)
        elif not table.locating:
            self._relocate(table, "join")

    def unfollow(self, connection: "Connection", table: Table) -> None:
        """The socket has left or closed; its commands stay with the worker, their answers are nobody's."""
        connection.tables.pop(table.id, None)
        table.live.pop(connection.number, None)
        table.waiting.pop(connection.number, None)
        if table.commands:
            for key in [key for key in table.commands if key[0] == connection.number]:
                del table.commands[key]
        if table.link is not None:
            table.link.send(link.Unsubscribe(table.id, connection.account_id, connection.number))
        if not table.live and not table.waiting:
            self._forget(table)

    def command(self, table: Table, command: Command) -> None:
        """Forward a move, now or as soon as the table's worker is known."""
        table.commands[(command.connection.number, command.req)] = command
        if table.link is not None:
            table.link.send(command.frame, command.received_at)

    # ---- from workers ----

    def deliver(self, source: Link, frame: link.Down) -> None:  # noqa: PLR0912 - one branch a frame
        """One down-frame; what belongs to a table nobody follows any more is dropped."""
        table = self._tables.get(frame.table)
        if table is None:
            return
        match frame:
            case link.Public():
                self._public(table, frame)
            case link.ToAccount():
                if frame.epoch >= table.epoch:
                    for connection in table.live.values():
                        if connection.account_id == frame.account:
                            connection.send(frame.frame)
            case link.ToSocket():
                self._to_socket(table, frame)
            case link.Owned():
                if frame.epoch > table.epoch:
                    self._settle(table, Whereabouts(address=frame.address, epoch=frame.epoch))
            case link.NotOwner():
                if table.link is source:
                    self._relocate(table, "not_owner")
            case link.Closed():
                if table.link is source:
                    self._close(table)
            case _ as never:
                assert_never(never)

    def _public(self, table: Table, frame: link.Public) -> None:
        if frame.epoch < table.epoch:
            return
        table.epoch = frame.epoch
        table.attempts = 0
        payload, own, asking = frame.frame, frame.own, frame.conn
        held = self.onlookers.seconds
        text = framed(TEXT, payload)
        for number, connection in table.live.items():
            whole = text if connection.opcode == TEXT else framed(BINARY, payload)
            if own and connection.account_id in own:
                connection.write(whole + framed(connection.opcode, own[connection.account_id]), 2)
            elif held and number != asking:
                connection.hold(whole)
            else:
                connection.write(whole)
        table.seq = max(table.seq, frame.seq)
        if frame.conn:
            self._acknowledge(table, frame.conn, frame.req)

    def _to_socket(self, table: Table, frame: link.ToSocket) -> None:
        if frame.epoch and frame.epoch < table.epoch:
            return
        table.attempts = 0
        if frame.req:
            command = table.commands.get((frame.conn, frame.req))
            if command is not None:
                command.connection.send(frame.frame)
            else:
                self._to_follower(table, frame.conn, frame.frame)
            self._acknowledge(table, frame.conn, frame.req)
            return
        asked = table.waiting.pop(frame.conn, None)
        if asked is None:
            follower = table.live.get(frame.conn)
            self._to_follower(table, frame.conn, frame.frame)
            if follower is not None and frame.frame.startswith(REFUSAL_PREFIX):
                self._answer_left(table, frame.conn)
                self.unfollow(follower, table)  # who has left the seat, and may not watch
            return
        connection, _ = asked
        connection.send(frame.frame)
        if frame.frame.startswith(REFUSAL_PREFIX):
            connection.tables.pop(table.id, None)
            self._answer_left(table, frame.conn)
            if not table.live and not table.waiting:
                self._forget(table)
            return
        table.live[frame.conn] = connection

    @staticmethod
    def _to_follower(table: Table, number: int, payload: bytes) -> None:
        connection = table.live.get(number)
        if connection is None:
            waiting = table.waiting.get(number)
            if waiting is None:
                return
            connection = waiting[0]
        connection.send(payload)

    def _acknowledge(self, table: Table, number: int, req: str) -> None:
        command = table.commands.pop((number, req), None)
        if command is not None:
            took = self._clock.monotonic() - command.received_at
            total_stage.observe(took)
            self.onlookers.answered(took)
            if command.traceparent:
                ended_ns = int(self._clock.now().timestamp() * 1e9)
                root_afterwards("move", command.traceparent, command.span_start_ns, ended_ns)

    def _close(self, table: Table) -> None:
        """The table has ended: whoever joins again is told so by `Locate`."""
        for connection in self._followers(table):
            connection.tables.pop(table.id, None)
        table.live.clear()
        table.waiting.clear()
        self._forget(table)

    # ---- routes ----

    def lost(self, ended: Link) -> None:
        """A stream has ended: its tables are looked for again."""
        if self._links.get(ended.address) is ended:
            del self._links[ended.address]
        for table in list(ended.tables):
            if table.link is ended:
                self._relocate(table, "link_lost")

    def _relocate(self, table: Table, cause: str) -> None:
        """Find the table's worker, for as long as somebody follows it."""
        if table.link is not None:
            table.link.tables.discard(table)
            table.link = None
        relocations.labels(cause).inc()
        if not table.locating:
            table.locating = True
            self._tasks.spawn(self._locate(table))

    async def _locate(self, table: Table) -> None:
        try:
            while self._tables.get(table.id) is table and table.link is None:
                if table.attempts:
                    await asyncio.sleep(self._pause_ms(table.attempts) / 1000)
                table.attempts += 1
                try:
                    async with self._locates:
                        found = await self._locator.locate(table.id)
                except DomainError as error:
                    if error.kind is not Kind.UNAVAILABLE:
                        self._refuse(table, error)
                        return
                    continue
                if found.epoch >= table.epoch and table.link is None and self._tables.get(table.id) is table:
                    self._settle(table, found)
        finally:
            table.locating = False

    def _pause_ms(self, attempts: int) -> int:
        """50 ms doubling to 1 s, half of it jitter."""
        longest = min(BACKOFF_FIRST_MS << min(attempts - 1, 8), BACKOFF_LONGEST_MS)
        return longest // 2 + self._entropy.below(longest // 2 + 1)

    def _settle(self, table: Table, found: Whereabouts) -> None:
        """Follow the table at its worker: everybody from where they are, then the commands without an answer."""
        worker = self._links.get(found.address)
        if worker is None:
            worker = self._open_link(found.address)
            self._links[found.address] = worker
            self._tasks.spawn(worker.run())
        if table.link is not None:
            table.link.tables.discard(table)
        table.link = worker
        table.epoch = found.epoch
        worker.tables.add(table)
        for number, connection in table.live.items():
            table.waiting[number] = (connection, table.seq)
        table.live.clear()
        for connection, since in table.waiting.values():
            self._subscribe(worker, table, connection, since)
        for command in table.commands.values():
            worker.send(command.frame)
        tables_followed.set(len(self._tables))

    def _open_link(self, address: str) -> Link:
        neighbour: Neighbour | None = self._neighbours.get(address)
        if neighbour is not None:
            return NeighbourLink(address, neighbour, self._clock, deliver=self.deliver, lost=self.lost)
        return WorkerLink(address, self._open_peer(address), self._clock, deliver=self.deliver, lost=self.lost)

    @staticmethod
    def _subscribe(worker: Link, table: Table, connection: "Connection", since: int) -> None:
        worker.send(link.Subscribe(table.id, connection.account_id, connection.number, since))

    def _refuse(self, table: Table, error: DomainError) -> None:
        """No worker has the table and none will: tell everybody who follows it."""
        for connection in self._followers(table):
            connection.tables.pop(table.id, None)
            connection.refuse(error.reason, table=table.id.hex(), facts=dict(error.facts))
        table.live.clear()
        table.waiting.clear()
        self._forget(table)

    @staticmethod
    def _followers(table: Table) -> "list[Connection]":
        return [*table.live.values(), *(connection for connection, _ in table.waiting.values())]

    @staticmethod
    def _answer_left(table: Table, number: int | None = None) -> None:
        """Every command gets an answer: one whose socket (`number`; None: all) has lost the table, the one it would
        get now. Whether it stands is told to whoever joins and sends the same `req` again.
        """
        for key, command in list(table.commands.items()):
            if number is None or key[0] == number:
                del table.commands[key]
                command.connection.refuse("JOIN_FIRST", req=command.req, table=table.id.hex())

    def _forget(self, table: Table) -> None:
        if self._tables.get(table.id) is table:
            del self._tables[table.id]
        self._answer_left(table)
        if table.link is not None:
            table.link.tables.discard(table)
            table.link = None
        tables_followed.set(len(self._tables))

    # ---- once a second ----

    def sweep(self) -> None:
        """Give up commands that are too old, and doubt the workers that do not answer."""
        self.onlookers.sweep()
        now = self._clock.monotonic()
        for table in list(self._tables.values()):
            if not table.commands:
                continue
            oldest = now
            for key, command in list(table.commands.items()):
                if now - command.received_at >= COMMAND_SECONDS:
                    del table.commands[key]
                    commands_expired.inc()
                    total_stage.observe(now - command.received_at)
                    command.connection.refuse("UNAVAILABLE", req=command.req, table=table.id.hex())
                else:
                    oldest = min(oldest, command.received_at)
            if now - oldest >= DOUBT_SECONDS:
                self._doubt(table, "unanswered")
        for worker in list(self._links.values()):
            if now - worker.heard_at >= SILENCE_SECONDS:
                for table in list(worker.tables)[:DOUBTS_AT_ONCE]:
                    self._doubt(table, "silent")

    def _doubt(self, table: Table, cause: str) -> None:
        """Ask whether the table has moved, while its link goes on being used."""
        if table.link is not None and not table.locating:
            table.locating = True
            self._tasks.spawn(self._check(table, table.link, cause))

    async def _check(self, table: Table, worker: Link, cause: str) -> None:
        try:
            async with self._locates:
                found = await self._locator.locate(table.id)
        except DomainError as error:
            if error.kind is not Kind.UNAVAILABLE and self._tables.get(table.id) is table and table.link is worker:
                self._refuse(table, error)
            return
        finally:
            table.locating = False
            if table.link is None and self._tables.get(table.id) is table:
                self._relocate(table, cause)  # the link broke meanwhile
        if table.link is worker and found.address != worker.address and found.epoch > table.epoch:
            relocations.labels(cause).inc()
            self._settle(table, found)
            for other in list(worker.tables):
                self._doubt(other, cause)
