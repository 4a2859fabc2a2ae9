"""A real worker on real PostgreSQL and gRPC, and a gateway's end of its stream."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID, uuid4

import msgspec
import pytest
import sqlalchemy as sa
from sqlalchemy.engine import make_url

from libs.chassis.db.database import Database
from libs.chassis.events.memory import MemoryBus
from libs.chassis.rpc.peer import Peer
from libs.chassis.run import running
from libs.engine import bots
from libs.engine.game import GAMES, Game
from libs.wire import frames, link
from services.tables.settings import TablesSettings
from services.tables.wiring import MIGRATIONS, SPEC
from tests.conftest import MakeDatabase
from tests.faults.proxy import Proxy, proxied
from whist.tables.v1 import tables_pb2, tables_pb2_grpc

decode = frames.decode_server.decode

T = TypeVar("T")


@dataclass
class Seen:
    """What one account was told, in order, and the view it adds up to."""

    table: bytes
    account: bytes
    conn: int
    told: list[frames.ServerFrame] = field(default_factory=list)
    # Its `Subscribe` was answered: what came before is older, and a gateway keeps it from the socket.
    live: bool = False

    def of(self, kind: type[Any]) -> list[Any]:
        return [frame for frame in self.told if isinstance(frame, kind)]


class Gateway:
    """The other end of a worker's `Play` stream."""

    def __init__(self, peer: Peer) -> None:
        self._up: asyncio.Queue[list[Any] | None] = asyncio.Queue()
        stub = tables_pb2_grpc.TablesServiceStub(peer.channel)
        self._call = stub.Play(self._requests(), metadata=peer.metadata())
        self.followers: dict[int, Seen] = {}
        self.down: list[Any] = []
        self._changed = asyncio.Condition()
        self._reader = asyncio.get_running_loop().create_task(self._read())

    async def _requests(self) -> AsyncIterator[tables_pb2.PlayRequest]:
        while (batch := await self._up.get()) is not None:
            yield tables_pb2.PlayRequest(batch=link.encode_batch(batch))

    async def _read(self) -> None:
        async for response in self._call:
            for frame in link.decode_down(response.batch):
                self.down.append(frame)
                for seen in self.followers.values():
                    own = isinstance(frame, link.ToSocket) and frame.conn == seen.conn
                    seen.live = seen.live or (own and frame.table == seen.table)
                    mine = frame.table == seen.table and (
                        own
                        or (isinstance(frame, link.Public) and seen.live)
                        or (isinstance(frame, link.ToAccount) and frame.account == seen.account and seen.live)
                    )
                    if mine and isinstance(frame, (link.Public, link.ToAccount, link.ToSocket)):
                        seen.told.append(decode(frame.frame))
                        if isinstance(frame, link.Public) and seen.account in frame.own:
                            seen.told.append(decode(frame.own[seen.account]))
            async with self._changed:
                self._changed.notify_all()

    def send(self, *batch: Any) -> None:
        self._up.put_nowait(list(batch))

    def follow(self, table: bytes, account: bytes, conn: int, since: int = -1) -> Seen:
        self.followers[conn] = Seen(table, account, conn)
        self.send(link.Subscribe(table, account, conn, since))
        return self.followers[conn]

    async def until(self, condition: Callable[[], Any], seconds: float = 20) -> Any:
        async with asyncio.timeout(seconds), self._changed:
            await self._changed.wait_for(condition)
        return condition()

    async def ended(self) -> None:
        """Return when the worker has ended the stream."""
        await asyncio.shield(self._reader)

    async def close(self) -> None:
        self._call.cancel()
        await asyncio.gather(self._reader, return_exceptions=True)


@dataclass
class Cluster:
    """Workers over one database."""

    url: str
    folder: Path
    numbers: Any = field(default_factory=lambda: count(1))

    def settings(self, **changes: Any) -> TablesSettings:
        number = next(self.numbers)
        plain = {
            "database_url": self.url,
            "grpc_listen": f"unix:{self.folder}/{number}.sock",
            "worker_id": f"worker-{number}",
            "bot_pace_scale": 0.0,
            "drain_seconds": 5.0,
        }
        return TablesSettings(**{**plain, **changes})

    @asynccontextmanager
    async def worker(self, *, dies: bool = False, **changes: Any) -> AsyncIterator["RunningWorker"]:
        """A worker inside the block. One that `dies` is gone at its end as by SIGKILL: nothing drained or released."""
        settings = self.settings(**{"drain_seconds": 0.0} if dies else {}, **changes)
        address = settings.grpc_listen
        # Open until the worker has gone: what it says while it drains is heard.
        gateway, matchmaking, wallet = (Peer(address, caller) for caller in ("gateway", "matchmaking", "wallet"))
        try:
            async with (
                SPEC.open(settings, bus=MemoryBus()) as (chassis, service),
                running(SPEC, chassis, replace(service, drain=_nothing) if dies else service),
            ):
                yield RunningWorker(address, settings.worker_id, gateway, matchmaking, wallet)
        finally:
            for peer in (gateway, matchmaking, wallet):
                await peer.close()

    @asynccontextmanager
    async def life(self, *, dies: bool = False, **changes: Any) -> AsyncIterator["Life"]:
        """A worker that the test ends when it likes."""
        life = Life()

        async def live() -> None:
            async with self.worker(dies=dies, **changes) as worker:
                life.born.set_result(worker)
                await life.ending.wait()

        life.task = asyncio.create_task(live())
        try:
            yield life
        finally:
            await life.end()

    @asynccontextmanager
    async def database(self) -> AsyncIterator[Any]:
        database = Database.open(self.url, "tables", pool=2)
        try:
            async with database.begin() as connection:
                yield connection
        finally:
            await database.close()

    async def query(self, statement: str, **values: Any) -> list[Any]:
        async with self.database() as connection:
            found = await connection.execute(sa.text(statement), values)
            return list(found.all()) if found.returns_rows else []

    async def until(self, statement: str, **values: Any) -> list[Any]:
        """The rows of a query, as soon as there are any."""

        async def ask() -> list[Any]:
            return await self.query(statement, **values)

        return await eventually(ask)

    async def rows(self, table: bytes) -> list[Any]:
        """The table's journal: seq, epoch, command_id, body, at."""
        return await self.query("select * from tables.table_log where table_id = :id order by seq", id=as_id(table))

    async def head(self, table: bytes) -> Any:
        [head] = await self.query("select * from tables.table_head where table_id = :id", id=as_id(table))
        return head

    async def events(self, table: bytes) -> list[str]:
        """The types of what was published of the table."""
        found = await self.query("select type from tables.event where key = :key order by occurred_at", key=table)
        return [row.type for row in found]

    @asynccontextmanager
    async def proxied(self) -> AsyncIterator[Proxy]:
        """A proxy in front of PostgreSQL; give a worker `database_url=behind(cluster.url, proxy)`."""
        folder = make_url(self.url).query["host"]
        async with proxied(Path(str(folder)) / ".s.PGSQL.5432") as proxy:
            yield proxy


@dataclass
class Life:
    """A worker in a task of its own."""

    born: asyncio.Future["RunningWorker"] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    ending: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None

    async def end(self) -> None:
        """Drain, or die, and return when it is over."""
        assert self.task is not None
        self.ending.set()
        await self.task


@dataclass
class RunningWorker:
    address: str
    worker_id: str
    gateway: Peer
    matchmaking: Peer
    wallet: Peer

    async def create(
        self, people: int = 1, seats: int = 6, *, deadline_seconds: float = 5, **changes: Any
    ) -> tuple[bytes, list[bytes]]:
        """A quick table; returns its id and the people's accounts."""
        accounts = [uuid4().bytes for _ in range(people)]
        plain: dict[str, Any] = {
            "table_id": uuid4().bytes,
            "kind": tables_pb2.TABLE_KIND_QUICK,
            "mode": 1,
            "game": "romanian",
            "options_json": '{"mode":"quick"}',
            "seats": seats,
            "players": [
                tables_pb2.Player(account_id=account, name=f"P{number}", guest=True, room=1)
                for number, account in enumerate(accounts)
            ],
        }
        request = tables_pb2.CreateTableRequest(**{**plain, **changes})
        stub = tables_pb2_grpc.TablesServiceStub(self.matchmaking.channel)
        await self.matchmaking.call(stub.CreateTable, request, seconds=deadline_seconds)
        return request.table_id, accounts


@pytest.fixture(scope="module")
async def cluster(make_database: MakeDatabase) -> AsyncIterator[Cluster]:
    async with clustered(make_database) as made:
        yield made


@asynccontextmanager
async def clustered(make_database: MakeDatabase) -> AsyncIterator[Cluster]:
    """A database of its own, without workers yet."""
    url = await make_database(MIGRATIONS)
    with tempfile.TemporaryDirectory(prefix="whist-") as folder:
        yield Cluster(url, Path(folder))


async def _nothing() -> None:
    """A drain that never comes."""


def behind(url: str, proxy: Proxy) -> str:
    """The same database by way of the proxy."""
    return f"postgresql+asyncpg://postgres@127.0.0.1:{proxy.port}/{make_url(url).database}"


async def eventually(found: Callable[[], Awaitable[T]], seconds: float = 20) -> T:
    """The first true value of `found`."""
    async with asyncio.timeout(seconds):
        while not (value := await found()):
            await asyncio.sleep(0.02)
    return value


def policy(view: dict[str, Any], legal: list[dict[str, Any]]) -> dict[str, Any]:
    return bots.choose("romanian", {**view, "legal": legal})


class Faulty:
    """A game of ours in which one decision fails by a fault: `fails(state, seat, action)` tells which."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self.fails: Callable[[Any, int, Any], bool] = lambda state, seat, action: False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)

    def decide(self, state: Any, seat: int, action: object) -> Any:
        if self.fails(state, seat, action):
            raise RuntimeError("planted")
        return self._game.decide(state, seat, action)


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> Faulty:
    """Romanian Whist for every table that opens from now on, without a fault until the test plants one."""
    game = Faulty(GAMES["romanian"])
    monkeypatch.setattr("services.tables.domain.table.GAMES", {**GAMES, "romanian": game})
    return game


class Player:
    """Plays one seat through a gateway by the calm bot, following its own view."""

    def __init__(self, gateway: Gateway, table: bytes, account: bytes, conn: int) -> None:
        self.gateway, self.table, self.account, self.conn = gateway, table, account, conn
        self.seen = gateway.follow(table, account, conn)
        self.view: dict[str, Any] = {}
        self.acked: list[tuple[str, int]] = []
        self._read = 0
        self._requests = count(1)
        self.turn: int | None = None
        self.legal: list[dict[str, Any]] = []
        self.trace: Callable[[], str] = str

    async def joined(self) -> "Player":
        """Ask again, as gateways do, until the worker has the table."""
        while not self.seen.told:
            refused = len(self._refusals())
            self.gateway.send(link.Subscribe(self.table, self.account, self.conn, -1))
            await self.gateway.until(partial(self._answered_since, refused))
        return self

    def _answered_since(self, refused: int) -> bool:
        return bool(self.seen.told) or len(self._refusals()) > refused

    def _refusals(self) -> list[link.NotOwner]:
        return [frame for frame in self.gateway.down if isinstance(frame, link.NotOwner) and frame.conn == self.conn]

    def absorb(self) -> None:
        game = GAMES["romanian"]
        for frame in self.seen.told[self._read :]:
            match frame:
                case frames.Snapshot():
                    self.view = frame.view
                    if frame.view.get("legal"):
                        self.turn, self.legal = frame.view["turn"], frame.view["legal"]
                case frames.Delta():
                    for event in frame.events:
                        self.view = game.follow(self.view, event)
                    if frame.req.startswith(f"c{self.conn}-"):
                        self.acked.append((frame.req, frame.seq))
                case frames.Private():
                    for event in frame.events:
                        self.view = game.follow(self.view, event)
                    if not isinstance(frame.legal, msgspec.UnsetType):
                        self.turn, self.legal = frame.turn, frame.legal
                case _:
                    pass
        self._read = len(self.seen.told)

    def errors(self, request: str) -> list[frames.Error]:
        """What refused this command."""
        return [error for error in self.seen.of(frames.Error) if error.req == request]

    def deltas(self, request: str) -> list[frames.Delta]:
        """The rows that this command became."""
        return [delta for delta in self.seen.of(frames.Delta) if delta.req == request]

    def acks(self) -> int:
        """How many own commands stand, as far as this player was told."""
        self.absorb()
        return len(self.acked)

    def act(self, action: dict[str, Any] | None = None, turn: int | None = None, req: str | None = None) -> str:
        request = req or f"c{self.conn}-{next(self._requests)}"
        chosen = policy(self.view, self.legal) if action is None else action
        at = self.turn if turn is None else turn
        assert at is not None
        self.gateway.send(link.Command(self.table, self.account, self.conn, request, at, chosen, self.trace()))
        return request

    def finished(self) -> bool:
        return bool(self.seen.of(frames.Over))

    async def play_on(self, moves: int | None = None) -> None:
        """Play until the game is over, or for so many own moves."""
        while moves is None or moves > 0:
            await self.gateway.until(lambda: self.finished() or self.may_move())
            if self.finished():
                return
            self.act()
            self.turn = None
            if moves is not None:
                moves -= 1

    def may_move(self) -> bool:
        self.absorb()
        return self.turn is not None


def as_id(raw: bytes) -> UUID:
    return UUID(bytes=raw)
