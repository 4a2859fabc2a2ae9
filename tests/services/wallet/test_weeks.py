"""Sealing a week (P50, P55; E8, X6): when, once, and with totals that never change."""

import asyncio

import pytest
import sqlalchemy as sa

from libs.chassis.errors import DomainError
from libs.house.calendar import ZONE, week_id
from libs.house.modes import Coffee
from services.wallet.domain.ledger import AccountId, TableId
from services.wallet.handlers.weeks import SealedWeek, seal_week
from tests.services.wallet.builders import Player, Wallet, finished, new_table, started, voided
from tests.services.wallet.fake_tables import FakeTables

RUNS_FOREVER = "2199-W01"


async def seal(
    wallet: Wallet, tables: FakeTables, week: str, *, after: AccountId | None = None, limit: int = 0
) -> SealedWeek | None:
    return await seal_week(week, after=after, limit=limit, wallets=wallet.store, tables=tables, zone=ZONE)


async def totals(wallet: Wallet, tables: FakeTables, week: str) -> dict[AccountId, tuple[int, int]]:
    page = await seal(wallet, tables, week)
    assert page is not None
    return {each.account_id: (each.coins, each.prizes) for each in page.totals}


async def a_game(wallet: Wallet, tables: FakeTables, week: str, *players: Player) -> TableId:
    table = new_table()
    await wallet.hold_for(table, players)
    await wallet.take(started(table, players), finished(table, players, week=week))
    tables.finished[week].append(table)
    return table


@pytest.fixture
def tables() -> FakeTables:
    return FakeTables()


async def test_p55_a_week_that_runs_is_not_sealed(wallet: Wallet, tables: FakeTables) -> None:
    now = week_id(await wallet.now(), zone=ZONE)
    for week in (now, RUNS_FOREVER):
        tables.complete.add(week)
        assert await seal(wallet, tables, week) is None


async def test_p55_a_week_is_sealed_once_every_game_of_it_is_settled_here(wallet: Wallet, tables: FakeTables) -> None:
    week = "2026-W01"
    player = Player(account_id=await wallet.account())
    await a_game(wallet, tables, week, player)
    late = new_table()
    tables.finished[week].append(late)
    assert await seal(wallet, tables, week) is None  # tables know of games that may still come
    tables.complete.add(week)
    assert await seal(wallet, tables, week) is None  # one is not settled here
    await wallet.take(started(late, [player]))
    assert await seal(wallet, tables, week) is None
    await wallet.take(finished(late, [player], week=week))
    assert await totals(wallet, tables, week) == {player.account_id: (200, 2)}


async def test_p55_a_game_that_was_voided_holds_no_week_up(wallet: Wallet, tables: FakeTables) -> None:
    week, table = "2026-W02", new_table()
    tables.finished[week], tables.complete = [table], {week}
    await wallet.take(voided(table, []))
    assert await totals(wallet, tables, week) == {}


async def test_e8_totals_are_by_account_as_paid_and_the_same_for_ever(wallet: Wallet, tables: FakeTables) -> None:
    week = "2026-W03"
    ana = Player(account_id=await wallet.account(), place=1)
    radu = Player(account_id=await wallet.account(), place=2, room=2, coffee=Coffee.X2)
    last = Player(account_id=await wallet.account(), place=4)
    for _ in range(2):
        await a_game(wallet, tables, week, ana, radu, last)
    await a_game(wallet, tables, "2026-W04", ana)
    tables.complete.add(week)
    found = {ana.account_id: (200, 2), radu.account_id: (700, 2)}
    for _ in range(3):
        assert await totals(wallet, tables, week) == found
    # Whatever comes later, an event of that week among it, which no table could send: the totals stand.
    tables.complete.clear()
    await wallet.take(voided(tables.finished[week][0], [], had_finished=True))
    assert await totals(wallet, tables, week) == found


async def test_p55_totals_are_read_page_by_page(wallet: Wallet, tables: FakeTables) -> None:
    week = "2026-W05"
    accounts = sorted([await wallet.account() for _ in range(5)])
    for account in accounts:
        await a_game(wallet, tables, week, Player(account_id=account))
    tables.complete.add(week)
    tables.page = 2  # pages of games, too
    seen: list[AccountId] = []
    after, more = None, True
    while more:
        page = await seal(wallet, tables, week, after=after, limit=2)
        assert page is not None
        seen += [each.account_id for each in page.totals]
        after, more = seen[-1], page.more
    assert seen == accounts


async def test_p55_ten_that_seal_at_once_seal_once(wallet: Wallet, tables: FakeTables) -> None:
    week = "2026-W06"
    player = Player(account_id=await wallet.account())
    await a_game(wallet, tables, week, player)
    tables.complete.add(week)
    pages = await asyncio.gather(*(seal(wallet, tables, week) for _ in range(10)))
    assert all(page is not None and [t.coins for t in page.totals] == [100] for page in pages)


@pytest.mark.parametrize("week", ["", "2026-W54", "2026-48", "9999-W52", "2026-W1", "\0", "2026-W01'"])
async def test_p55_what_is_no_week_is_refused(wallet: Wallet, tables: FakeTables, week: str) -> None:
    with pytest.raises(DomainError) as refused:
        await seal(wallet, tables, week)
    assert refused.value.reason == "BAD_WEEK"


@pytest.mark.parametrize("limit", [-1, 5001, 2**31 - 1])
async def test_p55_a_page_has_its_bounds(wallet: Wallet, tables: FakeTables, limit: int) -> None:
    with pytest.raises(DomainError) as refused:
        await seal(wallet, tables, "2026-W01", limit=limit)
    assert refused.value.reason == "BAD_LIMIT"


async def test_x6_the_seal_waits_for_the_refund_that_came_first(wallet: Wallet, tables: FakeTables) -> None:
    """And counts it: a refund in flight holds the week's row, however late it commits."""
    week = "2026-W07"
    player = Player(account_id=await wallet.account())
    await a_game(wallet, tables, week, player)
    tables.complete.add(week)
    async with wallet.store.transaction() as refunding:
        assert await refunding.share_week(week) is False
        sealing = asyncio.create_task(seal(wallet, tables, week))
        await waits_for_a_row(wallet)
        assert not sealing.done()
    assert await sealing is not None
    async with wallet.store.transaction() as later:
        assert await later.share_week(week) is True


async def waits_for_a_row(wallet: Wallet) -> None:
    query = sa.text(
        "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
    )
    async with asyncio.timeout(20):
        while True:
            async with wallet.store.database.begin() as connection:
                if (await connection.execute(query)).scalar_one():
                    return
