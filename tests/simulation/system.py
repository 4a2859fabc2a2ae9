"""The real wallet and leagues on one bus, over one database, in a time that the test turns."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import grpc
import sqlalchemy as sa
from google.protobuf.message import Message

from libs.chassis.clock import SystemClock
from libs.chassis.db import Database, Store
from libs.chassis.entropy import SystemEntropy
from libs.chassis.events.envelope import Event
from libs.chassis.events.memory import MemoryBus
from libs.chassis.rpc.peer import Peer
from libs.chassis.rpc.server import Server
from libs.chassis.run import running_together
from libs.chassis.service import Spec
from libs.chassis.settings import load_settings
from libs.house.platform import Platform
from libs.house.platform import load as load_platform
from services.leagues.storage.ledger import LeaguesTransaction
from services.leagues.wiring import SPEC as LEAGUES
from services.wallet.storage.ledger import LedgerStore
from services.wallet.wiring import SPEC as WALLET
from tests.simulation.books import Closing
from tests.time_machine import TimeMachine
from whist.leagues.v1.events_pb2 import LeaguesEvent
from whist.tables.v1 import tables_pb2
from whist.tables.v1.tables_pb2_grpc import TablesServiceServicer, add_TablesServiceServicer_to_server
from whist.wallet.v1.wallet_pb2_grpc import WalletServiceStub

MIGRATIONS = (WALLET.migrations, LEAGUES.migrations)
VIP_KEY = "whoever knows this key knows everybody's days"
SETTLES_SECONDS = 120
SCHEMAS = ("wallet", "leagues")


class Tables(TablesServiceServicer):
    """As the table workers answer the wallet: which games finished in a week, all of which are over."""

    def __init__(self) -> None:
        self.finished: dict[str, list[UUID]] = {}

    async def FinishedGames(  # noqa: N802 - gRPC's name
        self, request: tables_pb2.FinishedGamesRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> tables_pb2.FinishedGamesResponse:
        every = sorted(each.bytes for each in self.finished.get(request.week_id, []))
        page = [each for each in every if each > request.after][: request.limit or 5000]
        more = bool(page) and page[-1] != every[-1]
        return tables_pb2.FinishedGamesResponse(table_ids=page, more=more, complete=True)


@dataclass
class System:
    """Both services, the bus into them, and the time."""

    machine: TimeMachine
    bus: MemoryBus
    tables: Tables
    platform: Platform
    wallets: LedgerStore
    leagues: Store[LeaguesTransaction]
    matchmaking: Peer
    gateway: Peer
    seen: list[Event] = field(default_factory=list)

    async def tell(self, topic: str, key: UUID, message: Any, *, times: int = 1) -> Event:
        """An event under a new id, delivered so many times in a row."""
        event = envelope(topic, key, message)
        self.seen.append(event)
        for _ in range(times):
            await self.bus.publish([event])
        return event

    async def hold(self, request: Message) -> Any:
        """Hold an entry, as matchmaking does. Raises DomainError."""
        return await self.matchmaking.call(WalletServiceStub(self.matchmaking.channel).HoldEntry, request)

    async def refund(self, request: Message) -> Any:
        """Give a game back, as the gateway does. Raises DomainError."""
        return await self.gateway.call(WalletServiceStub(self.gateway.channel).Refund, request)

    async def rows(self, statement: str, **values: object) -> list[Any]:
        async with self.wallets.database.begin() as connection:
            found = await connection.execute(sa.text(statement), values)
            return list(found.all()) if found.returns_rows else []

    async def settled(self) -> None:
        """Return when every event has arrived."""
        waiting = " + ".join(f"(select count(*) from {schema}.outbox)" for schema in SCHEMAS)
        await until(self._count, waiting, 0)
        parked = " + ".join(f"(select count(*) from {schema}.parked)" for schema in SCHEMAS)
        assert await self._count(parked) == 0

    async def _count(self, expression: str) -> int:
        [[number]] = await self.rows(f"select {expression}")
        return int(number)

    async def closed(self, week: str, accounts: int) -> Mapping[UUID, Closing]:
        """Wait until leagues have closed the week for so many accounts, and how it ended for each of them.

        Fails where an account's week ended twice.
        """

        async def endings() -> list[LeaguesEvent]:
            rows = await self.rows("select payload from leagues.event where type = 'week_closed'")
            events = [LeaguesEvent.FromString(bytes(row.payload)) for row in rows]
            return [event for event in events if event.week_closed.week_id == week]

        async def ended(_: object) -> bool:
            return len(await endings()) >= accounts

        await until(ended, None, True)
        await self.settled()
        told = [event.week_closed for event in await endings()]
        found = {
            UUID(bytes=each.account_id): Closing(
                tier=each.tier, group=each.group_id, rank=each.rank, ranked=each.ranked, points=each.points,
                next_tier=each.next_tier,
            )
            for each in told
        }  # fmt: skip
        assert len(found) == len(told)
        return found

    async def purses(self) -> dict[UUID, dict[str, int]]:
        """Everything that everybody owns."""
        purses: dict[UUID, dict[str, int]] = {}
        for row in await self.rows("select account_id, asset, amount from wallet.balance where amount > 0"):
            purses.setdefault(row.account_id, {})[row.asset] = row.amount
        return purses

    async def digest(self) -> dict[str, str]:
        """Of every table that an event may change; the inboxes are what keeps repetitions out, and are left out.

        So is what a proof between two looks has summed up of the wallet's own events.
        """
        names = await self.rows(
            "select schemaname || '.' || tablename as name from pg_tables where schemaname in ('wallet', 'leagues') "
            "and tablename !~ '^(inbox|outbox|told|telling|alembic_version)$'"
        )
        digests = {}
        for row in names:
            [[text]] = await self.rows(f"select md5(string_agg(t::text, '|' order by t::text)) from {row.name} t")
            digests[row.name] = str(text)
        return digests

    async def forget_inboxes(self) -> None:
        """As after the time for which event ids are kept."""
        for schema in SCHEMAS:
            await self.rows(f"delete from {schema}.inbox")

    async def told(self) -> list[Event]:
        """What both services have published since the beginning."""
        events = []
        for schema in SCHEMAS:
            rows = await self.rows(f"select * from {schema}.event")
            events += [
                Event(topic=row.topic, key=bytes(row.key), event_id=row.event_id, type=row.type,
                      payload=bytes(row.payload))
                for row in rows
            ]  # fmt: skip
        return events


def envelope(topic: str, key: UUID, message: Any, *, at: datetime | None = None) -> Event:
    """As a service publishes it."""
    event_id = SystemEntropy().uuid7()
    message.event_id = event_id.bytes
    if at is not None:
        message.occurred_at.FromDatetime(at)
    return Event(
        topic=topic, key=key.bytes, event_id=event_id, type=message.WhichOneof("event"),
        payload=message.SerializeToString(),
    )  # fmt: skip


async def until(read: Callable[[Any], Awaitable[object]], argument: object, wanted: object) -> None:
    """Return when it reads as wanted."""
    async with asyncio.timeout(SETTLES_SECONDS):
        while await read(argument) != wanted:
            await asyncio.sleep(0.05)


async def at_once(works: Iterable[Awaitable[object]], limit: int = 12) -> None:
    """All of them, so many side by side: as many as a service has connections for."""
    gate = asyncio.Semaphore(limit)

    async def one(work: Awaitable[object]) -> None:
        async with gate:
            await work

    async with asyncio.TaskGroup() as group:
        for work in works:
            group.create_task(one(work))


@asynccontextmanager
async def running_system(database_url: str, folder: Path, start: datetime) -> AsyncIterator[System]:
    """Both services, from that moment on; `database_url` is migrated and nobody is connected yet."""
    machine = await TimeMachine.install(database_url, folder / "ahead")
    await machine.travel_to(start)
    platform = load_platform()
    tables = Tables()  # type: ignore[abstract] # what the wallet does not call is not served
    bus, clock = MemoryBus(), SystemClock()
    server = Server("tables", {"/whist.tables.v1.TablesService/FinishedGames": frozenset({"wallet"})}, clock)
    await server.start(f"unix:{folder}/tables", [partial(add_TablesServiceServicer_to_server, tables)])
    places = {
        "database_url": database_url, "database_pool": 10, "tables_target": f"unix:{folder}/tables",
        "wallet_target": f"unix:{folder}/wallet", "vip_key": VIP_KEY, "close_seconds": 0.2,
    }  # fmt: skip
    parts: list[tuple[Spec[Any], Any]] = [
        (
            spec,
            load_settings(
                spec.settings,
                grpc_listen=f"unix:{folder}/{spec.name}",
                **{name: value for name, value in places.items() if name in spec.settings.model_fields},
            ),
        )
        for spec in (WALLET, LEAGUES)
    ]
    peers = [Peer(f"unix:{folder}/wallet", caller) for caller in ("matchmaking", "gateway")]
    proofs = [Database.open(database_url, schema, command_seconds=None) for schema in SCHEMAS]
    try:
        with machine.here():
            async with asyncio.TaskGroup() as group, running_together(parts, bus, {}):
                delivering = group.create_task(bus.run())
                yield System(
                    machine=machine, bus=bus, tables=tables, platform=platform,
                    wallets=LedgerStore(proofs[0], SystemEntropy()),
                    leagues=Store(proofs[1], LeaguesTransaction, SystemEntropy()),
                    matchmaking=peers[0], gateway=peers[1],
                )  # fmt: skip
                delivering.cancel()
    finally:
        for peer in peers:
            await peer.close()
        for database in proofs:
            await database.close()
        await server.stop(0)
