"""Events as other services publish them, and the service under test as a process would run it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from libs.chassis.db import Store
from libs.chassis.entropy import SystemEntropy
from libs.chassis.events.envelope import Event
from libs.chassis.events.memory import MemoryBus
from libs.chassis.rpc.peer import Peer
from libs.chassis.run import running
from libs.chassis.service import Chassis
from libs.house import platform
from services.leagues.settings import LeaguesSettings
from services.leagues.storage.ledger import LeaguesTransaction
from services.leagues.wiring import SPEC
from tests.services.envelopes import enveloped
from whist.auth.v1.events_pb2 import AccountCreated, AccountDeleted, AuthEvent, GuestUpgraded
from whist.leagues.v1.events_pb2 import LeaguesEvent
from whist.leagues.v1.leagues_pb2 import (
    GroupRequest,
    GroupResponse,
    LeaderboardRequest,
    LeaderboardResponse,
    ProfileRequest,
    ProfileResponse,
    StandingRequest,
    StandingResponse,
    UploadOfflineRequest,
    UploadOfflineResponse,
)
from whist.leagues.v1.leagues_pb2_grpc import LeaguesServiceStub
from whist.tables.v1.events_pb2 import GameFinished, GameStarted, GameVoided, Seat, SeatResult, TablesEvent
from whist.tables.v1.tables_pb2 import TABLE_KIND_FRIENDS, TABLE_KIND_QUICK, TableKind
from whist.types.v1.types_pb2 import MODE_QUICK
from whist.wallet.v1.events_pb2 import GameRefunded, PrizePaid, PrizeReversed, WalletEvent

ENTROPY = SystemEntropy()
WEEK = "2026-W48"
EVENING = datetime(2026, 11, 29, 20, 0, tzinfo=UTC)
PLATFORM = platform.load()


def new_id() -> UUID:
    return ENTROPY.uuid7()


def seat_result(account_id: UUID | None, *, place: int = 1, own_bids: int = 6, own_made: int = 3,
                rounds: int = 6, bid_lately: bool = True, left: bool = False, seat: int = 0) -> SeatResult:  # fmt: skip
    return SeatResult(
        seat=Seat(seat=seat, account_id=account_id.bytes if account_id else b"", room=1),
        place=place, total=0, own_bids=own_bids, own_made=own_made, rounds=rounds, bid_lately=bid_lately, left=left,
    )  # fmt: skip


def game_finished(*seats: SeatResult, table_id: UUID | None = None, week: str = WEEK, at: datetime = EVENING,
                  kind: "TableKind.ValueType" = TABLE_KIND_QUICK) -> Event:  # fmt: skip
    table = table_id or new_id()
    event = TablesEvent(
        event_id=new_id().bytes,
        game_finished=GameFinished(
            table_id=table.bytes, kind=kind, mode=MODE_QUICK, game="romanian", seats=seats, week_id=week
        ),
    )
    event.occurred_at.FromDatetime(at)
    return enveloped("whist.tables.events.v1", table.bytes, event)


def friends_finished(
    *seats: SeatResult, table_id: UUID | None = None, week: str = WEEK, at: datetime = EVENING
) -> Event:
    return game_finished(*seats, table_id=table_id, week=week, at=at, kind=TABLE_KIND_FRIENDS)


def game_started(commitment: bytes) -> Event:
    table = new_id()
    started = GameStarted(table_id=table.bytes, kind=TABLE_KIND_QUICK, game="romanian", commitment=commitment)
    event = TablesEvent(event_id=new_id().bytes, game_started=started)
    return enveloped("whist.tables.events.v1", table.bytes, event)


def game_voided(table_id: UUID, *, had_finished: bool = True,
                kind: "TableKind.ValueType" = TABLE_KIND_QUICK) -> Event:  # fmt: skip
    voided = GameVoided(table_id=table_id.bytes, kind=kind, reason="operator", had_finished=had_finished)
    event = TablesEvent(event_id=new_id().bytes, game_voided=voided)
    event.occurred_at.FromDatetime(EVENING)
    return enveloped("whist.tables.events.v1", table_id.bytes, event)


def prize_paid(account_id: UUID, coins: int, *, table_id: UUID | None = None, week: str = WEEK,
               at: datetime = EVENING) -> Event:  # fmt: skip
    table = table_id or new_id()
    paid = PrizePaid(account_id=account_id.bytes, table_id=table.bytes, coins=coins, place=1, week_id=week)
    return _wallet(account_id, WalletEvent(prize_paid=paid), at)


def game_refunded(account_id: UUID, coins: int, table_id: UUID, *, week: str = WEEK) -> Event:
    refunded = GameRefunded(account_id=account_id.bytes, table_id=table_id.bytes, prize_coins=coins, week_id=week)
    return _wallet(account_id, WalletEvent(game_refunded=refunded), EVENING)


def prize_reversed(account_id: UUID, coins: int, table_id: UUID, *, week: str = WEEK) -> Event:
    gone = PrizeReversed(account_id=account_id.bytes, table_id=table_id.bytes, coins=coins, week_id=week)
    return _wallet(account_id, WalletEvent(prize_reversed=gone), EVENING)


def _wallet(account_id: UUID, event: WalletEvent, at: datetime) -> Event:
    event.event_id = new_id().bytes
    event.occurred_at.FromDatetime(at)
    return enveloped("whist.wallet.events.v1", account_id.bytes, event)


def account_created(account_id: UUID, *, guest: bool) -> Event:
    created = AccountCreated(account_id=account_id.bytes, name="Ana", guest=guest)
    event = AuthEvent(event_id=new_id().bytes, account_created=created)
    return enveloped("whist.auth.events.v1", account_id.bytes, event)


def guest_upgraded(account_id: UUID) -> Event:
    upgraded = GuestUpgraded(account_id=account_id.bytes, name="Ana")
    event = AuthEvent(event_id=new_id().bytes, guest_upgraded=upgraded)
    return enveloped("whist.auth.events.v1", account_id.bytes, event)


def account_deleted(account_id: UUID) -> Event:
    deleted = AccountDeleted(account_id=account_id.bytes)
    event = AuthEvent(event_id=new_id().bytes, account_deleted=deleted)
    return enveloped("whist.auth.events.v1", account_id.bytes, event)


def minutes(count: float) -> datetime:
    """After the first game of the evening."""
    return EVENING + timedelta(minutes=count)


@dataclass(frozen=True, slots=True, kw_only=True)
class Leagues:
    """The running service, seen from outside."""

    chassis: Chassis[LeaguesSettings]
    bus: MemoryBus
    gateway: Peer
    stranger: Peer

    @property
    def books(self) -> Store[LeaguesTransaction]:
        return self.chassis.store(LeaguesTransaction)

    async def profile(self, account_id: UUID) -> ProfileResponse:
        stub = LeaguesServiceStub(self.gateway.channel)
        answer: ProfileResponse = await self.gateway.call(stub.Profile, ProfileRequest(account_id=account_id.bytes))
        return answer

    async def standing(self, account_id: UUID, week: str = WEEK) -> StandingResponse:
        stub = LeaguesServiceStub(self.gateway.channel)
        request = StandingRequest(account_id=account_id.bytes, week_id=week)
        answer: StandingResponse = await self.gateway.call(stub.Standing, request)
        return answer

    async def group(self, account_id: UUID, week: str = WEEK) -> GroupResponse:
        stub = LeaguesServiceStub(self.gateway.channel)
        request = GroupRequest(account_id=account_id.bytes, week_id=week)
        answer: GroupResponse = await self.gateway.call(stub.Group, request)
        return answer

    async def told(self, kind: str) -> list[Any]:
        """The published events of one kind, in order."""
        rows = await self.rows("select payload from leagues.event where type = :kind order by event_id", kind=kind)
        return [getattr(LeaguesEvent.FromString(bytes(row.payload)), kind) for row in rows]

    async def upload(self, account_id: UUID, record_json: str, *, guest: bool = False) -> UploadOfflineResponse:
        stub = LeaguesServiceStub(self.gateway.channel)
        request = UploadOfflineRequest(account_id=account_id.bytes, guest=guest, record_json=record_json)
        answer: UploadOfflineResponse = await self.gateway.call(stub.UploadOffline, request, seconds=30)
        return answer

    async def leaderboard(self, account_id: UUID, week: str = WEEK, limit: int = 0) -> LeaderboardResponse:
        stub = LeaguesServiceStub(self.gateway.channel)
        request = LeaderboardRequest(account_id=account_id.bytes, week_id=week, limit=limit)
        answer: LeaderboardResponse = await self.gateway.call(stub.Leaderboard, request)
        return answer

    async def levels_reached(self, account_id: UUID) -> list[int]:
        """Of all events kept for this account, in order."""
        rows = await self.rows(
            "select payload from leagues.event where key = :key order by event_id", key=account_id.bytes
        )
        return [LeaguesEvent.FromString(bytes(row.payload)).level_reached.level for row in rows]

    async def rows(self, query: str, **values: object) -> list[sa.Row]:  # type: ignore[type-arg]
        async with self.chassis.database.begin() as connection:
            found = await connection.execute(sa.text(query), values)
            return list(found.all()) if found.returns_rows else []


@asynccontextmanager
async def leagues_running(
    url: str,
    folder: Path,
    *,
    wallet_target: str = "unix:/absent",
    close_seconds: float = 3600,
    platform_config: Path | None = None,
) -> AsyncIterator[Leagues]:
    """One replica; weeks are closed when a test says so, unless `close_seconds` is short."""
    bus = MemoryBus()
    target = f"unix:{folder}/leagues-{new_id().hex[-8:]}.sock"
    settings = LeaguesSettings(
        database_url=url,
        database_pool=10,
        grpc_listen=target,
        wallet_target=wallet_target,
        close_seconds=close_seconds,
        platform_config=platform_config,
    )
    async with SPEC.open(settings, bus=bus) as (chassis, service), running(SPEC, chassis, service):
        gateway, stranger = Peer(target, "gateway"), Peer(target, "matchmaking")
        try:
            yield Leagues(chassis=chassis, bus=bus, gateway=gateway, stranger=stranger)
        finally:
            await gateway.close()
            await stranger.close()
