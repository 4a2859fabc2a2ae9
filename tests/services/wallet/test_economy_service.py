"""Coffee, refunds, weeks and corrections as others meet them: real gRPC, all events twice (P12, P14, P55, P82)."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import grpc
import pytest

from libs.chassis.errors import DomainError
from libs.chassis.events.memory import MemoryBus
from libs.chassis.run import running
from libs.chassis.settings import WrongSettings
from libs.house.vip import vip_weekdays
from services.wallet.settings import WalletSettings
from services.wallet.storage.ledger import LedgerStore
from services.wallet.wiring import SPEC
from tests.services.wallet.builders import (
    ENTROPY,
    VIP_KEY,
    Player,
    Wallet,
    analysed,
    finished,
    new_account,
    new_table,
    podium_won,
    seen,
    upgraded,
)
from tests.services.wallet.evenings import Evening
from tests.services.wallet.fake_tables import FakeTables, TablesServer
from tests.services.wallet.test_service import Client, publish
from whist.tables.v1.tables_pb2_grpc import add_TablesServiceServicer_to_server
from whist.types.v1 import audit_pb2, types_pb2
from whist.wallet.v1 import wallet_pb2 as pb


@pytest.fixture(scope="module")
async def bus() -> MemoryBus:
    return MemoryBus(deliveries=2)


@pytest.fixture(scope="module")
def tables() -> FakeTables:
    return FakeTables()


@pytest.fixture(scope="module")
async def address(
    database_url: str, bus: MemoryBus, tables: FakeTables, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[str]:
    folder: Path = tmp_path_factory.mktemp("wallet")
    server = grpc.aio.server()
    add_TablesServiceServicer_to_server(TablesServer(tables), server)  # type: ignore[abstract] # no other is called
    server.add_insecure_port(f"unix:{folder / 't'}")
    await server.start()
    values: dict[str, Any] = {
        "database_url": database_url,
        "grpc_listen": f"unix:{folder / 's'}",
        "tables_target": f"unix:{folder / 't'}",
        "vip_key": VIP_KEY.decode(),
    }
    async with SPEC.open(WalletSettings(**values), bus=bus) as (chassis, service), running(SPEC, chassis, service):
        yield values["grpc_listen"]
    await server.stop(None)


@pytest.fixture(scope="module")
async def gateway(address: str) -> AsyncIterator[Client]:
    client = Client(address, "gateway")
    yield client
    await client.peer.close()


@pytest.fixture(scope="module")
async def leagues(address: str) -> AsyncIterator[Client]:
    client = Client(address, "leagues")
    yield client
    await client.peer.close()


async def refusal(client: Client, method: str, request: Any) -> str:
    with pytest.raises(DomainError) as refused:
        await client.call(method, request)
    return refused.value.reason


def act(request_id: bytes, operator: str = "mara", reason: str = "made good") -> audit_pb2.Act:
    return audit_pb2.Act(request_id=request_id, operator=operator, reason=reason)


async def granted(gateway: Client, account: UUID, **amounts: int) -> Any:
    request = pb.GrantRequest(
        act=act(ENTROPY.uuid7().bytes), account_id=account.bytes, assets=types_pb2.Assets(**amounts)
    )
    return await gateway.call("Grant", request)


async def test_p12_coffee_is_bought_once_a_request(gateway: Client) -> None:
    account, request_id = new_account(), ENTROPY.uuid7().bytes
    await granted(gateway, account, bars=30)
    request = pb.BuyCoffeeRequest(account_id=account.bytes, coffee=types_pb2.COFFEE_X5, request_id=request_id)
    bought = await gateway.call("BuyCoffee", request)
    assert bought.assets == types_pb2.Assets(bars=5, cups_x5=3)
    assert await gateway.call("BuyCoffee", request) == bought
    request.coffee = types_pb2.COFFEE_X2
    assert await refusal(gateway, "BuyCoffee", request) == "REQUEST_DIFFERS"
    changes: tuple[tuple[dict[str, Any], str], ...] = (
        ({"guest": True}, "GUESTS_HAVE_NO_COFFEE"),
        ({"request_id": b"short"}, "BAD_ID"),
        ({"request_id": bytes(16), "coffee": types_pb2.COFFEE_UNSPECIFIED}, "BAD_COFFEE"),
        ({"request_id": bytes(16), "coffee": 99}, "BAD_COFFEE"),
        ({"request_id": bytes(16)}, "INSUFFICIENT_FUNDS"),
    )
    good: dict[str, Any] = {"account_id": account.bytes, "coffee": types_pb2.COFFEE_X3, "request_id": request_id}
    for change, reason in changes:
        wrong = pb.BuyCoffeeRequest(**(good | change))
        assert await refusal(gateway, "BuyCoffee", wrong) == reason


async def test_p82_a_correction_has_a_line_in_the_log(gateway: Client) -> None:
    account, request_id = new_account(), ENTROPY.uuid7().bytes
    request = pb.GrantRequest(
        act=act(request_id), account_id=account.bytes, assets=types_pb2.Assets(coins=5, cups_x2=1)
    )
    first = await gateway.call("Grant", request)
    assert first.assets == types_pb2.Assets(coins=5, cups_x2=1) == (await gateway.call("Grant", request)).assets
    [line] = (await gateway.call("AuditLog", pb.AuditLogRequest(limit=1))).lines
    assert (line.act, line.name, line.subject) == (act(request_id), "correct", account.hex)
    assert line.details_json == '{"coin": 5, "cup_x2": 1}'
    [movement] = (await gateway.call("History", pb.HistoryRequest(account_id=account.bytes, limit=1))).movements
    assert movement.reason == "correction"
    request.assets.coins = 6
    assert await refusal(gateway, "Grant", request) == "ACT_DIFFERS"


@pytest.mark.parametrize(
    ("who", "amounts", "reason"),
    [
        (act(bytes(16)), {}, "NOTHING_TO_GRANT"),
        (act(bytes(16)), {"coins": -1}, "INSUFFICIENT_FUNDS"),
        (act(bytes(16)), {"coins": 2**63 - 1}, "BAD_AMOUNT"),
        (act(bytes(16)), {"bars": -(2**63)}, "BAD_AMOUNT"),
        (act(b"x"), {"coins": 1}, "BAD_ACT"),
        (act(bytes(16), operator=""), {"coins": 1}, "BAD_ACT"),
        (act(bytes(16), operator="m" * 65), {"coins": 1}, "BAD_ACT"),
        (act(bytes(16), reason="  "), {"coins": 1}, "BAD_ACT"),
        (act(bytes(16), reason="r" * 501), {"coins": 1}, "BAD_ACT"),
        (act(bytes(16), reason="a\0b"), {"coins": 1}, "BAD_ACT"),
    ],
)
async def test_x17_p82_what_is_no_correction_is_refused(
    gateway: Client, store: LedgerStore, who: audit_pb2.Act, amounts: dict[str, int], reason: str
) -> None:
    before = await Wallet(store).state()
    request = pb.GrantRequest(act=who, account_id=new_account().bytes, assets=types_pb2.Assets(**amounts))
    assert await refusal(gateway, "Grant", request) == reason
    assert await Wallet(store).state() == before


async def test_p14_a_refund_is_offered_done_and_answered_again(gateway: Client, store: LedgerStore) -> None:
    """By the shipped rules, so on a VIP day: the window is open where the week's end is not near."""
    evening = await Evening.of(Wallet(store))
    zone = evening.wallet.platform.zone
    player = await evening.player(room=2)
    while evening.now.astimezone(zone).weekday() not in vip_weekdays(player.account_id.bytes, VIP_KEY):
        player = await evening.player(room=2)
    table = await evening.played(player)
    key: dict[str, Any] = {"account_id": player.account_id.bytes, "table_id": table.bytes}
    offered = await gateway.call("RefundOffer", pb.RefundOfferRequest(**key))
    assert (offered.returns.coins, offered.takes.coins, offered.takes.bars) == (100, 175, 5)
    assert offered.loses_first_game and offered.until.seconds
    done = await refund(gateway, pb.RefundRequest(**key), offered)
    if done is not None:
        assert (done.returned, done.taken) == (offered.returns, offered.takes)
        assert await gateway.call("Refund", pb.RefundRequest(**key)) == done
        again = await gateway.call("RefundOffer", pb.RefundOfferRequest(**key))
        assert (again.refused, again.left_today) == ("ALREADY_REFUNDED", 0)
    stranger = pb.RefundRequest(account_id=new_account().bytes, table_id=table.bytes)
    assert await refusal(gateway, "Refund", stranger) == "GAME_UNKNOWN"
    assert await refusal(gateway, "Refund", pb.RefundRequest(account_id=bytes(16), table_id=b"x")) == "BAD_ID"
    assert await refusal(gateway, "RefundOffer", pb.RefundOfferRequest(account_id=b"", table_id=bytes(16))) == "BAD_ID"


async def refund(gateway: Client, request: Any, offered: Any) -> Any:
    """The service has the shipped zone: in a week's last minutes, or in another week there, it refuses as it says."""
    if not offered.refused:
        return await gateway.call("Refund", request)
    assert await refusal(gateway, "Refund", request) == offered.refused
    return None


async def test_p55_leagues_seal_a_week_over_the_wire(
    gateway: Client, leagues: Client, bus: MemoryBus, tables: FakeTables
) -> None:
    week, table = "2026-W35", new_table()
    player = Player()
    tables.finished[week] = [table]
    request = pb.SealWeekRequest(week_id=week)
    assert await leagues.call("SealWeek", request) == pb.SealWeekResponse(sealed=False)
    tables.complete.add(week)
    assert not (await leagues.call("SealWeek", request)).sealed
    await publish(bus, finished(table, [player], week=week, day="2026-08-28"), table.bytes)
    sealed = await leagues.call("SealWeek", request)
    total = pb.WeekTotal(account_id=player.account_id.bytes, coins=100, prizes=1)
    assert sealed == pb.SealWeekResponse(sealed=True, totals=[total])
    tables.complete.clear()
    assert await leagues.call("SealWeek", request) == sealed
    after = pb.SealWeekRequest(week_id=week, after=player.account_id.bytes)
    assert await leagues.call("SealWeek", after) == pb.SealWeekResponse(sealed=True)
    for wrong, reason in (
        (pb.SealWeekRequest(week_id="2026"), "BAD_WEEK"),
        (pb.SealWeekRequest(week_id=week, limit=5001), "BAD_LIMIT"),
        (pb.SealWeekRequest(week_id=week, after=b"x"), "BAD_ID"),
    ):
        assert await refusal(leagues, "SealWeek", wrong) == reason


async def test_every_topic_reaches_the_wallet_twice_and_once_is_what_it_does(
    gateway: Client, bus: MemoryBus, store: LedgerStore
) -> None:
    account = new_account()
    since = (await Evening.of(Wallet(store))).now.replace(year=2026, month=11, day=5)
    await publish(bus, upgraded(account), account.bytes)
    await publish(bus, seen(account, "2026-11-16", since), account.bytes)
    await publish(bus, podium_won(account, "2026-W48", 7, 1), account.bytes)
    table, player = new_table(), Player(account_id=account, rounds=30, own_bids=30, place=6)
    await publish(bus, analysed(table, (account, "B", 0)), table.bytes)
    await publish(bus, finished(table, [player], mode=types_pb2.MODE_CLASSIC), table.bytes)
    found = await gateway.call("Balances", pb.BalancesRequest(account_id=account.bytes))
    expected = types_pb2.Assets(coins=1007, bars=1 + 5 + 1, cups_x1_5=15, cups_x2=14, cups_x3=14, cups_x5=14)
    assert found.assets == expected
    reasons = {m.reason for m in (await gateway.call("History", pb.HistoryRequest(account_id=account.bytes))).movements}
    assert reasons == {"signup_gift", "weekly_cups", "podium", "first_game_gift", "classic_reward"}


@pytest.mark.parametrize("key", ["", "too short"])
async def test_p13_without_a_real_vip_key_it_does_not_start(database_url: str, key: str) -> None:
    values: dict[str, Any] = {"database_url": database_url, "vip_key": key}
    with pytest.raises(WrongSettings, match="WHIST_VIP_KEY"):
        async with SPEC.open(WalletSettings(**values), bus=MemoryBus()):
            pass
