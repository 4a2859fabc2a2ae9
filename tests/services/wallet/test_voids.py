"""A finished game voided by an operator (P82, E4, E8): all goes back, in every order; nobody falls below zero."""

import asyncio
from itertools import permutations

import pytest
import sqlalchemy as sa

from libs.chassis.errors import DomainError
from libs.house.modes import Coffee
from services.wallet.domain.ledger import TableId
from services.wallet.handlers.refunds import refund
from services.wallet.handlers.weeks import SealedWeek, seal_week
from tests.services.wallet.builders import Event, Player, Wallet, analysed, voided
from tests.services.wallet.evenings import ANY_NUMBER, Evening
from tests.services.wallet.fake_tables import FakeTables
from whist.types.v1.types_pb2 import Assets


@pytest.fixture
async def evening(wallet: Wallet) -> Evening:
    return await Evening.of(wallet, ANY_NUMBER)


def undone(table: TableId) -> Event:
    return voided(table, [], had_finished=True)


async def lost(evening: Evening) -> dict[str, int]:
    """What the house has borne so far, by asset."""
    query = sa.text("select asset, -sum(amount) as lost from wallet.posting where house = 'losses' group by asset")
    async with evening.wallet.store.database.begin() as connection:
        return {row.asset: int(row.lost) for row in await connection.execute(query)}


async def test_p82_a_void_returns_the_entry_and_takes_back_all_that_was_won(evening: Evening) -> None:
    winner = await evening.player(place=1, room=11, coffee=Coffee.X5)
    other = await evening.player(place=5, room=2)
    before = [await evening.wallet.owned(each.account_id) for each in (winner, other)]
    table = await evening.played(winner, other)
    for _ in range(2):
        await evening.wallet.take(undone(table))
        assert [await evening.wallet.owned(each.account_id) for each in (winner, other)] == before
    told = await evening.wallet.events(winner.account_id)
    kinds = ["entry_returned", "prize_reversed", "gifts_reversed"]
    assert [event.WhichOneof("event") for event in told][-3:] == kinds
    assert told[-1].gifts_reversed.assets == Assets(bars=5)
    reversed_ = told[-2].prize_reversed
    assert (reversed_.coins, reversed_.week_id, reversed_.table_id) == (1_250_000, evening.week, table.bytes)
    assert (await evening.wallet.told(other.account_id))[-2:] == ["entry_returned", "gifts_reversed"]


async def test_p82_a_void_without_the_word_leaves_a_finished_game_as_it_is(evening: Evening) -> None:
    player = await evening.player(place=1)
    table = await evening.played(player)
    before = await evening.wallet.state()
    await evening.wallet.take(voided(table, []))
    assert await evening.wallet.state() == before


async def test_p82_what_is_not_there_any_more_is_the_houses_loss(evening: Evening) -> None:
    player = await evening.player(place=1, room=2)
    table = await evening.played(player)  # 100 paid, 250 and 5 bars won
    already = await lost(evening)
    elsewhere = [await evening.dealt(Player(account_id=player.account_id, room=12)) for _ in range(4)]
    async with evening.wallet.store.database.begin() as connection:
        left = sa.text("select amount from wallet.balance where account_id = :id and asset = :asset")
        coins = (await connection.execute(left, {"id": player.account_id, "asset": "coin"})).scalar_one()
    spare = await evening.dealt(Player(account_id=player.account_id, room=2))
    assert coins == 1_001_000 + 150 - 1_000_000
    while coins - 100 > 50:
        hold = 1000 if coins - 100 >= 1050 else 100
        elsewhere.append(await evening.dealt(Player(account_id=player.account_id, room=5 if hold == 1000 else 2)))
        coins -= hold
    owned = await evening.wallet.owned(player.account_id)
    assert (owned.get("coin", 0), owned["bar"]) == (50, 25)
    await evening.wallet.take(undone(table))
    owned = await evening.wallet.owned(player.account_id)
    assert (owned.get("coin", 0), owned["bar"]) == (0, 20)  # 50 + 100 - 250
    now_lost = await lost(evening)
    assert now_lost["coin"] - already.get("coin", 0) == 100 and now_lost.get("bar", 0) == already.get("bar", 0)
    assert "prize_reversed" in await evening.wallet.told(player.account_id)
    assert spare


async def test_p82_classic_rewards_go_back_too_and_later_ones_are_not_paid(evening: Evening) -> None:
    for rewarded_first in (True, False):
        player = await evening.player(room=1, place=4)
        before = await evening.wallet.owned(player.account_id)
        table = await evening.played(player, classic=True)
        judged = analysed(table, (player.account_id, "A", 2))
        await evening.wallet.take(*([judged, undone(table)] if rewarded_first else [undone(table), judged]))
        assert await evening.wallet.owned(player.account_id) == before


async def test_p82_whom_it_was_refunded_for_keeps_the_refund(evening: Evening) -> None:
    refunded, other = await evening.player(place=2), await evening.player(place=3)
    before = [await evening.wallet.owned(each.account_id) for each in (refunded, other)]
    table = await evening.played(refunded, other)
    await refund(refunded.account_id, table, desk=evening.wallet.desk)
    await evening.wallet.take(undone(table))
    assert [await evening.wallet.owned(each.account_id) for each in (refunded, other)] == before
    assert (await evening.wallet.told(refunded.account_id)).count("prize_reversed") == 0
    with pytest.raises(DomainError) as refused:
        await refund(other.account_id, table, desk=evening.wallet.desk)
    assert refused.value.reason == "GAME_VOIDED"


async def seal(evening: Evening, tables: FakeTables, week: str) -> SealedWeek | None:
    return await seal_week(
        week, after=None, limit=0, wallets=evening.wallet.store, tables=tables, zone=evening.wallet.platform.zone
    )


WEEKS = iter(range(10, 54))


@pytest.mark.parametrize("order", list(permutations(["prize", "refund", "void", "seal"])), ids="-".join)
async def test_x6_p82_void_refund_prize_and_seal_in_every_order(evening: Evening, order: tuple[str, ...]) -> None:
    """Whatever comes first: at the end the entry is back, nothing of the game is left, and the week's totals are what
    the game had won when they were told."""
    tables = FakeTables()
    player = await evening.player(place=2, room=2, coffee=Coffee.X2)
    before = await evening.wallet.owned(player.account_id)
    table = await evening.dealt(player)
    over = f"2025-W{next(WEEKS)}"
    tables.finished[over], tables.complete = [table], {over}
    # Tables have finished and voided the game; what they have told may come in any order, and again.
    finished, gone = evening.end(table, [player]), undone(table)
    finished.game_finished.week_id = over  # type: ignore[union-attr]
    totals: SealedWeek | None = None
    for step in order:
        match step:
            case "prize":
                await evening.wallet.take(finished)
            case "void":
                await evening.wallet.take(gone)
            case "seal":
                totals = await seal(evening, tables, over)
                settled = "prize" in order[: order.index("seal")] or "void" in order[: order.index("seal")]
                assert (totals is not None) is settled
            case "refund":
                with pytest.raises(DomainError) as refused:  # the week is over by the clock
                    await refund(player.account_id, table, desk=evening.wallet.desk)
                done = order[: order.index("refund")]
                expected = "GAME_VOIDED" if "void" in done else "WEEK_CLOSED" if "prize" in done else "GAME_RUNNING"
                assert refused.value.reason == expected
    await evening.wallet.take(finished, gone, finished)
    assert await evening.wallet.owned(player.account_id) == before
    last = await seal(evening, tables, over)
    assert last is not None
    won_when_told = order.index("prize") < order.index("seal") < order.index("void")
    assert [total.coins for total in last.totals] == ([350] if won_when_told else [])
    assert totals is None or last == totals


@pytest.mark.parametrize("order", list(permutations(["prize", "refund", "void"])), ids="-".join)
async def test_x4_p82_void_refund_and_prize_of_a_running_week_in_every_order(
    evening: Evening, order: tuple[str, ...]
) -> None:
    player = await evening.player(place=2, room=2)
    before = await evening.wallet.owned(player.account_id)
    table = await evening.dealt(player)
    finished, gone = evening.end(table, [player]), undone(table)
    for step in order:
        match step:
            case "prize":
                await evening.wallet.take(finished)
            case "void":
                await evening.wallet.take(gone)
            case "refund":
                may = order.index("prize") < order.index("refund") and not (order.index("void") < order.index("refund"))
                if may:
                    await refund(player.account_id, table, desk=evening.wallet.desk)
                else:
                    with pytest.raises(DomainError):
                        await refund(player.account_id, table, desk=evening.wallet.desk)
    await evening.wallet.take(finished, gone)
    assert await evening.wallet.owned(player.account_id) == before


async def test_x4_p82_void_refund_prize_and_analysis_at_once_twenty_times(evening: Evening) -> None:
    for _ in range(20):
        player = await evening.player(place=2, room=1, coffee=Coffee.X3)
        before = await evening.wallet.owned(player.account_id)
        table = await evening.dealt(player)
        results = await asyncio.gather(
            evening.wallet.take(evening.end(table, [player], classic=True)),
            evening.wallet.take(analysed(table, (player.account_id, "A+", 3))),
            refund(player.account_id, table, desk=evening.wallet.desk),
            evening.wallet.take(undone(table)),
            return_exceptions=True,
        )
        assert not [each for each in results if isinstance(each, Exception) and not isinstance(each, DomainError)]
        assert await evening.wallet.owned(player.account_id) == before
