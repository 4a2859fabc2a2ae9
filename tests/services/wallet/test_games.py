"""What tables' events do: entries, prizes, first games, voids (P2, P5, P6, P11, P12, P16; E4-E7, X4, X9, X17)."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from prometheus_client import REGISTRY

from libs.house.modes import Coffee
from services.wallet.consumers import on_auth
from tests.services.wallet.builders import (
    PLATFORM,
    SIGNUP,
    Player,
    Wallet,
    created,
    finished,
    new_account,
    new_table,
    started,
    vacated,
    voided,
)
from whist.auth.v1.events_pb2 import AccountCreated, AuthEvent
from whist.tables.v1.events_pb2 import GameStarted, GameVoided, RoundEnded, SeatVacated, TablesEvent
from whist.tables.v1.tables_pb2 import TABLE_KIND_BENCH, TABLE_KIND_QUICK


async def play(wallet: Wallet, players: Sequence[Player]) -> None:
    table = new_table()
    await wallet.hold_for(table, players)
    await wallet.take(started(table, players), finished(table, players))


async def people(wallet: Wallet, *places: int, room: int = 1, coffee: Coffee = Coffee.NONE) -> list[Player]:
    return [Player(account_id=await wallet.account(), place=place, room=room, coffee=coffee) for place in places]


async def test_p6_the_first_three_win_the_rooms_prize(wallet: Wallet) -> None:
    players = await people(wallet, 1, 2, 3, 4, 5, room=2)
    await play(wallet, players)
    assert [await wallet.coins(p.account_id) - 900 for p in players] == [250, 175, 137, 0, 0]


async def test_e7_each_is_paid_by_their_own_room(wallet: Wallet) -> None:
    players = [
        Player(account_id=await wallet.account(), room=room, place=place) for room, place in ((3, 1), (1, 2), (2, 3))
    ]
    await play(wallet, players)
    assert [await wallet.coins(p.account_id) for p in players] == [750 + 625, 1000 + 70, 900 + 137]


async def test_p11_the_own_cup_multiplies_the_own_prize(wallet: Wallet) -> None:
    cups = (Coffee.X1_5, Coffee.X2, Coffee.X3, Coffee.X5)
    for coffee, prize in zip(cups, (375, 500, 750, 1250), strict=True):
        [player] = await people(wallet, 1, room=2, coffee=coffee)
        await play(wallet, [player])
        owned = await wallet.owned(player.account_id)
        assert (owned["coin"], owned[f"cup_{coffee}"]) == (900 + prize, 9)


async def test_p6_nobody_moves_up_for_a_bot(wallet: Wallet) -> None:
    players = await people(wallet, 2, 4)  # a bot was first, another third
    await play(wallet, players)
    assert [await wallet.coins(p.account_id) for p in players] == [1070, 1000]


@pytest.mark.parametrize(
    ("rounds", "own_bids", "bid_lately", "paid"),
    [(6, 4, True, True), (6, 3, True, False), (6, 6, False, False), (30, 20, True, True), (30, 19, True, False)],
)
async def test_p16_only_who_bid_themself_is_paid(
    wallet: Wallet, rounds: int, own_bids: int, bid_lately: bool, paid: bool
) -> None:
    player = Player(account_id=await wallet.account(), rounds=rounds, own_bids=own_bids, bid_lately=bid_lately)
    await play(wallet, [player])
    owned = await wallet.owned(player.account_id)
    assert (owned["coin"], owned.get("bar", 0)) == ((1100, 5) if paid else (1000, 0))


async def test_p8_who_left_gets_nothing_back(wallet: Wallet) -> None:
    player = Player(account_id=await wallet.account(), room=2, left=True)
    await play(wallet, [player])
    assert await wallet.owned(player.account_id) == {**SIGNUP, "coin": 900}


async def test_p42_a_guest_wins_the_first_rooms_prize_and_no_bars(wallet: Wallet) -> None:
    guest = Player(guest=True, place=1)
    await play(wallet, [guest])
    assert await wallet.owned(guest.account_id) == {"coin": 100}


async def test_p42_a_guest_is_not_paid_by_another_room_or_a_cup(wallet: Wallet) -> None:
    table = new_table()
    strange = [Player(guest=True, room=12), Player(guest=True, coffee=Coffee.X5, place=2)]
    await wallet.take(started(table, strange), finished(table, strange))
    assert [await wallet.owned(p.account_id) for p in strange] == [{}, {"coin": 70}]


async def test_a_prize_is_that_of_the_entry_that_was_paid(wallet: Wallet) -> None:
    paid = Player(account_id=await wallet.account(), room=2, coffee=Coffee.X2)
    said = Player(account_id=paid.account_id, room=12, coffee=Coffee.X5)
    table = new_table()
    await wallet.hold_for(table, [paid])
    await wallet.take(started(table, [said]), finished(table, [said]))
    assert await wallet.coins(paid.account_id) == 900 + 500


async def test_no_entry_no_prize_but_in_a_free_room(wallet: Wallet) -> None:
    table = new_table()
    players = [
        Player(account_id=await wallet.account(), room=9, coffee=Coffee.X5),
        Player(account_id=await wallet.account(), coffee=Coffee.X5, place=2),
    ]
    await wallet.take(started(table, players), finished(table, players))
    assert [await wallet.coins(p.account_id) for p in players] == [1000, 1070]


@pytest.mark.parametrize("place", [0, -1, 4, 7, 2**31 - 1])
async def test_x17_a_place_beyond_the_third_or_none_at_all_wins_nothing(wallet: Wallet, place: int) -> None:
    [player] = await people(wallet, place)
    await play(wallet, [player])
    assert await wallet.coins(player.account_id) == 1000


async def test_p12_the_first_game_of_a_day_gives_five_bars_once(wallet: Wallet) -> None:
    account = await wallet.account()
    for day, bars in (("2026-11-30", 5), ("2026-11-30", 5), ("2026-12-01", 10)):
        table, player = new_table(), Player(account_id=account, place=6)
        await wallet.take(started(table, [player]), finished(table, [player], day=day))
        assert (await wallet.owned(account))["bar"] == bars


async def test_x9_fifty_games_at_once_give_the_first_games_bars_once(wallet: Wallet) -> None:
    player = Player(account_id=await wallet.account(), place=6)
    await asyncio.gather(*(wallet.take(finished(new_table(), [player])) for _ in range(50)))
    assert (await wallet.owned(player.account_id))["bar"] == 5
    assert (await wallet.told(player.account_id)).count("gift_given") == 2  # signup, first game


async def test_what_happened_is_told_with_the_facts(wallet: Wallet) -> None:
    [player] = await people(wallet, 2, room=2, coffee=Coffee.X2)
    table = new_table()
    await wallet.hold_for(table, [player])
    await wallet.take(started(table, [player]), finished(table, [player]))
    welcome, entry, prize, gift = await wallet.events(player.account_id)
    assert (welcome.gift_given.reason, welcome.gift_given.assets.coins) == ("signup", 1000)
    assert welcome.gift_given.assets.cups_x1_5 == welcome.gift_given.assets.cups_x5 == 10
    assert (entry.entry_paid.table_id, entry.entry_paid.entry.coins, entry.entry_paid.entry.cups_x2) == (
        table.bytes, 100, 1,
    )  # fmt: skip
    assert (prize.prize_paid.coins, prize.prize_paid.place, prize.prize_paid.week_id) == (350, 2, "2026-W49")
    assert (prize.prize_paid.account_id, prize.prize_paid.table_id) == (player.account_id.bytes, table.bytes)
    assert (gift.gift_given.reason, gift.gift_given.assets.bars) == ("first_game_of_day", 5)
    assert all(len(event.event_id) == 16 for event in (welcome, entry, prize, gift))


async def test_p10_a_new_account_gets_its_gift_once(wallet: Wallet) -> None:
    account = new_account()
    await asyncio.gather(*(wallet.take(created(account)) for _ in range(20)))
    assert await wallet.owned(account) == SIGNUP
    assert await wallet.told(account) == ["gift_given"]


async def test_p42_a_guest_gets_no_gift(wallet: Wallet) -> None:
    account = new_account()
    await wallet.take(created(account, guest=True))
    assert (await wallet.owned(account), await wallet.told(account)) == ({}, [])


async def test_e5_a_void_game_returns_entries_bars_and_cups(wallet: Wallet) -> None:
    player = Player(account_id=await wallet.rich(200_000, bars=10), room=11, coffee=Coffee.X5)
    before, table = await wallet.owned(player.account_id), new_table()
    await wallet.hold_for(table, [player])
    await wallet.take(started(table, [player]))
    await wallet.take(voided(table, [player]), voided(table, [player]))
    assert await wallet.owned(player.account_id) == before
    returned = [event for event in await wallet.events(player.account_id) if event.HasField("entry_returned")]
    assert [(e.entry_returned.entry.coins, e.entry_returned.entry.bars) for e in returned] == [(100_000, 10)]


async def test_a_void_before_the_start_was_heard_of_returns_the_holds(wallet: Wallet) -> None:
    [player] = await people(wallet, 1, room=2)
    table = new_table()
    await wallet.hold_for(table, [player])
    await wallet.take(voided(table, [player]), started(table, [player]), finished(table, [player]))
    assert await wallet.owned(player.account_id) == SIGNUP


async def test_a_finish_before_the_start_was_heard_of_settles_right(wallet: Wallet) -> None:
    [player] = await people(wallet, 1, room=2)
    table = new_table()
    await wallet.hold_for(table, [player])
    await wallet.take(finished(table, [player]), started(table, [player]))
    assert await wallet.coins(player.account_id) == 900 + 250
    assert sorted(await wallet.told(player.account_id)) == ["entry_paid", "gift_given", "gift_given", "prize_paid"]


async def test_x4_the_first_end_of_a_game_stands(wallet: Wallet) -> None:
    one, other = await people(wallet, 1, 1, room=2)
    finished_first, voided_first = new_table(), new_table()
    await wallet.hold_for(finished_first, [one])
    await wallet.hold_for(voided_first, [other])
    await wallet.take(finished(finished_first, [one]), voided(finished_first, [one]))
    await wallet.take(voided(voided_first, [other]), finished(voided_first, [other]))
    assert (await wallet.coins(one.account_id), await wallet.coins(other.account_id)) == (1150, 1000)


async def test_settling_a_game_ten_times_at_once_pays_once(wallet: Wallet) -> None:
    players = await people(wallet, 1, 2, 3, room=2, coffee=Coffee.X2)
    table = new_table()
    await wallet.hold_for(table, players)
    await asyncio.gather(
        *(wallet.take(event) for _ in range(5) for event in (started(table, players), finished(table, players)))
    )
    assert [await wallet.coins(p.account_id) for p in players] == [900 + 500, 900 + 350, 900 + 275]


async def test_a_bench_table_moves_nothing(wallet: Wallet) -> None:
    [player] = await people(wallet, 1, room=2)
    table = new_table()
    await wallet.hold_for(table, [player])
    for event in (started, finished, voided):
        await wallet.take(event(table, [player], kind=TABLE_KIND_BENCH))
    assert await wallet.held(player.account_id) == {"coin": 100}


async def test_other_events_of_a_table_move_nothing(wallet: Wallet) -> None:
    before = await wallet.state()
    await wallet.take(
        TablesEvent(round_ended=RoundEnded(table_id=bytes(16))),
        vacated(new_table(), Player(), datetime(2026, 11, 30, tzinfo=UTC)),
        TablesEvent(),
    )
    assert await wallet.state() == before


@pytest.mark.parametrize(
    "event",
    [
        AuthEvent(account_created=AccountCreated(account_id=b"short")),
        finished(new_table(), [Player()], day="30.11.2026"),
        finished(new_table(), [Player()], day=""),
        finished(new_table(), [Player()], week="2026-W60"),
        finished(new_table(), [player := Player(), player]),
        started(new_table(), [player, player]),
        TablesEvent(game_voided=GameVoided(table_id=b"", kind=TABLE_KIND_QUICK)),
        TablesEvent(game_started=GameStarted(table_id=bytes(17), kind=TABLE_KIND_QUICK)),
        TablesEvent(seat_vacated=SeatVacated(table_id=bytes(16), account_id=bytes(16))),
        finished(new_table(), [Player(room=99)]),
    ],
    ids=lambda event: event.WhichOneof("event"),
)
async def test_x17_an_event_that_makes_no_sense_changes_nothing(wallet: Wallet, event: AuthEvent | TablesEvent) -> None:
    before = await wallet.state()
    with pytest.raises((ValueError, LookupError)):
        await wallet.take(event)
    assert await wallet.state() == before


async def test_p81_coins_are_counted_when_they_are_committed_and_only_then(wallet: Wallet) -> None:
    def created_coins(reason: str) -> float:
        return REGISTRY.get_sample_value("whist_wallet_coins_created_total", {"reason": reason}) or 0

    def destroyed_coins() -> float:
        return REGISTRY.get_sample_value("whist_wallet_coins_destroyed_total", {"reason": "entry_paid"}) or 0

    [player] = await people(wallet, 1, room=2)
    prizes, paid = created_coins("prize"), destroyed_coins()
    await play(wallet, [player])
    assert (created_coins("prize") - prizes, destroyed_coins() - paid) == (250, 100)
    gifts = created_coins("signup_gift")
    with pytest.raises(RuntimeError, match="crash"):
        async with wallet.store.transaction() as ledger:
            await on_auth(ledger, created(new_account()), platform=PLATFORM)
            raise RuntimeError("crash")
    assert created_coins("signup_gift") == gifts
