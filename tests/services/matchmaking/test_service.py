"""Matchmaking as others meet it: its RPCs over a Unix socket, its events on the bus, all of them twice (P1-P9)."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st

from libs.chassis.entropy import SystemEntropy
from libs.chassis.errors import DomainError, Kind, Refusal
from libs.chassis.events.bus import Listener
from libs.chassis.events.memory import MemoryBus
from libs.chassis.rpc.errors import status_of
from libs.chassis.rpc.peer import Peer
from libs.chassis.run import running
from libs.chassis.settings import WrongSettings
from services.matchmaking.settings import MatchmakingSettings
from services.matchmaking.wiring import SPEC
from tests.services.envelopes import enveloped
from tests.services.matchmaking.world import KEY, until
from whist.auth.v1.events_pb2 import (
    AccountDeleted,
    AccountReinstated,
    AccountSuspended,
    AuthEvent,
    GuestUpgraded,
    NameChanged,
)
from whist.leagues.v1 import leagues_pb2
from whist.leagues.v1.events_pb2 import LeaguesEvent, LevelReached, TierChanged
from whist.matchmaking.v1 import matchmaking_pb2 as pb
from whist.matchmaking.v1.events_pb2 import MatchmakingEvent
from whist.matchmaking.v1.matchmaking_pb2_grpc import MatchmakingServiceStub
from whist.tables.v1 import tables_pb2
from whist.tables.v1.events_pb2 import GameFinished, GameVoided, SeatVacated, TablesEvent
from whist.tables.v1.tables_pb2_grpc import TablesServiceServicer, add_TablesServiceServicer_to_server
from whist.types.v1 import types_pb2
from whist.wallet.v1 import wallet_pb2
from whist.wallet.v1.wallet_pb2_grpc import WalletServiceServicer, add_WalletServiceServicer_to_server

ENTROPY = SystemEntropy()
FRIENDS = ENTROPY.uuid7().bytes


class Wallet(WalletServiceServicer):
    """Everybody has a thousand coins, two cups ×2, and whoever is `poor` nothing at the deal."""

    def __init__(self) -> None:
        self.holds: list[wallet_pb2.HoldEntryRequest] = []
        self.poor: set[bytes] = set()

    async def Balances(self, request: Any, context: Any) -> wallet_pb2.BalancesResponse:  # noqa: N802
        del request, context
        return wallet_pb2.BalancesResponse(assets=types_pb2.Assets(coins=1_000, cups_x2=2))

    async def HoldEntry(self, request: Any, context: Any) -> wallet_pb2.HoldEntryResponse:  # noqa: N802
        if request.account_id in self.poor:
            await context.abort_with_status(status_of(Refusal(Kind.CONFLICT, "INSUFFICIENT_FUNDS")))
        self.holds.append(request)
        return wallet_pb2.HoldEntryResponse()

    async def ReleaseEntry(self, request: Any, context: Any) -> wallet_pb2.ReleaseEntryResponse:  # noqa: N802
        del request, context
        return wallet_pb2.ReleaseEntryResponse()


class Tables(TablesServiceServicer):
    """Deals at once, drains on every first request."""

    def __init__(self) -> None:
        self.made: dict[bytes, tables_pb2.CreateTableRequest] = {}
        self.asked: set[bytes] = set()
        # Who sits at a friends' table.
        self.friends: set[bytes] = set()

    async def SeatOf(self, request: Any, context: Any) -> tables_pb2.SeatOfResponse:  # noqa: N802
        return tables_pb2.SeatOfResponse(table_id=FRIENDS if request.account_id in self.friends else b"")

    async def CreateTable(self, request: Any, context: Any) -> tables_pb2.CreateTableResponse:  # noqa: N802
        if request.table_id not in self.asked:
            self.asked.add(request.table_id)
            await context.abort_with_status(status_of(Refusal(Kind.UNAVAILABLE, "DRAINING")))
        elsewhere = [player.account_id.hex() for player in request.players if player.account_id in self.friends]
        if elsewhere:
            await context.abort_with_status(status_of(Refusal(Kind.CONFLICT, "ALREADY_SEATED", accounts=elsewhere)))
        self.made[request.table_id] = request
        return tables_pb2.CreateTableResponse()

    async def GetTable(self, request: Any, context: Any) -> tables_pb2.GetTableResponse:  # noqa: N802
        if request.table_id not in self.made:
            await context.abort_with_status(status_of(Refusal(Kind.NOT_FOUND, "TABLE_UNKNOWN")))
        return tables_pb2.GetTableResponse(status=tables_pb2.TABLE_STATUS_LIVE, seat=0)


class Client:
    """A caller of the service."""

    def __init__(self, address: str, caller: str) -> None:
        self.peer = Peer(address, caller)
        self.stub = MatchmakingServiceStub(self.peer.channel)

    async def call(self, method: str, request: Message) -> Any:
        return await self.peer.call(getattr(self.stub, method), request, tries=1)

    async def refusal(self, method: str, request: Message) -> str:
        with pytest.raises(DomainError) as refused:
            await self.call(method, request)
        return refused.value.reason


class House:
    """The running service with its neighbours."""

    def __init__(self) -> None:
        self.wallet = Wallet()  # type: ignore[abstract] # as much of it as is called
        self.tables = Tables()  # type: ignore[abstract]
        self.bus = MemoryBus(deliveries=2)
        self.heard: list[MatchmakingEvent] = []
        self.bus.listen(
            Listener(topic="whist.matchmaking.events.v1", message=MatchmakingEvent, handle=self.heard.append)
        )
        self.client: Client

    async def tell(self, topic: str, key: bytes, message: Any) -> None:
        message.event_id = ENTROPY.uuid7().bytes
        await self.bus.publish([enveloped(topic, key, message)])

    async def six_seated(self, mode: types_pb2.Mode.ValueType) -> tuple[list[bytes], bytes]:
        """Their accounts and their table."""
        accounts = [ENTROPY.uuid7().bytes for _ in range(6)]
        for account_id in accounts:
            await self.client.call("Enqueue", a_request(account_id, mode=mode))

        async def seated() -> bool:
            return (await self.status(accounts[0])).state == pb.QUEUE_STATE_SEATED

        await until(seated)
        return accounts, (await self.status(accounts[0])).table_id

    async def status(self, account_id: bytes) -> pb.QueueStatus:
        answer: pb.StatusResponse = await self.client.call("Status", pb.StatusRequest(account_id=account_id))
        return answer.status


def a_request(account_id: bytes, **choice: Any) -> pb.EnqueueRequest:
    plain = {"name": "Ana", "room": 1, "mode": types_pb2.MODE_QUICK}
    return pb.EnqueueRequest(account_id=account_id, **{**plain, **choice})


@pytest.fixture(scope="module")
async def house(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    folder: Path = tmp_path_factory.mktemp("mm")
    house = House()
    neighbours = grpc.aio.server()
    add_WalletServiceServicer_to_server(house.wallet, neighbours)
    add_TablesServiceServicer_to_server(house.tables, neighbours)
    neighbours.add_insecure_port(f"unix:{folder}/n")
    await neighbours.start()
    values: dict[str, Any] = {
        "database_url": database_url,
        "grpc_listen": f"unix:{folder}/s",
        "wallet_target": f"unix:{folder}/n",
        "tables_target": f"unix:{folder}/n",
        "drain_seconds": 2,
        "vip_key": KEY.decode(),
    }
    async with (
        SPEC.open(MatchmakingSettings(**values), bus=house.bus) as (chassis, service),
        running(SPEC, chassis, service),
    ):
        house.client = Client(f"unix:{folder}/s", "gateway")
        yield house
        await house.client.peer.close()
    await neighbours.stop(None)


async def test_p1_p3_six_requests_become_a_table_with_six_seats(house: House) -> None:
    accounts, table_id = await house.six_seated(types_pb2.MODE_CLASSIC)
    made = house.tables.made[table_id]
    assert (made.kind, made.mode, made.game) == (tables_pb2.TABLE_KIND_QUICK, types_pb2.MODE_CLASSIC, "romanian")
    assert (made.options_json, made.seats) == ('{"mode": "8-1-8"}', 6)
    assert {player.account_id for player in made.players} == set(accounts)
    assert {hold.account_id for hold in house.wallet.holds if hold.table_id == table_id} == set(accounts)
    await until(lambda: _heard(house, accounts))
    made_events = [event for event in house.heard if event.match_made.table_id == table_id]
    assert all(event.match_made.waited_ms >= 0 and event.HasField("occurred_at") for event in made_events)


async def test_x3_who_sits_at_a_friends_table_is_refused_or_dropped_when_that_came_later(house: House) -> None:
    sits, late = (ENTROPY.uuid7().bytes for _ in range(2))
    house.tables.friends.add(sits)
    assert await house.client.refusal("Enqueue", a_request(sits)) == "ALREADY_SEATED"
    await house.client.call("Enqueue", a_request(late))
    house.tables.friends.add(late)
    for _ in range(5):
        await house.client.call("Enqueue", a_request(ENTROPY.uuid7().bytes))

    async def dropped() -> bool:
        return (await house.status(late)).state == pb.QUEUE_STATE_DROPPED

    await until(dropped)
    assert (await house.status(late)).dropped_reason == "ALREADY_SEATED"


async def test_p8_the_seat_lasts_until_the_game_is_over_or_left(house: House) -> None:
    accounts, table_id = await house.six_seated(types_pb2.MODE_QUICK)
    again = (await house.client.call("Enqueue", a_request(accounts[0]))).status
    assert (again.state, again.table_id) == (pb.QUEUE_STATE_SEATED, table_id)
    assert await house.client.refusal("Cancel", pb.CancelRequest(account_id=accounts[0])) == "ALREADY_MATCHED"
    vacated = SeatVacated(table_id=table_id, account_id=accounts[0])
    await house.tell("whist.tables.events.v1", table_id, TablesEvent(seat_vacated=vacated))
    states = [(await house.status(account_id)).state for account_id in accounts]
    assert states == [pb.QUEUE_STATE_IDLE, *[pb.QUEUE_STATE_SEATED] * 5]
    fresh = (await house.client.call("Enqueue", a_request(accounts[0]))).status
    assert fresh.state == pb.QUEUE_STATE_WAITING
    finished = GameFinished(table_id=table_id)
    await house.tell("whist.tables.events.v1", table_id, TablesEvent(game_finished=finished))
    states = [(await house.status(account_id)).state for account_id in accounts]
    assert states == [pb.QUEUE_STATE_WAITING, *[pb.QUEUE_STATE_IDLE] * 5]
    await house.client.call("Cancel", pb.CancelRequest(account_id=accounts[0]))


async def test_p8_a_voided_game_frees_its_seats(house: House) -> None:
    accounts, table_id = await house.six_seated(types_pb2.MODE_QUICK)
    voided = TablesEvent(game_voided=GameVoided(table_id=table_id))
    await house.tell("whist.tables.events.v1", table_id, voided)
    assert {(await house.status(account_id)).state for account_id in accounts} == {pb.QUEUE_STATE_IDLE}


async def test_p8_watch_tells_the_way_to_the_seat_and_ends_there(house: House) -> None:
    accounts = [ENTROPY.uuid7().bytes for _ in range(6)]
    await house.client.call("Enqueue", a_request(accounts[0]))
    told: list[pb.QueueStatus] = []
    first_told = asyncio.Event()

    async def watch() -> None:
        request = pb.WatchRequest(account_id=accounts[0])
        async for response in house.client.peer.watch(house.client.stub.Watch, request):
            told.append(response.status)
            first_told.set()

    async with asyncio.TaskGroup() as group:
        group.create_task(watch())
        await first_told.wait()
        for account_id in accounts[1:]:
            await house.client.call("Enqueue", a_request(account_id))
    assert (told[0].state, told[-1].state) == (pb.QUEUE_STATE_WAITING, pb.QUEUE_STATE_SEATED)
    assert told[0].HasField("deals_at")
    assert told[0].seats_filled == 1
    assert len(told[-1].table_id) == 16


async def test_p8_who_cannot_pay_is_told_so(house: House) -> None:
    accounts = [ENTROPY.uuid7().bytes for _ in range(6)]
    house.wallet.poor.add(accounts[5])
    for account_id in accounts:
        await house.client.call("Enqueue", a_request(account_id))

    async def dropped() -> bool:
        return (await house.status(accounts[5])).state == pb.QUEUE_STATE_DROPPED

    await until(dropped)
    assert (await house.status(accounts[5])).dropped_reason == "INSUFFICIENT_FUNDS"


async def test_p82_p45_the_queue_follows_what_auth_tells(house: House) -> None:
    suspended, deleted, guest = (ENTROPY.uuid7().bytes for _ in range(3))
    for account_id in (suspended, deleted, guest):
        await house.client.call("Enqueue", a_request(account_id, guest=account_id == guest, network=bytes(3)))

    async def tell(account_id: bytes, **event: Any) -> None:
        message = AuthEvent(**event)
        message.occurred_at.GetCurrentTime()
        await house.tell("whist.auth.events.v1", account_id, message)

    await tell(suspended, account_suspended=AccountSuspended(account_id=suspended))
    await tell(deleted, account_deleted=AccountDeleted(account_id=deleted))
    await tell(guest, guest_upgraded=GuestUpgraded(account_id=guest, name="Iordana"))
    await tell(guest, name_changed=NameChanged(account_id=guest, name="Ioana"))
    for account_id, reason in ((suspended, "ACCOUNT_SUSPENDED"), (deleted, "ACCOUNT_DELETED")):
        status = await house.status(account_id)
        assert (status.state, status.dropped_reason) == (pb.QUEUE_STATE_DROPPED, reason)
        assert await house.client.refusal("Enqueue", a_request(account_id)) == reason
    await tell(suspended, account_reinstated=AccountReinstated(account_id=suspended))
    assert (await house.client.call("Enqueue", a_request(suspended))).status.state == pb.QUEUE_STATE_WAITING
    assert (await house.status(guest)).position >= 1
    for account_id in (suspended, guest):
        await house.client.call("Cancel", pb.CancelRequest(account_id=account_id))


async def test_p2_p4_p9_rooms_follow_what_leagues_tell(house: House) -> None:
    account_id = ENTROPY.uuid7().bytes
    reached = LevelReached(account_id=account_id, level=6)
    await house.tell("whist.leagues.events.v1", account_id, LeaguesEvent(level_reached=reached))
    changed = TierChanged(account_id=account_id, tier=leagues_pb2.TIER_QUEEN)
    await house.tell("whist.leagues.events.v1", account_id, LeaguesEvent(tier_changed=changed))
    rooms = (await house.client.call("Rooms", pb.RoomsRequest(account_id=account_id))).rooms
    assert [room.closed_reason for room in rooms[:5]] == ["", "", "", "", "LEVEL_TOO_LOW"]
    assert [room.room for room in rooms] == list(range(1, 13))
    assert list(rooms[0].prizes) == [100, 70, 55]
    guest = (await house.client.call("Rooms", pb.RoomsRequest(account_id=account_id, guest=True))).rooms
    assert [room.closed_reason for room in guest] == ["", *["GUESTS_ROOM_1_ONLY"] * 11]


@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        ({"room": 99}, "UNKNOWN_ROOM"),
        ({"mode": types_pb2.MODE_UNSPECIFIED}, "UNKNOWN_MODE"),
        ({"mode": 77}, "UNKNOWN_MODE"),
        ({"coffee": 77}, "UNKNOWN_COFFEE"),
        ({"name": ""}, "BAD_NAME"),
        ({"network": b"home"}, "BAD_NETWORK"),
        ({"coffee": types_pb2.COFFEE_X5}, "INSUFFICIENT_FUNDS"),
        ({"guest": True, "room": 2}, "GUESTS_ROOM_1_ONLY"),
        ({"guest": True, "coffee": types_pb2.COFFEE_X2}, "GUESTS_HAVE_NO_COFFEE"),
        ({"room": 2}, "LEVEL_TOO_LOW"),
    ],
)
async def test_x20_wishes_are_refused_with_their_reason(house: House, choice: dict[str, Any], reason: str) -> None:
    account_id = ENTROPY.uuid7().bytes
    assert await house.client.refusal("Enqueue", a_request(account_id, **choice)) == reason
    assert (await house.status(account_id)).state == pb.QUEUE_STATE_IDLE


@pytest.mark.parametrize("key", ["", "too short"])
async def test_p13_without_a_real_vip_key_it_does_not_start(database_url: str, key: str) -> None:
    values: dict[str, Any] = {"database_url": database_url, "vip_key": key}
    with pytest.raises(WrongSettings, match="WHIST_VIP_KEY"):
        async with SPEC.open(MatchmakingSettings(**values), bus=MemoryBus()):
            pass


async def test_n5_only_the_gateway_may_ask(house: House) -> None:
    stranger = Client(house.client.peer.target, "coach")
    for method, request in (
        ("Rooms", pb.RoomsRequest()),
        ("Enqueue", pb.EnqueueRequest()),
        ("Cancel", pb.CancelRequest()),
        ("Status", pb.StatusRequest()),
    ):
        assert await stranger.refusal(method, request) == "CALLER_NOT_ALLOWED"
    with pytest.raises(DomainError, match="CALLER_NOT_ALLOWED"):
        async for _ in stranger.peer.watch(stranger.stub.Watch, pb.WatchRequest()):
            pass
    await stranger.peer.close()


@given(
    account_id=st.binary(max_size=20).filter(lambda raw: len(raw) != 16),
    room=st.integers(-(2**31), 2**31 - 1),
    name=st.text(max_size=40),
    mode=st.integers(0, 9),
)
@settings(max_examples=40, deadline=None)
async def test_b32_garbage_is_refused_and_never_an_internal_error(
    house: House, account_id: bytes, room: int, name: str, mode: int
) -> None:
    for method, request in (
        ("Enqueue", a_request(account_id, room=room, name=name, mode=mode)),
        ("Enqueue", a_request(ENTROPY.uuid7().bytes, room=room, name=name, mode=mode, guest=True, coffee=1)),
        ("Cancel", pb.CancelRequest(account_id=account_id)),
        ("Status", pb.StatusRequest(account_id=account_id)),
        ("Rooms", pb.RoomsRequest(account_id=account_id)),
    ):
        assert await house.client.refusal(method, request) not in ("INTERNAL", "UNAVAILABLE")


async def _heard(house: House, accounts: list[bytes]) -> bool:
    return {event.match_made.account_id for event in house.heard} >= set(accounts)
