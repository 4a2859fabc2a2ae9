"""Refunds (P14): who, when, exactly what, once (E4, E14, X4, X5, X7, X8, X9)."""

import asyncio
from datetime import timedelta

import pytest

from libs.chassis.errors import DomainError
from libs.house.modes import Coffee
from libs.house.platform import load
from libs.house.vip import vip_weekdays
from services.wallet.domain.assets import Asset
from services.wallet.domain.ledger import AccountId, House, Reason, TableId, move
from services.wallet.handlers.refunds import Refunded, refund, refund_offer
from services.wallet.handlers.weeks import seal_week
from tests.services.wallet.builders import VIP_KEY, Player, Wallet, analysed, new_account, new_table, started, voided
from tests.services.wallet.evenings import ANY_NUMBER, ONE_ON_VIP_DAYS, THREE_A_DAY, Evening
from tests.services.wallet.fake_tables import FakeTables

MINUTE, SECOND = timedelta(minutes=1), timedelta(seconds=1)


@pytest.fixture
async def evening(wallet: Wallet) -> Evening:
    return await Evening.of(wallet)


async def give_back(evening: Evening, player: Player, table: TableId) -> Refunded:
    return await refund(player.account_id, table, desk=evening.wallet.desk)


async def refusal(evening: Evening, account: AccountId, table: TableId) -> str:
    """Offer and act refuse alike, and nothing changes."""
    before = await evening.wallet.state()
    offered = await refund_offer(account, table, desk=evening.wallet.desk)
    with pytest.raises(DomainError) as refused:
        await refund(account, table, desk=evening.wallet.desk)
    assert offered.refused is not None and offered.refused.reason == refused.value.reason
    assert await evening.wallet.state() == before
    return refused.value.reason


async def test_p14_x8_a_refund_returns_entry_and_coffee_and_takes_all_that_the_game_won(evening: Evening) -> None:
    player = await evening.player(place=2, room=11, coffee=Coffee.X3)
    before = await evening.wallet.owned(player.account_id)
    table = await evening.played(player)
    found = await refund_offer(player.account_id, table, desk=evening.wallet.desk)
    assert (found.refused, found.left_today, found.loses_first_game) == (None, 3, True)
    assert (found.returns, found.takes) == ({"coin": 100_000, "bar": 10, "cup_x3": 1}, {"coin": 525_000, "bar": 5})
    assert found.until == evening.now + 15 * MINUTE
    done = await give_back(evening, player, table)
    assert (done.returned, done.taken) == (found.returns, found.takes)
    assert await evening.wallet.owned(player.account_id) == before == {k.value: v for k, v in done.owned.items()}
    told = (await evening.wallet.events(player.account_id))[-1].game_refunded
    assert (told.table_id, told.prize_coins, told.week_id) == (table.bytes, 525_000, evening.week)


async def test_x4_the_second_refund_answers_as_the_first_and_moves_nothing(evening: Evening) -> None:
    player = await evening.player(coffee=Coffee.X2)
    table = await evening.played(player)
    first = await give_back(evening, player, table)
    state = await evening.wallet.state()
    assert await give_back(evening, player, table) == first
    assert await evening.wallet.state() == state
    again = await refund_offer(player.account_id, table, desk=evening.wallet.desk)
    assert again.refused is not None and again.refused.reason == "ALREADY_REFUNDED"


async def test_x4_the_answer_is_the_first_also_when_time_and_the_game_have_gone_on(evening: Evening) -> None:
    player = await evening.player()
    table = await evening.played(player)
    first = await give_back(evening, player, table)
    await evening.wallet.take(voided(table, [], had_finished=True))
    assert await give_back(evening, player, table) == first


async def test_x9_fifty_refunds_at_once_refund_once(evening: Evening) -> None:
    player = await evening.player(coffee=Coffee.X5)
    before = await evening.wallet.owned(player.account_id)
    table = await evening.played(player)
    answers = await asyncio.gather(*(give_back(evening, player, table) for _ in range(50)))
    assert all(answer == answers[0] for answer in answers)
    assert await evening.wallet.owned(player.account_id) == before
    assert (await evening.wallet.told(player.account_id)).count("game_refunded") == 1


async def test_x4_a_prize_told_again_after_the_refund_is_not_paid_again(evening: Evening) -> None:
    player = await evening.player()
    table = await evening.played(player)
    await give_back(evening, player, table)
    before = await evening.wallet.state()
    await evening.wallet.take(started(table, [player]), evening.end(table, [player]))
    assert await evening.wallet.state() == before


async def test_p12_the_days_bars_are_not_given_again_after_a_refund(evening: Evening) -> None:
    player = await evening.player()
    table = await evening.played(player)
    await give_back(evening, player, table)
    assert (await evening.wallet.owned(player.account_id))["bar"] == 100
    second = await evening.played(player)
    assert (await evening.wallet.owned(player.account_id))["bar"] == 100
    found = await refund_offer(player.account_id, second, desk=evening.wallet.desk)
    assert (found.loses_first_game, found.left_today) == (False, 2)


async def test_e14_three_a_day_and_not_a_fourth_whatever_happens_at_once(evening: Evening) -> None:
    player = await evening.player(place=4)
    tables = [await evening.played(player) for _ in range(8)]
    results = await asyncio.gather(*(give_back(evening, player, table) for table in tables), return_exceptions=True)
    refused = [each for each in results if isinstance(each, DomainError)]
    assert [each.reason for each in refused] == ["REFUNDS_USED_UP"] * 5
    [left] = {(await refund_offer(player.account_id, t, desk=evening.wallet.desk)).left_today for t in tables}
    assert left == 0


async def test_e14_the_day_is_the_games_not_the_refunds(wallet: Wallet) -> None:
    evening = await Evening.of(wallet)
    player = await evening.player(place=5)
    for _ in range(3):
        await give_back(evening, player, await evening.played(player))
    assert await refusal(evening, player.account_id, await evening.played(player)) == "REFUNDS_USED_UP"
    yesterday = await Evening.of(wallet)
    yesterday.day = "2026-01-01"  # as stamped
    await give_back(yesterday, player, await yesterday.played(player))


@pytest.mark.parametrize("vip", [True, False])
async def test_p14_from_the_sixteenth_on_vip_days_alone_and_one_a_day(wallet: Wallet, vip: bool) -> None:
    evening = await Evening.of(wallet, ONE_ON_VIP_DAYS)
    weekday = (evening.now.astimezone(evening.wallet.platform.zone)).weekday()
    player = await evening.player(place=6)
    while (weekday in vip_weekdays(player.account_id.bytes, VIP_KEY)) is not vip:
        player = await evening.player(place=6)
    table = await evening.played(player)
    if not vip:
        assert await refusal(evening, player.account_id, table) == "NOT_A_VIP_DAY"
        return
    await give_back(evening, player, table)
    assert await refusal(evening, player.account_id, await evening.played(player)) == "REFUNDS_USED_UP"


@pytest.mark.parametrize(
    ("ago", "reason"),
    [(14 * MINUTE + 30 * SECOND, ""), (15 * MINUTE, "REFUND_TOO_LATE"), (60 * MINUTE, "REFUND_TOO_LATE")],
)
async def test_p14_the_window_is_fifteen_minutes_by_the_databases_clock(
    evening: Evening, ago: timedelta, reason: str
) -> None:
    player = await evening.player()
    table = await evening.played(player, ago=ago)
    if reason:
        assert await refusal(evening, player.account_id, table) == reason
    else:
        await give_back(evening, player, table)


async def test_x5_what_was_won_and_spent_refuses_the_whole_refund(evening: Evening) -> None:
    """Asset by asset on the net: the coins that come back help, bars do not become coins."""
    player = await evening.player(place=2, room=2)
    table = await evening.played(player)  # 100 paid, 175 won and 5 bars
    elsewhere = await evening.dealt(Player(account_id=player.account_id, room=12))
    await spend(evening, player.account_id, {"bar": 85})
    assert (await evening.wallet.owned(player.account_id)).get("bar", 0) == 0
    assert await refusal(evening, player.account_id, table) == "INSUFFICIENT_TO_REVERSE"
    await evening.wallet.take(voided(elsewhere, []))  # the palace's bars come back
    await spend(evening, player.account_id, {"coin": (await evening.wallet.coins(player.account_id)) - 75})
    await give_back(evening, player, table)  # the net of 75 coins is there, to the last one
    assert await evening.wallet.coins(player.account_id) == 0


async def spend(evening: Evening, account: AccountId, amounts: dict[str, int]) -> None:
    out = move(
        {Asset(asset): amount for asset, amount in amounts.items()},
        source=account, target=House.CORRECTIONS, key=f"grant:{new_account()}", reason=Reason.CORRECTION,
    )  # fmt: skip
    await evening.wallet.correct(out)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"place": 1}, "FIRST_PLACE"),
        ({"left": True}, "GAME_LEFT"),
        ({"own_bids": 3}, "GAME_NOT_COUNTED"),
        ({"room": 1}, "NOTHING_TO_REFUND"),
    ],
)
async def test_x7_whose_game_is_not_given_back(evening: Evening, change: dict[str, int], reason: str) -> None:
    player = await evening.player(**change)  # type: ignore[arg-type]
    assert await refusal(evening, player.account_id, await evening.played(player)) == reason


async def test_p14_a_cup_alone_is_something_to_give_back(evening: Evening) -> None:
    player = await evening.player(room=1, coffee=Coffee.X1_5, place=3)
    table = await evening.played(player)
    assert (await give_back(evening, player, table)).returned == {"cup_x1_5": 1}


async def test_x7_guests_strangers_and_games_that_have_not_ended(evening: Evening) -> None:
    guest, player = Player(guest=True, place=3), await evening.player()
    table = await evening.played(guest, player)
    assert await refusal(evening, guest.account_id, table) == "GUESTS_HAVE_NO_REFUND"
    assert await refusal(evening, new_account(), table) == "GAME_UNKNOWN"
    assert await refusal(evening, player.account_id, new_table()) == "GAME_UNKNOWN"
    running = await evening.dealt(player)
    assert await refusal(evening, player.account_id, running) == "GAME_RUNNING"
    await evening.wallet.take(voided(running, []))
    assert await refusal(evening, player.account_id, running) == "GAME_VOIDED"
    waiting = new_table()
    await evening.wallet.hold(waiting, player.account_id, 2)
    assert await refusal(evening, player.account_id, waiting) == "GAME_RUNNING"


async def test_x6_a_sealed_week_refuses_refunds(wallet: Wallet) -> None:
    """A game of a week that is over, whose window is not: what is sealed decides, whatever a clock says."""
    evening = await Evening.of(wallet)
    over = "2026-W20"
    evening.week = over
    player, tables = await evening.player(), FakeTables()
    table = await evening.played(player)
    tables.complete.add(over)
    assert await refusal(evening, player.account_id, table) == "WEEK_CLOSED"  # by the clock
    zone = evening.wallet.platform.zone
    page = await seal_week(over, after=None, limit=0, wallets=wallet.store, tables=tables, zone=zone)
    assert page is not None and [total.coins for total in page.totals] == [175]
    assert await refusal(evening, player.account_id, table) == "WEEK_CLOSED"


async def test_x1_a_hundred_refunds_and_spends_at_once_leave_nothing_below_zero(wallet: Wallet) -> None:
    evening = await Evening.of(wallet, ANY_NUMBER)
    player = await evening.player(place=2, room=2)
    tables = [await evening.played(player) for _ in range(20)]  # each: 75 coins net to be taken
    await spend(evening, player.account_id, {"coin": (await evening.wallet.coins(player.account_id)) - 750})
    spending = [spend(evening, player.account_id, {"coin": 75}) for _ in range(80)]
    refunding = [refund(player.account_id, table, desk=evening.wallet.desk) for table in tables]
    results = await asyncio.gather(*spending, *refunding, return_exceptions=True)
    done = [each for each in results if not isinstance(each, DomainError)]
    reasons = {each.reason for each in results if isinstance(each, DomainError)}
    assert not [each for each in results if isinstance(each, Exception) and not isinstance(each, DomainError)]
    assert reasons <= {"INSUFFICIENT_FUNDS", "INSUFFICIENT_TO_REVERSE"}
    assert (len(done), await evening.wallet.coins(player.account_id)) == (10, 0)


async def test_p15_a_refund_takes_the_classic_reward_and_a_later_one_is_not_paid(evening: Evening) -> None:
    for rewarded_first in (True, False):
        player = await evening.player(room=1, coffee=Coffee.X2, place=4)
        before = await evening.wallet.owned(player.account_id)
        table = await evening.played(player, classic=True)
        judged = analysed(table, (player.account_id, "A+", 1))
        if rewarded_first:
            await evening.wallet.take(judged)
            assert (await evening.wallet.owned(player.account_id))["bar"] == before["bar"] + 5 + 8
        await give_back(evening, player, table)
        await evening.wallet.take(judged)
        assert await evening.wallet.owned(player.account_id) == before


def test_the_rules_used_here_are_those_of_the_file() -> None:
    shipped = load().refunds
    assert [(rule.a_day, rule.vip_days_only, rule.window) for rule in shipped] == [
        (rule.a_day, rule.vip_days_only, rule.window) for rule in (THREE_A_DAY, ONE_ON_VIP_DAYS)
    ]
