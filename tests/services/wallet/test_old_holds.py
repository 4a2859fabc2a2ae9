"""Holds whose table is not heard of: only the table's own word releases them (reliability B17)."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import grpc
import pytest
import sqlalchemy as sa

from libs.chassis.errors import DomainError, Kind
from libs.chassis.rpc.peer import Peer
from services.wallet.domain.errors import HoldResolved
from services.wallet.domain.ledger import TableId
from services.wallet.handlers.old_holds import PAGE, resolve_old_holds
from services.wallet.jobs import check_holds
from services.wallet.metrics import oldest_hold_seconds
from services.wallet.peers import TablesPeer
from services.wallet.ports import Tables
from tests.services.wallet.builders import SIGNUP, Player, Wallet, new_table, started
from tests.services.wallet.fake_tables import FakeTables, TablesServer
from whist.tables.v1.tables_pb2_grpc import add_TablesServiceServicer_to_server


@pytest.fixture(params=["fake", "grpc"])
async def tables(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Tables, FakeTables]]:
    """The port, and the fake that decides its answers."""
    fake = FakeTables()
    if request.param == "fake":
        yield fake, fake
        return
    server = grpc.aio.server()
    add_TablesServiceServicer_to_server(TablesServer(fake), server)  # type: ignore[abstract] # no other is called
    address = f"unix:{tmp_path / 'tables'}"
    server.add_insecure_port(address)
    await server.start()
    peer = Peer(address, "wallet")
    yield TablesPeer(peer), fake
    await peer.close()
    await server.stop(None)


async def test_a_table_that_was_not_dealt_is_abandoned(tables: tuple[Tables, FakeTables]) -> None:
    port, _ = tables
    table = new_table()
    assert [await port.abandon(table), await port.abandon(table)] == [True, True]


async def test_a_table_that_was_dealt_says_so(tables: tuple[Tables, FakeTables]) -> None:
    port, fake = tables
    table = new_table()
    fake.dealt.add(table)
    assert await port.abandon(table) is False


async def test_a_worker_that_is_away_is_unavailable(tables: tuple[Tables, FakeTables]) -> None:
    port, fake = tables
    table = new_table()
    fake.silent.add(table)
    with pytest.raises(DomainError) as refused:
        await port.abandon(table)
    assert refused.value.kind is Kind.UNAVAILABLE


async def test_p55_a_weeks_games_are_asked_for_page_by_page(tables: tuple[Tables, FakeTables]) -> None:
    port, fake = tables
    ids = sorted(new_table() for _ in range(3))
    fake.finished["2026-W48"], fake.page = ids, 2
    first = await port.finished_games("2026-W48", after=None)
    assert (list(first.tables), first.more, first.complete) == (ids[:2], True, False)
    fake.complete.add("2026-W48")
    rest = await port.finished_games("2026-W48", after=first.tables[-1])
    assert (list(rest.tables), rest.more, rest.complete) == (ids[2:], False, True)


async def age(wallet: Wallet, *tables: TableId, seconds: int) -> None:
    async with wallet.store.database.begin() as connection:
        await connection.execute(
            sa.text("update wallet.hold set at = at - make_interval(secs => :seconds) where table_id = any(:tables)"),
            {"seconds": float(seconds), "tables": list(tables)},
        )


Held = Callable[[], Awaitable[tuple[TableId, Player]]]


@pytest.fixture
def held(wallet: Wallet) -> Held:
    async def make() -> tuple[TableId, Player]:
        table, player = new_table(), Player(account_id=await wallet.account(), room=2)
        await wallet.hold_for(table, [player])
        return table, player

    return make


async def test_an_old_hold_is_released_when_its_table_will_never_be_dealt(wallet: Wallet, held: Held) -> None:
    table, player = await held()
    await age(wallet, table, seconds=121)
    assert await resolve_old_holds(age_seconds=120, wallets=wallet.store, tables=FakeTables()) == 1
    assert await wallet.owned(player.account_id) == SIGNUP
    with pytest.raises(HoldResolved):
        await wallet.hold(table, player.account_id, room=2)


async def test_a_young_hold_is_left_alone(wallet: Wallet, held: Held) -> None:
    table, player = await held()
    await age(wallet, table, seconds=110)
    fake = FakeTables()
    assert await resolve_old_holds(age_seconds=120, wallets=wallet.store, tables=fake) == 0
    assert table not in fake.asked
    assert await wallet.held(player.account_id) == {"coin": 100}


async def test_the_hold_of_a_dealt_table_waits_for_the_tables_event(wallet: Wallet, held: Held) -> None:
    table, player = await held()
    await age(wallet, table, seconds=100_000)
    fake = FakeTables()
    fake.dealt.add(table)
    await check_holds(wallet.store, fake, 120)
    assert await wallet.held(player.account_id) == {"coin": 100}
    assert oldest_hold_seconds._value.get() >= 100_000
    await wallet.take(started(table, [player]))
    assert (await wallet.coins(player.account_id), await wallet.held(player.account_id)) == (900, {})


async def test_a_table_that_cannot_be_asked_keeps_no_other_waiting(wallet: Wallet, held: Held) -> None:
    (silent, waiting), (table, player) = sorted([await held(), await held()], key=lambda each: each[0])
    await age(wallet, silent, table, seconds=200)
    fake = FakeTables()
    fake.silent.add(silent)
    assert await resolve_old_holds(age_seconds=120, wallets=wallet.store, tables=fake) == 1
    assert (await wallet.coins(player.account_id), await wallet.coins(waiting.account_id)) == (1000, 900)
    fake.silent.clear()
    assert await resolve_old_holds(age_seconds=120, wallets=wallet.store, tables=fake) == 1
    assert await wallet.coins(waiting.account_id) == 1000


async def test_any_number_of_dealt_tables_keeps_no_other_waiting(wallet: Wallet, held: Held) -> None:
    account = await wallet.account()
    dealt = sorted(new_table() for _ in range(2 * PAGE))
    for table in dealt:
        await wallet.hold(table, account)
    last, player = await held()
    await age(wallet, *dealt, last, seconds=200)
    fake = FakeTables()
    fake.dealt.update(dealt)
    assert await resolve_old_holds(age_seconds=120, wallets=wallet.store, tables=fake) == 1
    assert await wallet.coins(player.account_id) == 1000
    await asyncio.gather(*(wallet.take(started(table, [Player(account_id=account)])) for table in dealt))


async def test_two_replicas_and_the_deal_at_once_resolve_a_hold_once(wallet: Wallet, held: Held) -> None:
    for _ in range(10):
        table, player = await held()
        await age(wallet, table, seconds=200)
        await asyncio.gather(
            resolve_old_holds(age_seconds=120, wallets=wallet.store, tables=FakeTables()),
            resolve_old_holds(age_seconds=120, wallets=wallet.store, tables=FakeTables()),
            wallet.take(started(table, [player])),
        )
        assert await wallet.held(player.account_id) == {}
        assert await wallet.coins(player.account_id) in (900, 1000)
