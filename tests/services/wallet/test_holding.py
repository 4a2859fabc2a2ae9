"""Holds committed together answer each as if it were alone (P2, P8; X1, X2, E3-E5)."""

import asyncio

import pytest
import sqlalchemy as sa

from libs.chassis.errors import DomainError
from libs.house.modes import Coffee
from services.wallet.domain.holds import Hold
from services.wallet.domain.ledger import AccountId, TableId
from services.wallet.handlers.entries import HoldEntry
from services.wallet.handlers.holding import HoldDesk
from tests.services.wallet.builders import PLATFORM, Player, Wallet, new_account, new_table, started


@pytest.fixture
def desk(wallet: Wallet) -> HoldDesk:
    return HoldDesk(wallet.store, PLATFORM)


def command(table: TableId, account: AccountId, room: int = 2, coffee: Coffee = Coffee.NONE) -> HoldEntry:
    return HoldEntry(table_id=table, account_id=account, room=room, coffee=coffee)


async def outcomes(desk: HoldDesk, *commands: HoldEntry) -> list[str]:
    """The reason of each refusal, or "held"."""
    results = await asyncio.gather(*(desk.hold(each) for each in commands), return_exceptions=True)
    assert not [each for each in results if isinstance(each, BaseException) and not isinstance(each, DomainError)]
    return ["held" if isinstance(each, Hold) else getattr(each, "reason", "?") for each in results]


async def commits(wallet: Wallet) -> int:
    """Transactions that have written holds so far."""
    async with wallet.store.database.begin() as connection:
        return int(
            (await connection.execute(sa.text("select count(distinct xmin::text) from wallet.hold"))).scalar_one()
        )


async def test_p2_holds_of_several_tables_share_commits_and_each_is_held(wallet: Wallet, desk: HoldDesk) -> None:
    before = await commits(wallet)
    accounts = [await wallet.account() for _ in range(18)]
    tables = [new_table() for _ in range(3)]
    asked = [command(tables[number % 3], account, coffee=Coffee.X2) for number, account in enumerate(accounts)]
    assert await outcomes(desk, *asked) == ["held"] * 18
    for account in accounts:
        assert await wallet.held(account) == {"coin": 100, "cup_x2": 1}
    assert await commits(wallet) - before <= 3


async def test_p8_one_who_cannot_pay_is_refused_and_the_others_are_held(wallet: Wallet, desk: HoldDesk) -> None:
    rich, poor, table = [await wallet.account() for _ in range(5)], new_account(), new_table()
    asked = [command(table, account) for account in (*rich[:2], poor, *rich[2:])]
    assert await outcomes(desk, *asked) == ["held", "held", "INSUFFICIENT_FUNDS", "held", "held", "held"]
    assert [await wallet.coins(account) for account in rich] == [900] * 5


async def test_x2_twins_in_one_commit_are_one_hold(wallet: Wallet, desk: HoldDesk) -> None:
    account, table = await wallet.account(), new_table()
    assert await outcomes(desk, *[command(table, account)] * 20) == ["held"] * 20
    assert await wallet.held(account) == {"coin": 100}
    both = await outcomes(desk, command(table, account), command(table, account, room=3), command(table, account, 13))
    assert both == ["held", "HOLD_DIFFERS", "UNKNOWN_ROOM"]


async def test_x1_a_hundred_at_once_hold_exactly_what_is_there(wallet: Wallet, desk: HoldDesk) -> None:
    account = await wallet.account()
    found = await outcomes(desk, *(command(new_table(), account, room=4) for _ in range(100)))
    assert (found.count("held"), found.count("INSUFFICIENT_FUNDS")) == (2, 98)
    assert await wallet.coins(account) == 0


async def test_a_table_past_its_deal_refuses_its_own_alone(wallet: Wallet, desk: HoldDesk) -> None:
    dealt, waiting = new_table(), new_table()
    await wallet.take(started(dealt, [Player()]))
    accounts = [await wallet.account() for _ in range(4)]
    asked = [command(table, account) for table, account in zip([dealt, waiting] * 2, accounts, strict=True)]
    assert await outcomes(desk, *asked) == ["HOLD_RESOLVED", "held"] * 2


async def test_who_gives_up_waiting_takes_nobody_along(wallet: Wallet, desk: HoldDesk) -> None:
    """The first to come, who commits for all, is cancelled while a deal in progress keeps the batch waiting."""
    table = new_table()
    accounts = [await wallet.account() for _ in range(6)]
    await wallet.hold(table, await wallet.account())
    async with wallet.store.transaction() as dealing:
        await dealing.lock_game(table)
        tasks = [asyncio.create_task(desk.hold(command(table, account))) for account in accounts]
        await wallet.until("select 1 from pg_stat_activity where wait_event_type = 'Lock'")
        tasks[0].cancel()
        with pytest.raises(asyncio.CancelledError):
            await tasks[0]
    assert [hold.account_id for hold in await asyncio.gather(*tasks[1:])] == accounts[1:]
    assert [await wallet.coins(account) for account in accounts[1:]] == [900] * 5


@pytest.mark.parametrize("goes", [1, 3, 5])
async def test_who_is_gone_in_mid_commit_costs_nobody_else_the_answer(
    wallet: Wallet, desk: HoldDesk, goes: int
) -> None:
    """Those who came later wait behind it; each is answered."""
    table = new_table()
    accounts = [await wallet.account() for _ in range(8)]
    await wallet.hold(table, await wallet.account())
    async with wallet.store.transaction() as dealing:
        await dealing.lock_game(table)
        tasks = [asyncio.create_task(desk.hold(command(table, account))) for account in accounts[:6]]
        await wallet.until("select 1 from pg_stat_activity where wait_event_type = 'Lock'")
        tasks[goes].cancel()
        tasks += [asyncio.create_task(desk.hold(command(table, account))) for account in accounts[6:]]
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(results.pop(goes), asyncio.CancelledError)
    assert all(isinstance(each, Hold) for each in results)


async def test_x2_twins_that_ask_for_different_rooms_are_never_answered_with_each_others(
    wallet: Wallet, desk: HoldDesk
) -> None:
    for _ in range(10):
        account, table = await wallet.account(), new_table()
        rooms = [2, 3, 1, 2]
        results = await asyncio.gather(
            *(desk.hold(command(table, account, room)) for room in rooms), return_exceptions=True
        )
        for room, result in zip(rooms, results, strict=True):
            assert result.room == room if isinstance(result, Hold) else getattr(result, "reason", "") == "HOLD_DIFFERS"
        assert any(isinstance(each, Hold) for each in results)
