"""Players over the SDK's own connection, each with a log of all it sent and heard; they come back by themselves."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import cycle
from random import Random
from typing import Any
from uuid import UUID, uuid4

import httpx

from libs.client.sdk.api import Api
from libs.client.sdk.backoff import Backoff
from libs.client.sdk.errors import TurnPassed, WhistError
from libs.client.sdk.session import MemoryStore, Session
from libs.client.sdk.socket import Connection
from libs.client.sdk.table import Decision, Result, Table
from libs.engine.bots import choose
from libs.house.ids import table_id
from libs.wire import frames
from tests.chaos.history.model import ClientLog, view_digest
from tests.chaos.system import Member, System
from tests.e2e.story import mailed_code
from whist.tables.v1 import tables_pb2, tables_pb2_grpc

QUICK = ("quick", 1)  # the engine's word and the wire's number (P6)
CLASSIC = ("8-1-8", 2)
AT_ONCE = 8  # accounts and tables being made
JOIN_SECONDS = 30
LOOK_SECONDS = 0.2  # between two tries to see a table
SEATS = 6
SOUND = 0.75  # share of moves that a calm bot would make
Entry = Callable[[UUID, "Sequence[Account]"], Awaitable[None]]


class Logged(Connection):
    """The SDK's connection that tries the gateways in turn and writes down what goes out and comes in."""

    def __init__(self, urls: Sequence[tuple[str, str]], session: Session, log: ClientLog) -> None:
        """`urls` are (gateway's name, address)."""
        super().__init__("", session, Backoff(), self._ended_while_away)
        self._urls = cycle(urls)
        self.at = ""  # the gateway that is tried or used now
        self._log = log
        self._table: Table | None = None

    def follow(self, table_id: str) -> Table:
        self._table = super().follow(table_id)
        return self._table

    async def _once(self) -> str:
        self.at, self._url = next(self._urls)
        return await super()._once()

    def _post(self, frame: frames.ClientFrame) -> None:
        if isinstance(frame, frames.Act):
            self._log.invoke(frame, time.monotonic())
        super()._post(frame)

    def _deliver(self, frame: frames.ServerFrame) -> None:
        self._log.hear(frame, time.monotonic())
        super()._deliver(frame)
        if self._table is not None and self._table.view:
            self._log.views[self._table.seq] = view_digest(self._table.view)

    def _touch(self) -> None:
        if self.connected:
            self._log.connected_at.append(time.monotonic())
        super()._touch()

    async def look(self) -> None:
        """Ask for the whole table as it is now; returns with the answer, or when the table is over."""
        table, seen = self._table, len(self._log.snapshots)
        assert table is not None
        while table.live and len(self._log.snapshots) == seen:
            self._post(frames.Join(table=table.id))
            await asyncio.sleep(LOOK_SECONDS)

    async def _ended_while_away(self, table: Table) -> None:
        """The game ended while this client was cut off: what it says is in the record, which others check."""
        table.finish(Result(status="finished", seat=table.seat))


@dataclass(slots=True, kw_only=True)
class Account:
    """Somebody who may sit down."""

    id: bytes
    name: str
    session: Session
    guest: bool


@dataclass(slots=True, kw_only=True)
class Player:
    """One person at one table, connected from `Room.seat` on until the room closes, but for absences."""

    account: Account
    urls: tuple[tuple[str, str], ...]
    log: ClientLog
    random: Random
    think_seconds: float
    connection: Logged = field(init=False)
    table: Table = field(init=False)

    def __post_init__(self) -> None:
        self.come()

    def come(self) -> None:
        """Follow the table over a connection of one's own, as somebody who knows nothing of it yet."""
        self.connection = Logged(self.urls, self.account.session, self.log)
        self.connection.start()
        self.table = self.connection.follow(self.log.table.hex)

    async def go(self) -> None:
        """Be away: the socket is closed."""
        await self.connection.close()

    async def play(self, enough: Callable[[], bool] = lambda: False) -> None:
        """A sound move or any legal one, drawn by the seed, until the game is over or it is `enough`."""
        async for decision in self.table:
            if enough():
                return
            if self.think_seconds:
                await asyncio.sleep(self.random.uniform(0.5, 1.5) * self.think_seconds)
            try:
                await decision.take(self.chosen(decision))
            except TurnPassed:
                continue
            except WhistError:
                if self.table.result is None:
                    raise
                return

    def chosen(self, decision: Decision) -> Mapping[str, Any]:
        """Mostly what wins, so that prizes are paid; else whatever the rules allow, so that all of them are met."""
        if self.random.random() < SOUND:
            return choose(self.table.game, decision.view)
        return self.random.choice(decision.legal)


@dataclass(slots=True, kw_only=True)
class Room:
    """Everybody who plays in a run."""

    system: System
    http: httpx.AsyncClient
    random: Random
    players: list[Player]
    tables: list[UUID]

    async def part(self) -> None:
        """Everybody looks at his table once more, if it is live, and disconnects: nothing is logged from then on."""
        async with asyncio.timeout(JOIN_SECONDS):
            await asyncio.gather(*(player.connection.look() for player in self.players))
        await asyncio.gather(*(player.connection.close() for player in self.players))

    def logs(self) -> tuple[ClientLog, ...]:
        return tuple(player.log for player in self.players)

    async def accounts(self, count: int, *, guests: bool = True) -> list[Account]:
        """New ones; who is no guest has signed in by a mailed code."""
        gate = asyncio.Semaphore(AT_ONCE)

        async def one(number: int) -> Account:
            async with gate:
                url = self.system.gateways[number % len(self.system.gateways)]
                session = Session(Api(url, self.http, Backoff()), MemoryStore())
                await (session.become_guest() if guests else self._sign_in(session, url))
                plain = session.account
                return Account(id=bytes.fromhex(plain["account_id"]), name=plain["name"], session=session, guest=guests)

        return await asyncio.gather(*(one(number) for number in range(count)))

    async def _sign_in(self, session: Session, url: str) -> None:
        address = f"{uuid4().hex}@example.org"
        login = await Api(url, self.http, Backoff()).start_login(address, "en")
        await session.sign_in(login, await mailed_code(self.system.home.mails, address))

    async def create(
        self,
        worker: Member,
        people: Sequence[Account],
        *,
        mode: tuple[str, int] = QUICK,
        room: int = 1,
        entry: Entry | None = None,
    ) -> UUID:
        """A quick-play table on that worker, each entry taken before it; bots take the seats that are left."""
        word, number = mode
        table = table_id(uuid4())
        if entry is not None:
            await entry(table, people)
        request = tables_pb2.CreateTableRequest(
            table_id=table.bytes,
            kind=tables_pb2.TABLE_KIND_QUICK,
            mode=number,  # type: ignore[arg-type]
            game="romanian",
            options_json=f'{{"mode":"{word}"}}',
            seats=SEATS,
            players=[
                tables_pb2.Player(account_id=each.id, name=each.name, guest=each.guest, room=room) for each in people
            ],
        )
        async with self.system.peer(worker, "matchmaking") as peer:
            await peer.call(tables_pb2_grpc.TablesServiceStub(peer.channel).CreateTable, request)
        self.tables.append(table)
        return table

    async def seat(self, account: Account, table: UUID, *, think_seconds: float = 0.0) -> Player:
        """Join the table over a socket of the account's own; returns with the first snapshot."""
        log = ClientLog(table=table, account=account.id)
        urls = self.system.sockets
        first = self.random.randrange(len(urls))
        player = Player(
            account=account, urls=(*urls[first:], *urls[:first]), log=log,
            random=Random(self.random.random()), think_seconds=think_seconds,
        )  # fmt: skip
        self.players.append(player)
        async with asyncio.timeout(JOIN_SECONDS):
            await player.table.joined()
        return player

    async def deal(
        self,
        tables: int,
        *,
        people: int = 1,
        think_seconds: float = 0.0,
        mode: tuple[str, int] = QUICK,
        room: int = 1,
        entry: Entry | None = None,
    ) -> None:
        """So many tables, dealt in turn by all workers, with so many people each, all of them joined.

        With an `entry`, which is taken before the deal, people are signed in; else they are guests.
        """
        accounts = await self.accounts(tables * people, guests=entry is None)
        workers = self.system.of("tables")
        gate = asyncio.Semaphore(AT_ONCE)

        async def one(number: int) -> None:
            async with gate:
                sitting = accounts[number * people : (number + 1) * people]
                worker = workers[number % len(workers)]
                table = await self.create(worker, sitting, mode=mode, room=room, entry=entry)
                await asyncio.gather(*(self.seat(each, table, think_seconds=think_seconds) for each in sitting))

        async with asyncio.TaskGroup() as group:
            for number in range(tables):
                group.create_task(one(number))


@asynccontextmanager
async def room(system: System, random: Random) -> AsyncIterator[Room]:
    """A place for players; all are disconnected at its end."""
    limits = httpx.Limits(max_connections=AT_ONCE * 2)
    async with httpx.AsyncClient(timeout=20, limits=limits) as http:
        made = Room(system=system, http=http, random=random, players=[], tables=[])
        try:
            yield made
        finally:
            await asyncio.gather(*(player.connection.close() for player in made.players))


@asynccontextmanager
async def playing(made: Room, asleep: Sequence[Player] = ()) -> AsyncIterator[list[asyncio.Task[None]]]:
    """Everybody who is not asleep plays inside the block; who still does at its end is stopped where he is."""
    tasks = [asyncio.create_task(player.play()) for player in made.players if player not in asleep]
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
    for each in ended:
        if isinstance(each, Exception):
            raise each
