"""What classic games pay for playing well (P15; E13, X9, X14, X18)."""

import asyncio
from itertools import permutations

import pytest

from libs.house.modes import Coffee
from services.wallet.domain.ledger import AccountId
from tests.services.wallet.builders import Event, Player, Wallet, analysed, new_table, started, voided
from tests.services.wallet.evenings import Evening
from whist.tables.v1.tables_pb2 import TABLE_KIND_BENCH
from whist.types.v1.types_pb2 import MODE_QUICK


@pytest.fixture
async def evening(wallet: Wallet) -> Evening:
    return await Evening.of(wallet)


async def newcomer(evening: Evening, *, place: int = 6, **change: object) -> Player:
    account_id = await evening.wallet.account()
    return Player(account_id=account_id, place=place, rounds=30, **{"own_bids": 30, **change})  # type: ignore[arg-type]


async def rewards(evening: Evening, account: AccountId) -> list[dict[str, int]]:
    """What each classic reward gave, in the order in which it was told."""
    given = [
        event.gift_given for event in await evening.wallet.events(account) if event.WhichOneof("event") == "gift_given"
    ]
    return [
        {field.name: value for field, value in gift.assets.ListFields()} for gift in given if gift.reason == "classic"
    ]


@pytest.mark.parametrize(
    ("grade", "runs", "given"),
    [
        ("A+", 0, {"bars": 3, "cups_x3": 1}),
        ("A", 0, {"bars": 2, "cups_x2": 1}),
        ("B", 0, {"bars": 1, "cups_x1_5": 1}),
        ("A+", 4, {"bars": 23, "cups_x3": 1}),
        ("C", 1, {"bars": 5}),
        ("", 2, {"bars": 10}),
        ("F", 0, None),
        ("A-", 0, None),
    ],
)
async def test_p15_grades_and_runs_earn_cups_and_bars_whatever_the_place(
    evening: Evening, grade: str, runs: int, given: dict[str, int] | None
) -> None:
    player = await newcomer(evening)
    table = await evening.played(player, classic=True)
    await evening.wallet.take(analysed(table, (player.account_id, grade, runs)))
    assert await rewards(evening, player.account_id) == ([] if given is None else [given])


@pytest.mark.parametrize("order", list(permutations(range(3))))
async def test_x18_start_end_and_analysis_in_any_order_pay_the_same_once(
    evening: Evening, order: tuple[int, ...]
) -> None:
    player, table = await newcomer(evening, coffee=Coffee.X5), new_table()
    await evening.wallet.hold_for(table, [player])
    events: list[Event] = [
        started(table, [player]),
        evening.end(table, [player], classic=True),
        analysed(table, (player.account_id, "A", 1)),
    ]
    for _ in range(2):
        await evening.wallet.take(*(events[step] for step in order))
    assert await rewards(evening, player.account_id) == [{"bars": 7, "cups_x2": 1}]
    assert (await evening.wallet.owned(player.account_id))["bar"] == 12  # the day's first game besides


async def test_x9_end_and_analysis_fifty_times_at_once_pay_once(evening: Evening) -> None:
    player = await newcomer(evening)
    table = await evening.dealt(player)
    both = [evening.end(table, [player], classic=True), analysed(table, (player.account_id, "A+", 0))]
    await asyncio.gather(*(evening.wallet.take(event) for event in both * 25))
    assert await rewards(evening, player.account_id) == [{"bars": 3, "cups_x3": 1}]


async def test_e13_three_paid_games_a_day_and_one_that_earns_nothing_is_none(evening: Evening) -> None:
    player = await newcomer(evening)
    for grade in ("F", "B", "B", "D", "B", "A+"):
        table = await evening.played(player, classic=True)
        await evening.wallet.take(analysed(table, (player.account_id, grade, 0)))
    assert await rewards(evening, player.account_id) == [{"bars": 1, "cups_x1_5": 1}] * 3
    evening.day = "2026-01-02"
    table = await evening.played(player, classic=True)
    await evening.wallet.take(analysed(table, (player.account_id, "A+", 0)))
    assert len(await rewards(evening, player.account_id)) == 4


async def test_e13_ten_games_at_once_pay_three(evening: Evening) -> None:
    player = await newcomer(evening)
    tables = [await evening.played(player, classic=True) for _ in range(10)]
    await asyncio.gather(*(evening.wallet.take(analysed(table, (player.account_id, "B", 0))) for table in tables))
    assert len(await rewards(evening, player.account_id)) == 3


async def test_p15_only_who_counts_is_no_guest_and_plays_for_the_first_room(evening: Evening) -> None:
    idle = await newcomer(evening, own_bids=19)
    left = await newcomer(evening, left=True)
    richer = Player(account_id=await evening.wallet.account(), room=2, place=5, rounds=30, own_bids=30)
    guest = Player(guest=True, place=4, rounds=30, own_bids=30)
    stranger = await newcomer(evening)
    players = [idle, left, richer, guest]
    table = await evening.played(*players, classic=True)
    people = [*players, stranger]
    await evening.wallet.take(analysed(table, *((each.account_id, "A+", 4) for each in people)))
    assert [await rewards(evening, each.account_id) for each in people] == [[]] * 5


async def test_p15_the_own_room_is_that_of_the_entry_that_was_paid(evening: Evening) -> None:
    paid = Player(account_id=await evening.wallet.account(), room=2, rounds=30, own_bids=30)
    said = Player(account_id=paid.account_id, room=1, rounds=30, own_bids=30)
    table = await evening.dealt(paid)
    await evening.wallet.take(evening.end(table, [said], classic=True), analysed(table, (paid.account_id, "A+", 0)))
    assert await rewards(evening, paid.account_id) == []


async def test_p15_quick_games_and_games_called_off_pay_nothing(evening: Evening) -> None:
    player = await newcomer(evening)
    quick = await evening.played(player)
    await evening.wallet.take(analysed(quick, (player.account_id, "A+", 4)))
    await evening.wallet.take(analysed(quick, (player.account_id, "A+", 4), mode=MODE_QUICK))
    other = await evening.played(player, classic=True)
    await evening.wallet.take(analysed(other, (player.account_id, "A+", 4), kind=TABLE_KIND_BENCH))
    off = await evening.dealt(player)
    await evening.wallet.take(voided(off, []), analysed(off, (player.account_id, "A+", 4)))
    assert await rewards(evening, player.account_id) == []


@pytest.mark.parametrize("runs", [-1, 5, 2**31 - 1])
async def test_x17_runs_that_no_game_can_have_change_nothing(evening: Evening, runs: int) -> None:
    player = await newcomer(evening)
    table = await evening.played(player, classic=True)
    before = await evening.wallet.state()
    with pytest.raises(ValueError, match="runs"):
        await evening.wallet.take(analysed(table, (player.account_id, "A", runs)))
    with pytest.raises(ValueError, match="twice"):
        await evening.wallet.take(analysed(table, *[(player.account_id, "A", 0)] * 2))
    assert await evening.wallet.state() == before
