"""Entries: held once, released once, never more than there is (P2, P7, P8; reliability X1, X2, E4, E11)."""

import asyncio

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from libs.chassis.errors import DomainError
from libs.house.modes import Coffee
from services.wallet.domain.errors import HoldDiffers, HoldResolved, InsufficientFunds, RoomUnknown
from services.wallet.domain.holds import GameState
from services.wallet.handlers.entries import abandon_table, release_entry
from tests.services.wallet.builders import SIGNUP, Player, Wallet, finished, new_account, new_table, started, voided


async def test_p2_an_entry_is_taken_aside_when_seated(wallet: Wallet) -> None:
    account = await wallet.account()
    hold = await wallet.hold(new_table(), account, room=3, coffee=Coffee.X2)
    assert dict(hold.amounts) == {"coin": 250, "cup_x2": 1}
    assert await wallet.owned(account) == {**SIGNUP, "coin": 750, "cup_x2": 9}
    assert await wallet.held(account) == {"coin": 250, "cup_x2": 1}


async def test_p7_the_last_rooms_cost_bars_besides(wallet: Wallet) -> None:
    account = await wallet.rich(300_000, bars=25)
    await wallet.hold(new_table(), account, room=12)
    assert await wallet.held(account) == {"coin": 250_000, "bar": 20}
    assert (await wallet.owned(account))["bar"] == 5


async def test_p2_room_1_is_free_and_open_to_who_owns_nothing(wallet: Wallet) -> None:
    guest, table = new_account(), new_table()
    assert dict((await wallet.hold(table, guest)).amounts) == {}
    assert (await wallet.owned(guest), await wallet.held(guest)) == ({}, {})


async def test_x2_a_hold_sent_twice_is_one_hold(wallet: Wallet) -> None:
    account, table = await wallet.account(), new_table()
    first = await wallet.hold(table, account, room=2, coffee=Coffee.X5)
    assert await wallet.hold(table, account, room=2, coffee=Coffee.X5) == first
    assert await wallet.coins(account) == 900


async def test_x2_a_hold_sent_twenty_times_at_once_is_one_hold(wallet: Wallet) -> None:
    account, table = await wallet.account(), new_table()
    holds = await asyncio.gather(*(wallet.hold(table, account, room=2) for _ in range(20)))
    assert len(set(map(repr, holds))) == 1
    assert await wallet.coins(account) == 900


@pytest.mark.parametrize(("room", "coffee"), [(3, Coffee.NONE), (2, Coffee.X2), (1, Coffee.NONE)])
async def test_x2_another_entry_under_the_same_key_is_refused(wallet: Wallet, room: int, coffee: Coffee) -> None:
    account, table = await wallet.account(), new_table()
    await wallet.hold(table, account, room=2)
    with pytest.raises(HoldDiffers):
        await wallet.hold(table, account, room=room, coffee=coffee)
    assert await wallet.coins(account) == 900


async def test_x1_a_hundred_parallel_holds_pay_exactly_what_the_balance_allows(wallet: Wallet) -> None:
    account = await wallet.account()
    results = await asyncio.gather(
        *(wallet.hold(new_table(), account, room=3) for _ in range(100)), return_exceptions=True
    )
    refused = [result for result in results if isinstance(result, InsufficientFunds)]
    assert (len(results) - len(refused), len(refused)) == (1000 // 250, 96)
    assert not [r for r in results if isinstance(r, BaseException) and not isinstance(r, InsufficientFunds)]
    assert await wallet.coins(account) == 0


async def test_e11_a_hundred_parallel_holds_take_exactly_the_cups_there_are(wallet: Wallet) -> None:
    account = await wallet.account()
    results = await asyncio.gather(
        *(wallet.hold(new_table(), account, coffee=Coffee.X5) for _ in range(100)), return_exceptions=True
    )
    assert sum(isinstance(result, InsufficientFunds) for result in results) == 90
    assert "cup_x5" not in await wallet.owned(account)


@pytest.mark.parametrize(
    ("room", "coffee", "asset"), [(6, Coffee.NONE, "coin"), (11, Coffee.NONE, "bar"), (6, Coffee.X3, "coin")]
)
async def test_p8_who_cannot_pay_holds_nothing(wallet: Wallet, room: int, coffee: Coffee, asset: str) -> None:
    account = await wallet.account() if room < 11 else await wallet.rich(200_000, bars=9)
    before, table = await wallet.owned(account), new_table()
    with pytest.raises(InsufficientFunds) as refused:
        await wallet.hold(table, account, room=room, coffee=coffee)
    assert refused.value.facts["asset"] == asset
    assert (await wallet.owned(account), await wallet.held(account)) == (before, {})
    await wallet.hold(table, account, room=1)  # nothing of the refused hold is left


@pytest.mark.parametrize("room", [0, -1, 13, 2**31 - 1])
async def test_x17_an_unknown_room_is_refused(wallet: Wallet, room: int) -> None:
    with pytest.raises(RoomUnknown):
        await wallet.hold(new_table(), await wallet.account(), room=room)


async def test_p8_a_released_entry_comes_back_once(wallet: Wallet) -> None:
    account, table = await wallet.account(), new_table()
    await wallet.hold(table, account, room=4, coffee=Coffee.X3)
    await asyncio.gather(*(release_entry(table, account, wallets=wallet.store) for _ in range(10)))
    await release_entry(table, account, wallets=wallet.store)
    assert (await wallet.owned(account), await wallet.held(account)) == (SIGNUP, {})
    with pytest.raises(HoldResolved):
        await wallet.hold(table, account, room=4, coffee=Coffee.X3)


async def test_a_hold_that_comes_after_its_release_is_refused(wallet: Wallet) -> None:
    account, table = await wallet.account(), new_table()
    await release_entry(table, account, wallets=wallet.store)
    await release_entry(table, account, wallets=wallet.store)
    with pytest.raises(HoldResolved):
        await wallet.hold(table, account, room=2)
    assert await wallet.owned(account) == SIGNUP


async def test_a_hold_and_its_release_at_once_leave_nothing_held(wallet: Wallet) -> None:
    account = await wallet.account()
    for _ in range(20):
        table = new_table()
        await asyncio.gather(
            wallet.hold(table, account, room=2),
            release_entry(table, account, wallets=wallet.store),
            return_exceptions=True,
        )
        await release_entry(table, account, wallets=wallet.store)
    assert (await wallet.owned(account), await wallet.held(account)) == (SIGNUP, {})


async def test_a_paid_entry_is_not_released(wallet: Wallet) -> None:
    player, table = Player(account_id=await wallet.account(), room=2), new_table()
    await wallet.hold_for(table, [player])
    await wallet.take(started(table, [player]))
    with pytest.raises(HoldResolved):
        await release_entry(table, player.account_id, wallets=wallet.store)
    with pytest.raises(HoldResolved):
        await wallet.hold(table, player.account_id, room=2)
    assert await wallet.coins(player.account_id) == 900


async def test_a_hold_that_comes_after_the_deal_is_refused(wallet: Wallet) -> None:
    late, table = await wallet.account(), new_table()
    for event in (started(table, []), finished(table, []), voided(table, [])):
        await wallet.take(event)
        with pytest.raises(HoldResolved):
            await wallet.hold(table, late, room=2)
    assert await wallet.owned(late) == SIGNUP


async def test_a_deal_waits_for_the_holds_in_flight(wallet: Wallet) -> None:
    table = new_table()
    await wallet.hold(table, await wallet.account(), room=2)
    async with wallet.store.transaction() as holding, wallet.store.transaction() as dealing:
        await holding.share_game(table)
        await dealing.connection.execute(sa.text("set local lock_timeout = '20ms'"))
        with pytest.raises(DBAPIError, match="lock timeout"):
            await dealing.advance(table, GameState.STARTED)
        await dealing.connection.rollback()
    async with wallet.store.transaction() as dealing:
        assert await dealing.advance(table, GameState.ABANDONED)
        await dealing.connection.rollback()


async def test_a_hold_of_someone_who_was_not_dealt_in_comes_back(wallet: Wallet) -> None:
    seated, dropped, table = Player(account_id=await wallet.account(), room=2), await wallet.account(), new_table()
    await wallet.hold_for(table, [seated])
    await wallet.hold(table, dropped, room=2)
    await wallet.take(started(table, [seated]))
    assert (await wallet.coins(seated.account_id), await wallet.coins(dropped)) == (900, 1000)


async def test_an_abandoned_table_returns_its_holds_and_takes_no_more(wallet: Wallet) -> None:
    accounts, table = [await wallet.account() for _ in range(3)], new_table()
    for account in accounts:
        await wallet.hold(table, account, room=2)
    counts = await asyncio.gather(*(abandon_table(table, wallets=wallet.store) for _ in range(5)))
    assert sorted(counts) == [0, 0, 0, 0, 3]
    assert [await wallet.coins(account) for account in accounts] == [1000] * 3
    with pytest.raises(HoldResolved):
        await wallet.hold(table, await wallet.account(), room=2)


async def test_holds_deals_and_releases_of_the_same_people_at_once_never_deadlock(wallet: Wallet) -> None:
    accounts = [await wallet.account() for _ in range(4)]

    async def table_life(turn: int) -> None:
        table = new_table()
        players = [Player(account_id=a, coffee=Coffee.X2) for a in accounts[turn % 4 :] + accounts[: turn % 4]]
        await asyncio.gather(*(wallet.hold_for(table, [player]) for player in players), return_exceptions=True)
        if turn % 3:
            await wallet.take(started(table, players), finished(table, players, day=f"2026-12-{turn % 28 + 1:02}"))
        else:
            await asyncio.gather(*(release_entry(table, a, wallets=wallet.store) for a in accounts))

    results = await asyncio.gather(*(table_life(turn) for turn in range(24)), return_exceptions=True)
    assert [r for r in results if isinstance(r, BaseException) and not isinstance(r, DomainError)] == []
