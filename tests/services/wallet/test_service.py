"""The service as others meet it: real gRPC on a Unix socket, events from the bus, all of them twice."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from libs.chassis.errors import DomainError, Kind
from libs.chassis.events.memory import MemoryBus
from libs.chassis.rpc.peer import Peer
from libs.chassis.run import running
from services.wallet.settings import WalletSettings
from services.wallet.storage.ledger import LedgerStore
from services.wallet.wiring import SPEC
from tests.services.envelopes import enveloped
from tests.services.wallet import builders
from tests.services.wallet.builders import (
    ENTROPY,
    VIP_KEY,
    Player,
    Wallet,
    created,
    finished,
    new_account,
    new_table,
    started,
)
from whist.auth.v1.events_pb2 import AuthEvent
from whist.coach.v1.events_pb2 import CoachEvent
from whist.leagues.v1.events_pb2 import LeaguesEvent
from whist.tables.v1.events_pb2 import TablesEvent
from whist.types.v1 import types_pb2
from whist.wallet.v1 import wallet_pb2 as pb
from whist.wallet.v1.wallet_pb2_grpc import WalletServiceStub


class Client:
    """One caller of the running service."""

    def __init__(self, address: str, caller: str) -> None:
        self.peer = Peer(address, caller)
        self.stub = WalletServiceStub(self.peer.channel)

    async def call(self, method: str, request: Any) -> Any:
        return await self.peer.call(getattr(self.stub, method), request, tries=1)


@pytest.fixture(scope="module")
async def bus() -> MemoryBus:
    return MemoryBus(deliveries=2)


@pytest.fixture(scope="module")
async def address(database_url: str, bus: MemoryBus, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    listen = f"unix:{tmp_path_factory.mktemp('wallet') / 's'}"
    values: dict[str, Any] = {
        "database_url": database_url,
        "grpc_listen": listen,
        "tables_target": "unix:/absent",
        "vip_key": VIP_KEY.decode(),
    }
    async with SPEC.open(WalletSettings(**values), bus=bus) as (chassis, service), running(SPEC, chassis, service):
        yield listen


@pytest.fixture(scope="module")
async def gateway(address: str) -> AsyncIterator[Client]:
    client = Client(address, "gateway")
    yield client
    await client.peer.close()


@pytest.fixture(scope="module")
async def matchmaking(address: str) -> AsyncIterator[Client]:
    client = Client(address, "matchmaking")
    yield client
    await client.peer.close()


TOPICS: dict[type, str] = {
    AuthEvent: "whist.auth.events.v1",
    TablesEvent: "whist.tables.events.v1",
    CoachEvent: "whist.coach.events.v1",
    LeaguesEvent: "whist.leagues.events.v1",
}


async def publish(bus: MemoryBus, message: builders.Event, key: bytes) -> None:
    topic = TOPICS[type(message)]
    message.event_id = ENTROPY.uuid7().bytes
    await bus.publish([enveloped(topic, key, message)])


async def owned(gateway: Client, account: UUID) -> Any:
    return await gateway.call("Balances", pb.BalancesRequest(account_id=account.bytes))


async def test_a_whole_game_over_the_wires_with_every_event_twice(
    bus: MemoryBus, gateway: Client, matchmaking: Client
) -> None:
    account, table = new_account(), new_table()
    await publish(bus, created(account), account.bytes)
    request = pb.HoldEntryRequest(table_id=table.bytes, account_id=account.bytes, room=2, coffee=types_pb2.COFFEE_X2)
    first = await matchmaking.call("HoldEntry", request)
    assert first == await matchmaking.call("HoldEntry", request)
    assert first.entry == types_pb2.Assets(coins=100, cups_x2=1)
    seen = await owned(gateway, account)
    assert seen.assets == types_pb2.Assets(coins=900, cups_x1_5=10, cups_x2=9, cups_x3=10, cups_x5=10)
    assert seen.held == first.entry

    player = Player(account_id=account)
    await publish(bus, started(table, [player]), table.bytes)
    await publish(bus, finished(table, [player]), table.bytes)
    seen = await owned(gateway, account)
    assert (seen.assets.coins, seen.assets.bars, seen.held) == (1400, 5, types_pb2.Assets())

    movements = (await gateway.call("History", pb.HistoryRequest(account_id=account.bytes))).movements
    assert [(m.reason, m.asset, m.amount) for m in movements][:4] == [
        ("prize", "coin", 500),
        ("first_game_gift", "bar", 5),
        ("entry_hold", "cup_x2", -1),
        ("entry_hold", "coin", -100),
    ]
    assert [m.table_id for m in movements][:4] == [table.bytes] * 4
    assert {m.reason for m in movements[4:]} == {"signup_gift"}


async def test_p17_the_ledger_is_proved_over_the_wires_and_a_planted_difference_named(
    bus: MemoryBus, gateway: Client, store: LedgerStore
) -> None:
    account = new_account()
    await publish(bus, created(account), account.bytes)
    assert not (await gateway.call("CheckLedger", pb.CheckLedgerRequest())).differences
    plant = "update wallet.balance set amount = amount + :more where account_id = :account and asset = 'coin'"
    async with store.database.begin() as connection:
        await connection.execute(sa.text(plant), {"more": 1, "account": account})
    try:
        [told] = (await gateway.call("CheckLedger", pb.CheckLedgerRequest())).differences
    finally:
        async with store.database.begin() as connection:
            await connection.execute(sa.text(plant), {"more": -1, "account": account})
    assert (told.rule, told.subject, told.expected, told.found) == ("E2", f"{account} coin", "1000", "1001")


async def test_e15_p17_over_the_wires_what_was_not_told_is_named_and_what_is_not_proved_is_said(
    bus: MemoryBus, gateway: Client, store: LedgerStore
) -> None:
    account = new_account()
    await publish(bus, created(account), account.bytes)
    answers = []
    try:
        for since in ("clock_timestamp()", "null"):  # nothing that was told is read; nothing is read yet
            async with store.database.begin() as connection:
                await connection.execute(sa.text(f"update wallet.telling set since = {since}"))
            answers.append(await gateway.call("CheckLedger", pb.CheckLedgerRequest()))
    finally:
        async with store.database.begin() as connection:
            await connection.execute(sa.text("update wallet.telling set since = timestamptz '2000-01-01T00:00:00Z'"))
    unread, unopened = answers
    assert {each.rule for each in unread.differences} == {"E15"}
    assert ("E15", "0", "1000") in {
        (each.rule, each.expected, each.found)
        for each in unread.differences
        if each.subject == f"{account} signup coin"
    }
    assert not unopened.differences
    assert ("E15", 1) in {(each.rule, each.count) for each in unopened.unproved}


async def test_history_is_paged_without_a_gap_or_a_twin(bus: MemoryBus, gateway: Client, matchmaking: Client) -> None:
    account = new_account()
    await publish(bus, created(account), account.bytes)
    for _ in range(9):
        key: dict[str, Any] = {"table_id": new_table().bytes, "account_id": account.bytes}
        await matchmaking.call("HoldEntry", pb.HoldEntryRequest(**key, room=2))
        await matchmaking.call("ReleaseEntry", pb.ReleaseEntryRequest(**key))
    whole = await gateway.call("History", pb.HistoryRequest(account_id=account.bytes, limit=100))
    assert (len(whole.movements), whole.next_before) == (23, "")
    pages, before = [], ""
    while True:
        page = await gateway.call("History", pb.HistoryRequest(account_id=account.bytes, limit=7, before=before))
        pages.append(list(page.movements))
        before = page.next_before
        if not before:
            break
    assert [len(page) for page in pages] == [7, 7, 7, 2]
    assert [movement for page in pages for movement in page] == list(whole.movements)


async def test_an_account_never_seen_has_nothing(gateway: Client) -> None:
    account = new_account()
    assert await owned(gateway, account) == pb.BalancesResponse(assets=types_pb2.Assets(), held=types_pb2.Assets())
    history = await gateway.call("History", pb.HistoryRequest(account_id=account.bytes))
    assert history == pb.HistoryResponse()


async def test_x1_a_hundred_calls_at_once_hold_what_the_balance_allows(
    bus: MemoryBus, gateway: Client, matchmaking: Client
) -> None:
    account = new_account()
    await publish(bus, created(account), account.bytes)
    requests = [pb.HoldEntryRequest(table_id=new_table().bytes, account_id=account.bytes, room=4) for _ in range(100)]
    results = await asyncio.gather(
        *(matchmaking.call("HoldEntry", request) for request in requests), return_exceptions=True
    )
    reasons = [getattr(result, "reason", "held") for result in results]
    assert (reasons.count("held"), reasons.count("INSUFFICIENT_FUNDS")) == (2, 98)
    assert (await owned(gateway, account)).held.coins == 1000


@pytest.mark.parametrize(
    ("method", "callers"),
    [
        ("Balances", {"gateway", "matchmaking"}),
        ("History", {"gateway"}),
        ("HoldEntry", {"matchmaking"}),
        ("ReleaseEntry", {"matchmaking"}),
        ("BuyCoffee", {"gateway"}),
        ("RefundOffer", {"gateway"}),
        ("Refund", {"gateway"}),
        ("SealWeek", {"leagues"}),
        ("Grant", {"gateway"}),
    ],
)
async def test_n5_only_who_needs_a_method_may_call_it(address: str, method: str, callers: set[str]) -> None:
    request = getattr(pb, f"{method}Request")()
    for caller in ("gateway", "matchmaking", "tables", "leagues", "coach", "auth", "wallet", ""):
        client = Client(address, caller)
        with pytest.raises(DomainError) as refused:
            await client.call(method, request)
        await client.peer.close()
        assert (refused.value.kind is Kind.FORBIDDEN) == (caller not in callers)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"table_id": b""}, "BAD_ID"),
        ({"table_id": bytes(15)}, "BAD_ID"),
        ({"account_id": bytes(17)}, "BAD_ID"),
        ({"room": 0}, "UNKNOWN_ROOM"),
        ({"room": 13}, "UNKNOWN_ROOM"),
        ({"room": -(2**31)}, "UNKNOWN_ROOM"),
        ({"coffee": 9}, "BAD_COFFEE"),
        ({"coffee": -1}, "BAD_COFFEE"),
    ],
)
async def test_x17_a_hold_that_makes_no_sense_is_refused(
    matchmaking: Client, changes: dict[str, Any], reason: str
) -> None:
    good = {"table_id": new_table().bytes, "account_id": new_account().bytes, "room": 1}
    with pytest.raises(DomainError) as refused:
        await matchmaking.call("HoldEntry", pb.HoldEntryRequest(**{**good, **changes}))
    assert (refused.value.kind, refused.value.reason) == (Kind.INVALID, reason)


@pytest.mark.parametrize("limit", [-1, 101, 2**31 - 1])
async def test_x17_a_limit_beyond_the_page_is_refused(gateway: Client, limit: int) -> None:
    with pytest.raises(DomainError) as refused:
        await gateway.call("History", pb.HistoryRequest(account_id=bytes(16), limit=limit))
    assert refused.value.reason == "BAD_LIMIT"


@pytest.mark.parametrize("before", ["x", "-1", "1.5", "1e9", " 1", "٣", "9" * 19, "9" * 40, "1;drop table"])
async def test_x17_a_position_that_no_answer_named_is_refused(gateway: Client, before: str) -> None:
    with pytest.raises(DomainError) as refused:
        await gateway.call("History", pb.HistoryRequest(account_id=bytes(16), before=before))
    assert refused.value.reason == "BAD_POSITION"


async def test_the_refusals_name_what_is_missing(bus: MemoryBus, matchmaking: Client) -> None:
    account, table = new_account(), new_table()
    key: dict[str, Any] = {"table_id": table.bytes, "account_id": account.bytes}
    with pytest.raises(DomainError) as refused:
        await matchmaking.call("HoldEntry", pb.HoldEntryRequest(**key, room=2))
    assert (refused.value.reason, refused.value.facts) == ("INSUFFICIENT_FUNDS", {"asset": "coin", "needed": 100})
    await matchmaking.call("HoldEntry", pb.HoldEntryRequest(**key, room=1))
    with pytest.raises(DomainError) as refused:
        await matchmaking.call("HoldEntry", pb.HoldEntryRequest(**key, room=2))
    assert refused.value.reason == "HOLD_DIFFERS"
    await publish(bus, started(table, [Player(account_id=account)]), table.bytes)
    with pytest.raises(DomainError) as refused:
        await matchmaking.call("ReleaseEntry", pb.ReleaseEntryRequest(**key))
    assert refused.value.reason == "HOLD_RESOLVED"


async def test_x17_any_bytes_as_an_event_leave_the_ledger_as_it_was(store: LedgerStore, address: str) -> None:
    wallet = Wallet(store)
    before = await wallet.state()
    loop = asyncio.get_running_loop()

    @settings(max_examples=60, deadline=None)
    @given(
        st.builds(
            TablesEvent.FromString,
            st.sampled_from([started(new_table(), []), finished(new_table(), [])]).map(
                lambda event: event.SerializeToString()
            ),
        ),
        st.binary(max_size=20),
        st.binary(max_size=20),
        st.integers(-(2**31), 2**31 - 1),
    )
    def feed(event: TablesEvent, table: bytes, account: bytes, number: int) -> None:
        if len(table) == 16:
            table = table[:15]
        body = getattr(event, event.WhichOneof("event") or "")
        body.table_id = table
        if event.HasField("game_finished"):
            body.seats[0].seat.account_id = account
            body.seats[0].place = body.seats[0].rounds = number
        with pytest.raises((ValueError, LookupError)):
            asyncio.run_coroutine_threadsafe(wallet.take(event), loop).result()

    await asyncio.to_thread(feed)
    assert await wallet.state() == before
