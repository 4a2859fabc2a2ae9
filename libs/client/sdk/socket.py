"""The connection: one socket an account, up for as long as somebody follows a table or waits for a seat.

It comes back by itself (0.25 s … 8 s between tries) and never gives up while a table is live. Each new connection
says hello with a fresh token, asks each table for what came after the last row it has, and repeats what was not
answered. It ends for good only when the session does, or when the server prefers another device.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI

from libs.client.sdk.backoff import Backoff
from libs.client.sdk.company import Company
from libs.client.sdk.errors import Unreachable, WhistError
from libs.client.sdk.pulse import Pulse
from libs.client.sdk.session import Session
from libs.client.sdk.table import PASSING, Table
from libs.wire import frames

OUTBOX_MAX = 64  # frames not yet written; more than a few means a dead connection, so it is dropped
FRAME_MAX_BYTES = 256 * 1024  # from the server, sixteen times what it promises
FRAMES_A_SECOND = 18  # the server closes a socket that sends more than 20 a second …
FRAMES_AT_ONCE = 30  # … beyond 40 at once
OPEN_S = 10.0  # for the handshake, and for the answer to Hello
FIRST_TRY_S = 20.0  # without any connection so far: after this the address is taken to be wrong
PATIENCE_S = 20.0  # silence after a heartbeat that means a dead connection
RENEW_S = 60.0  # before the token's end, or a quarter of its life when that is less
PASSING_S = 0.5  # before a request that was refused in passing is sent again

Recover = Callable[[Table], Coroutine[Any, Any, None]]


class Connection:
    """Frames of one account, between `start` and `close`; everything in between may be called at any time."""

    def __init__(self, url: str, session: Session, backoff: Backoff, recover: Recover) -> None:
        self._url = url
        self._session = session
        self._backoff = backoff
        self._recover = recover
        self._tables: dict[str, Table] = {}
        self._companies: dict[str, Company] = {}
        self._watchers = 0
        self._place: frames.Queue | None = None
        self._pulse = Pulse()
        self._outbox: asyncio.Queue[frames.ClientFrame] | None = None  # None: not connected
        self._overflow = asyncio.Event()
        self._tasks: asyncio.TaskGroup | None = None
        self._later: set[tuple[type, str]] = set()
        self._failure: WhistError | None = None
        self._welcomed = False
        self._offset_ms = 0.0
        self._running: asyncio.Task[None] | None = None
        self._closing = False

    # ---- for the SDK ----

    @property
    def connected(self) -> bool:
        """Whether the server has taken our Hello on the present connection."""
        return self._outbox is not None

    def server_ms(self) -> float:
        """The server's Unix milliseconds now, by our own clock and what it last told."""
        return time.time() * 1000 + self._offset_ms

    def follow(self, table_id: str) -> Table:
        """The table with that id, followed from now on; the same object for a repeated call while it is live."""
        self._raise_failure()
        known = self._tables.get(table_id)
        if known is not None and known.live:
            return known
        table = self._tables[table_id] = Table(table_id, self._post)
        self._post(table.join())
        self._pulse.beat()
        return table

    def leave(self, table: Table) -> None:
        """Follow it no longer; the seat stays ours."""
        if self._tables.get(table.id) is table:
            del self._tables[table.id]
            self._post(frames.Leave(table=table.id))

    def enter(self, table_id: str) -> Company:
        """The company of that friends' table, kept up to date from now on; the same object for a repeated call."""
        self._raise_failure()
        known = self._companies.get(table_id)
        if known is not None and known.live:
            return known
        company = self._companies[table_id] = Company(table_id, self._post)
        self._post(company.enter())
        self._pulse.beat()
        return company

    def part(self, company: Company) -> None:
        """Hear no more of it; a seat before the deal is soon free."""
        if self._companies.get(company.id) is company:
            del self._companies[company.id]
            if company.id not in self._tables:
                self._post(frames.Leave(table=company.id))

    async def seat(self, told: Callable[[frames.Queue], None] | None = None) -> frames.Queue:
        """Wait for our place in matchmaking to be settled: seated, dropped or idle. `told` sees each change."""
        self._watchers += 1
        self._place = None
        self._post(frames.Watch())
        self._pulse.beat()
        shown: frames.Queue | None = None
        try:
            while True:
                self._raise_failure()
                place = self._place
                if place is not None and place != shown:
                    shown = place
                    if told is not None:
                        told(place)
                    if place.state in {"seated", "dropped", "idle"}:
                        return place
                await self._pulse.wait()
        finally:
            self._watchers -= 1

    def start(self) -> None:
        """Begin; once."""
        self._running = asyncio.create_task(self._run())

    async def close(self) -> None:
        """End for good and return when nothing of it runs any more; whoever still waits is told."""
        self._closing = True
        if self._running is not None:
            self._running.cancel()
            (ended,) = await asyncio.gather(self._running, return_exceptions=True)
            if isinstance(ended, Exception):
                raise ended  # a fault of ours is not hidden

    # ---- the task ----

    async def _run(self) -> None:
        try:
            await self._keep_up()
        except WhistError as error:
            self._end(error)
        finally:
            self._end(WhistError("CLOSED"))

    async def _keep_up(self) -> None:
        began: float | None = None
        while True:
            while not self._wanted:
                began = None
                await self._pulse.wait()
            began = began or time.monotonic()
            try:
                why = await self._once()
            except Unreachable as error:
                why = str(error)
            if not self._welcomed and time.monotonic() - began > FIRST_TRY_S:
                raise Unreachable(self._url, why)
            await asyncio.sleep(self._backoff.next_s())

    @property
    def _wanted(self) -> bool:
        for table_id in [each.id for each in self._tables.values() if not each.live]:
            del self._tables[table_id]
        for table_id in [each.id for each in self._companies.values() if not each.live]:
            del self._companies[table_id]
        return bool(self._tables or self._companies or self._watchers)

    async def _once(self) -> str:
        """One connection from handshake to its end; why it ended. Raises WhistError when there should be no other."""
        token = await self._session.access_token()
        try:
            socket = await connect(
                self._url,
                open_timeout=OPEN_S,
                close_timeout=1,
                compression=None,
                ping_interval=None,
                max_size=FRAME_MAX_BYTES,
            )
        except (OSError, InvalidHandshake, InvalidURI, TimeoutError) as error:
            return str(error) or type(error).__name__
        try:
            async with socket:
                await self._serve(socket, token)
        except (ConnectionClosed, OSError, TimeoutError, Silent, msgspec.DecodeError) as ended:
            return await self._ended(ended)
        return "closed"

    async def _ended(self, error: BaseException) -> str:
        closed = error.rcvd if isinstance(error, ConnectionClosed) else None
        code = closed.code if closed is not None else 0
        if code == frames.CloseCode.SUPERSEDED:
            raise WhistError("SUPERSEDED")
        if code == frames.CloseCode.TOKEN:
            await self._session.renew()
        return str(error) or type(error).__name__

    async def _serve(self, socket: ClientConnection, token: str) -> None:
        await socket.send(frames.encode(frames.Hello(token=token)))
        async with asyncio.timeout(OPEN_S):
            welcome = await _welcome(socket)
        self._measure(welcome.now)
        self._welcomed = True
        self._backoff.reset()
        outbox: asyncio.Queue[frames.ClientFrame] = asyncio.Queue(OUTBOX_MAX)
        self._overflow.clear()
        renewed: asyncio.Queue[frames.Welcome] = asyncio.Queue(1)
        try:
            async with asyncio.TaskGroup() as tasks:
                self._outbox, self._tasks = outbox, tasks
                for frame in self._resumed():
                    self._post(frame)
                self._touch()
                tasks.create_task(self._write(socket, outbox))
                tasks.create_task(self._renew(welcome, renewed))
                tasks.create_task(self._read(socket, welcome.heartbeat_ms / 1000, renewed))
                tasks.create_task(self._watch_overflow())
        except BaseExceptionGroup as group:
            if self._closing:
                raise asyncio.CancelledError from None  # Python 3.11's group forgets it when an error comes with it
            raise _weightiest(group) from None
        finally:
            self._outbox = self._tasks = None
            self._later.clear()
            self._touch()

    def _touch(self) -> None:
        for table in self._tables.values():
            table.touch()

    def _resumed(self) -> Sequence[frames.ClientFrame]:
        asked: list[frames.ClientFrame] = [frames.Watch()] if self._watchers else []
        for table in self._tables.values():
            if table.live:
                asked += table.resume()
        for company in self._companies.values():
            if company.live:
                asked += company.resume()
        return asked

    async def _write(self, socket: ClientConnection, outbox: "asyncio.Queue[frames.ClientFrame]") -> None:
        """Write what was posted, never faster than the server allows."""
        full_at = time.monotonic()
        while True:
            frame = await outbox.get()
            now = time.monotonic()
            full_at = max(full_at, now) + 1 / FRAMES_A_SECOND
            if (ahead_s := full_at - now - FRAMES_AT_ONCE / FRAMES_A_SECOND) > 0:
                await asyncio.sleep(ahead_s)
            await socket.send(frames.encode(frame))

    async def _watch_overflow(self) -> None:
        await self._overflow.wait()
        raise Silent("the connection takes no more frames")

    async def _read(
        self, socket: ClientConnection, heartbeat_s: float, renewed: "asyncio.Queue[frames.Welcome]"
    ) -> None:
        """Deliver frames; ping after a heartbeat of silence, give up after `PATIENCE_S` more."""
        pings = 0
        while True:
            try:
                async with asyncio.timeout(PATIENCE_S if pings else heartbeat_s):
                    data = await socket.recv()
            except TimeoutError:
                if pings:
                    raise Silent("no answer to a heartbeat") from None
                pings += 1
                self._post(frames.Ping(n=pings))
                continue
            pings = 0
            try:
                frame = frames.decode_server.decode(data)
            except msgspec.ValidationError:
                continue  # a kind of frame newer than this release
            match frame:
                case frames.Welcome():
                    self._measure(frame.now)
                    if renewed.empty():
                        renewed.put_nowait(frame)
                case frames.Pong():
                    self._measure(frame.now)
                case frames.Queue():
                    self._place = frame
                    self._pulse.beat()
                case _:
                    self._deliver(frame)

    def _deliver(self, frame: frames.ServerFrame) -> None:
        table_id = getattr(frame, "table", "")
        table, company = self._tables.get(table_id), self._companies.get(table_id)
        if company is not None and company.receive(frame):
            return
        if isinstance(frame, frames.Error) and not frame.req:
            if company is not None and table is None and frame.reason not in PASSING:
                company.fail(WhistError(frame.reason, facts=frame.facts))
            if table is None:
                if not frame.table and frame.reason in PASSING and self._watchers:
                    self._soon(frames.Watch, "", frames.Watch)
                return
            if frame.reason in PASSING:
                self._soon(frames.Join, table.id, table.join)
                return
            if frame.reason == "TABLE_FINISHED" and table.view and self._tasks is not None:
                self._tasks.create_task(self._recover(table))
                return
        if table is None:
            return
        if isinstance(frame, frames.Error) and frame.reason == "JOIN_FIRST":
            self._soon(frames.Join, table.id, table.join)
        table.receive(frame)
        if not table.live:
            self.leave(table)

    async def _renew(self, welcome: frames.Welcome, renewed: "asyncio.Queue[frames.Welcome]") -> None:
        """Say hello again with a fresh token before the old one ends."""
        while True:
            life_s = max(0.0, (welcome.token_expires - welcome.now) / 1000)
            await asyncio.sleep(max(life_s - RENEW_S, life_s * 3 / 4))
            try:
                token = await self._session.renew()
            except Unreachable:
                raise Silent("the token could not be renewed") from None
            self._post(frames.Hello(token=token))
            welcome = await renewed.get()

    # ---- sending ----

    def _post(self, frame: frames.ClientFrame) -> None:
        """Send when connected; else drop it: the next connection asks anew."""
        if self._outbox is None:
            return
        try:
            self._outbox.put_nowait(frame)
        except asyncio.QueueFull:
            self._overflow.set()

    def _soon(self, kind: type, table_id: str, make: Callable[[], frames.ClientFrame]) -> None:
        """Ask again in a moment; one at a time of each kind and table."""
        key = (kind, table_id)
        if self._tasks is None or key in self._later:
            return
        self._later.add(key)
        self._tasks.create_task(self._post_later(key, make))

    async def _post_later(self, key: tuple[type, str], make: Callable[[], frames.ClientFrame]) -> None:
        await asyncio.sleep(PASSING_S)
        self._later.discard(key)
        self._post(make())

    def _measure(self, server_now_ms: int) -> None:
        self._offset_ms = server_now_ms - time.time() * 1000

    def _end(self, error: WhistError) -> None:
        self._failure = self._failure or error
        for table in self._tables.values():
            table.fail(error)
        for company in self._companies.values():
            company.fail(error)
        self._pulse.beat()

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure


class Silent(Exception):
    """The connection is up and of no use; a new one is."""


async def _welcome(socket: ClientConnection) -> frames.Welcome:
    """The answer to Hello; what else may come first is not for us yet."""
    while True:
        frame = frames.decode_server.decode(await socket.recv())
        if isinstance(frame, frames.Welcome):
            return frame


def _weightiest(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Of what ended a connection's tasks together: a refusal before a broken line."""
    return next((error for error in group.exceptions if isinstance(error, WhistError)), group.exceptions[0])
