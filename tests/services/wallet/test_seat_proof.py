"""The proof finds a prize that is not the own room's (E7, P5, P6) and an account at two paid tables (E10, P8, X3)."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from libs.chassis.db import Database
from libs.house.modes import Coffee
from services.wallet.domain.ledger import AccountId, TableId
from services.wallet.handlers.ledger_check import ledger_check, unproved
from services.wallet.handlers.refunds import refund
from services.wallet.storage.ledger import LedgerStore
from services.wallet.wiring import MIGRATIONS
from tests.conftest import MakeDatabase
from tests.services.wallet.builders import (
    ENTROPY,
    PLATFORM,
    Player,
    Wallet,
    finished,
    new_table,
    started,
    vacated,
    voided,
)
from tests.services.wallet.evenings import Evening
from tests.services.wallet.planting import found_after, rules_after
from whist.wallet.v1.events_pb2 import PrizePaid, WalletEvent

BEGIN = datetime(2026, 11, 30, 12, tzinfo=UTC)


def minute(number: float) -> datetime:
    return BEGIN + timedelta(minutes=number)


# ---- E7: each from their own room ----


@dataclass(frozen=True)
class Mixed:
    """A table of players from six rooms, one more that was voided after its end, and one given back."""

    wallet: Wallet
    table: TableId
    players: Sequence[Player]


@pytest.fixture(scope="module")
async def mixed(make_database: MakeDatabase) -> AsyncIterator[Mixed]:
    database = Database.open(await make_database(MIGRATIONS), "wallet")
    wallet = Wallet(LedgerStore(database, ENTROPY))
    evening = await Evening.of(wallet)
    players = [
        await evening.player(place=1, room=5, coffee=Coffee.X1_5),
        await evening.player(place=2, room=2, coffee=Coffee.X3),
        await evening.player(place=3, room=11),
        Player(guest=True, place=3, room=1),
        await evening.player(place=1, room=4, own_bids=0),
        await evening.player(place=4, room=3),
    ]
    table = await evening.played(*players)
    undone = await evening.played(players[1], replace(players[0], place=3))
    await wallet.take(voided(undone, [], had_finished=True))
    given_back = await evening.played(replace(players[2], place=2))
    await refund(players[2].account_id, given_back, desk=evening.wallet.desk)
    assert await ledger_check(wallets=wallet.store) == []
    yield Mixed(wallet, table, players)
    await database.close()


async def test_e7_p5_each_is_paid_from_the_own_room_though_seated_with_others(mixed: Mixed) -> None:
    """2,500 × 1.5; 250 × 70 % × 3; 250,000 × 55 %; 100 × 55 %: and the table gives what they come to."""
    prizes = [
        event.prize_paid.coins
        for player in mixed.players
        for event in await mixed.wallet.events(player.account_id)
        if event.prize_paid.table_id == mixed.table.bytes
    ]
    assert prizes == [3_750, 525, 137_500, 55]
    assert await ledger_check(wallets=mixed.wallet.store) == []
    assert "E7" not in {each.rule for each in await unproved(wallets=mixed.wallet.store)}


OF_THE_TABLE = "table_id = :table and account_id = :second"


@pytest.mark.parametrize(
    "statement",
    [
        f"update wallet.hold set room = 5 where {OF_THE_TABLE}",
        f"update wallet.hold set coffee = 'x2' where {OF_THE_TABLE}",
        f"update wallet.seat set place = 1 where {OF_THE_TABLE}",
        f"update wallet.seat set guest = true where {OF_THE_TABLE}",
        "update wallet.seat set room = 2 where guest",
        "update wallet.tariff set prize_coins = prize_coins + 100 where room = 2",
        "update wallet.tariff set free = false where room = 1",
        "delete from wallet.tariff where room = 11",
        "update wallet.finished_game set tariff = 'another' where table_id = :table",
        # The house that gave it is another: the account has what is due, the table has not given it.
        "update wallet.posting set house = 'gifts' where house = 'prizes' and transfer_id in "
        "(select id from wallet.transfer where key = :prize)",
    ],
)
async def test_e7_alone_finds_a_prize_that_is_not_the_own_rooms(mixed: Mixed, statement: str) -> None:
    if statement == "update wallet.tariff set free = false where room = 1":
        # A guest's is due there all the same; a signed-in player's without an entry would not be.
        statement = "update wallet.seat set guest = false where guest; " + statement
    statements = statement.split("; ")
    assert await rules_after(mixed.wallet, *statements, **named(mixed)) == {"E7"}


def second(mixed: Mixed) -> AccountId:
    return mixed.players[1].account_id


def named(mixed: Mixed) -> dict[str, object]:
    return {"table": mixed.table, "second": second(mixed), "prize": f"prize:{mixed.table}:{second(mixed)}"}


PRIZE = "(select id from wallet.transfer where key = :prize)"


async def test_e7_finds_the_neighbours_prize_where_everything_else_agrees_on_it(mixed: Mixed) -> None:
    """Postings, balance and what was told are those of room 5, 2,500 × 70 % × 3, instead of room 2."""
    wrong, right = 2_500 * 7 // 10 * 3, 525
    found = [event for event in await mixed.wallet.events(second(mixed)) if event.prize_paid.coins == right]
    told = found[0]
    assert told.prize_paid.table_id == mixed.table.bytes
    paid = PrizePaid()
    paid.CopyFrom(told.prize_paid)
    paid.coins = wrong
    statements = (
        f"update wallet.posting set amount = sign(amount) * {wrong} where transfer_id = {PRIZE}",
        f"update wallet.balance set amount = amount + {wrong - right} where account_id = :second and asset = 'coin'",
        "update wallet.event set payload = :payload where event_id = :event",
    )
    said = await found_after(
        mixed.wallet, *statements, **named(mixed), event=UUID(bytes=told.event_id),
        payload=WalletEvent(event_id=told.event_id, prize_paid=paid).SerializeToString(),
    )  # fmt: skip
    assert [(each.rule, each.subject, each.expected, each.found) for each in said] == [
        ("E7", f"{mixed.table} {second(mixed)}", "525 of room 2", "5250"),
        ("E7", f"{mixed.table} in all", "141830", "146555"),
    ]


async def test_e7_prizes_are_those_of_the_day_they_were_paid(wallet: Wallet) -> None:
    """A platform that pays more from now on makes nothing of before wrong, and what it pays is proved by it."""
    generous = replace(
        PLATFORM, rooms=tuple(replace(room, prize_coins=room.prize_coins * 2) for room in PLATFORM.rooms)
    )
    coins = []
    for platform in (PLATFORM, generous, PLATFORM):
        today = Wallet(wallet.store, platform)
        player, table = Player(account_id=await wallet.account(), room=2), new_table()
        await wallet.hold_for(table, [player])
        await today.take(started(table, [player]), finished(table, [player]))
        coins.append(await wallet.coins(player.account_id))
    assert coins == [1_150, 1_400, 1_150]
    assert await ledger_check(wallets=wallet.store) == []


# ---- E10: at one paid table ----


async def two_games(
    wallet: Wallet,
    first: tuple[float, float],
    second: tuple[float, float],
    *,
    left: float | None = None,
    room: int = 2,
    void: bool = False,
) -> list[str]:
    """An account at two tables for those minutes, left the first at that one. Returns what the proof says of E10."""
    player = Player(account_id=await wallet.rich(1000), room=room, left=left is not None)
    tables = [new_table(), new_table()]
    for table, (begins, _) in zip(tables, (first, second), strict=True):
        await wallet.hold_for(table, [player])
        await wallet.take(started(table, [player], at=minute(begins)))
        if left is not None and table is tables[0]:
            await wallet.take(vacated(table, player, minute(left)))
    end = (
        voided(tables[0], [player], at=minute(first[1])) if void else finished(tables[0], [player], at=minute(first[1]))
    )
    if left is None:
        assert await e10(wallet, player) == []  # the news of the first one's end may be on its way
    await wallet.take(end)
    said = await e10(wallet, player)
    await wallet.take(finished(tables[1], [replace(player, left=False)], at=minute(second[1])))
    assert await e10(wallet, player) == said
    return said


async def e10(wallet: Wallet, player: Player) -> list[str]:
    found = await ledger_check(wallets=wallet.store)
    assert {each.rule for each in found} <= {"E10"}
    return [each.subject for each in found if str(player.account_id) in each.subject]


@pytest.mark.parametrize(
    "case",
    [
        {"first": (0, 5), "second": (5, 9)},  # at once, and the news of the end came late
        {"first": (0, 5), "second": (2, 4), "left": 2},  # left on purpose, may play elsewhere (P8)
        {"first": (0, 5), "second": (5, 9), "void": True},
        {"first": (5, 9), "second": (0, 5)},
    ],
)
async def test_e10_p8_one_table_after_the_other_is_well(wallet: Wallet, case: dict[str, object]) -> None:
    assert await two_games(wallet, **case) == []  # type: ignore[arg-type] # as the table says


@pytest.fixture
async def apart(make_database: MakeDatabase) -> AsyncIterator[Wallet]:
    """A wallet of its own: what is found in it stays."""
    database = Database.open(await make_database(MIGRATIONS), "wallet")
    yield Wallet(LedgerStore(database, ENTROPY))
    await database.close()


async def test_e10_x3_two_paid_tables_at_once_are_found_however_short_it_was(apart: Wallet) -> None:
    cases: Sequence[dict[str, object]] = [
        {"first": (0, 5), "second": (4.99, 9)},
        {"first": (0, 9), "second": (2, 4)},
        {"first": (0, 5), "second": (2, 4), "left": 2.01},
        {"first": (0, 5), "second": (2, 4), "void": True},
        {"first": (0, 5), "second": (0, 5)},
        {"first": (0, 5), "second": (4, 9), "room": 1},  # the first room's entry is nothing, and paid
    ]
    for number, case in enumerate(cases, start=1):
        assert len(await two_games(apart, **case)) == 1, case  # type: ignore[arg-type] # as the table says
        assert len(await ledger_check(wallets=apart.store)) == number


async def test_e10_x3_each_table_during_a_long_one_is_named(apart: Wallet) -> None:
    player = Player(account_id=await apart.rich(1000), room=2)
    tables = []
    for begins, ends in ((0, 9), (1, 2), (5, 6), (9, 10)):
        table = new_table()
        await apart.hold_for(table, [player])
        await apart.take(started(table, [player], at=minute(begins)), finished(table, [player], at=minute(ends)))
        tables.append(table)
    found = [each.subject for each in await ledger_check(wallets=apart.store)]
    assert sorted(found) == sorted(f"{player.account_id} at {table}" for table in tables[1:3])


async def test_e10_p8_a_table_that_was_never_dealt_or_dealt_without_the_account_is_none(wallet: Wallet) -> None:
    player = Player(account_id=await wallet.rich(1000), room=2)
    others = [Player(account_id=await wallet.rich(1000), room=2)]
    unseated, waiting, played = new_table(), new_table(), new_table()
    for table in (unseated, waiting, played):
        await wallet.hold_for(table, [player])
    await wallet.hold_for(unseated, others)
    await wallet.take(
        started(unseated, others, at=minute(0)),
        started(played, [player], at=minute(1)),
        finished(unseated, others, at=minute(4)),
        finished(played, [player], at=minute(5)),
    )
    assert await ledger_check(wallets=wallet.store) == []


@pytest.fixture(scope="module")
async def in_turn(make_database: MakeDatabase) -> AsyncIterator[Wallet]:
    """An account at one table after the other; it left the second, which runs on."""
    database = Database.open(await make_database(MIGRATIONS), "wallet")
    wallet = Wallet(LedgerStore(database, ENTROPY))
    player = Player(account_id=await wallet.rich(1000), room=2)
    for number in range(3):
        table, left = new_table(), number == 1
        await wallet.hold_for(table, [player])
        await wallet.take(started(table, [player], at=minute(10 * number)))
        if left:
            await wallet.take(vacated(table, player, minute(10 * number + 5)))
        else:
            await wallet.take(finished(table, [player], at=minute(10 * number + 9)))
    assert await ledger_check(wallets=wallet.store) == []
    assert await unproved(wallets=wallet.store) == []
    yield wallet
    await database.close()


@pytest.mark.parametrize(
    "statement",
    [
        "update wallet.game set ended_at = ended_at + interval '2 minutes' where started_at = :begin",
        "update wallet.game set started_at = started_at - interval '2 minutes' where started_at > :begin",
        "update wallet.departure set at = at + interval '6 minutes'",
    ],
)
async def test_e10_alone_finds_moments_that_cannot_be(in_turn: Wallet, statement: str) -> None:
    assert await rules_after(in_turn, statement, begin=BEGIN) == {"E10"}
