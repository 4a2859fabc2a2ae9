"""The ledger is what its events have told, and the proof finds where it is not (reliability E15, P17)."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from libs.chassis.audit import Act
from libs.chassis.db import Database
from libs.house.modes import Coffee
from services.wallet.domain.assets import Asset
from services.wallet.domain.ledger import AccountId, Reason
from services.wallet.domain.telling import CAUSES
from services.wallet.handlers.entries import release_entry
from services.wallet.handlers.ledger_check import ledger_check, take_in_events, unproved
from services.wallet.handlers.operators import grant
from services.wallet.handlers.purchases import BuyCoffee, buy_coffee
from services.wallet.handlers.refunds import refund
from services.wallet.jobs import check_ledger
from services.wallet.metrics import ledger_unproved
from services.wallet.storage.ledger import LedgerStore
from services.wallet.wiring import MIGRATIONS
from tests.conftest import MakeDatabase
from tests.services.wallet.builders import (
    ENTROPY,
    Player,
    Wallet,
    analysed,
    finished,
    new_table,
    podium_won,
    seen,
    started,
    voided,
)
from tests.services.wallet.evenings import Evening
from tests.services.wallet.planting import found_after, rules_after
from whist.types.v1.types_pb2 import Assets
from whist.wallet.v1.events_pb2 import BalanceCorrected, WalletEvent


async def an_evening(wallet: Wallet) -> Player:
    """Everything that moves anything, once at least. Returns somebody whose game ended as it should."""
    evening = await Evening.of(wallet)
    wallet = evening.wallet
    winner, loser, spent = [await evening.player(place=place, room=2, coffee=Coffee.X2) for place in (1, 2, 3)]
    await evening.played(winner, loser, spent)
    for each in (loser, await evening.player(place=2)):  # not, and, the first game of the day
        await refund(each.account_id, await evening.played(each), desk=wallet.desk)
    poor = Player(account_id=await wallet.account(), room=2, coffee=Coffee.X5, rounds=30, own_bids=30)
    table = await evening.played(poor, classic=True)
    for _ in range(2):
        await wallet.hold(new_table(), poor.account_id, 5)  # still open
    await wallet.take(voided(table, [], had_finished=True))  # at the house's loss
    judged = replace(await evening.player(place=6, room=1), rounds=30, own_bids=30)
    table = await evening.played(judged, classic=True)
    await wallet.take(analysed(table, (judged.account_id, "A", 1)))
    await wallet.take(voided(table, [], had_finished=True))
    table = await evening.played(replace(judged, place=2, coffee=Coffee.X2), classic=True)
    await wallet.take(analysed(table, (judged.account_id, "A", 1)))
    await refund(judged.account_id, table, desk=wallet.desk)
    # A deal that was called off, one of which nobody had heard, one that left somebody out, one that never came.
    await wallet.take(voided(await evening.dealt(winner), [winner]))
    unheard, without, never = new_table(), new_table(), new_table()
    await wallet.hold_for(unheard, [winner])
    await wallet.take(voided(unheard, [winner]))
    await wallet.hold_for(without, [winner, loser])
    await wallet.take(started(without, [winner]))
    await wallet.hold_for(never, [loser])
    await release_entry(never, loser.account_id, wallets=wallet.store)
    since = evening.now.replace(year=evening.now.year - 1)
    await wallet.take(seen(winner.account_id, evening.day, since), podium_won(winner.account_id, "2026-W48", 5, 5))
    bought = BuyCoffee(account_id=winner.account_id, guest=False, coffee=Coffee.X3, request_id=ENTROPY.uuid7())
    for _ in range(2):
        await buy_coffee(bought, wallets=wallet.store, platform=wallet.platform)
    act = Act(request_id=ENTROPY.uuid7(), operator="olga", act="correct", subject=winner.account_id.hex, reason="r")
    for _ in range(2):
        await grant(act, winner.account_id, {Asset.COIN: -7, Asset.BAR: 2}, wallets=wallet.store)
    return winner


@pytest.fixture(scope="module")
async def told(make_database: MakeDatabase) -> AsyncIterator[Wallet]:
    database = Database.open(await make_database(MIGRATIONS), "wallet")
    wallet = Wallet(LedgerStore(database, ENTROPY))
    await an_evening(wallet)
    yield wallet
    await database.close()


async def rows(wallet: Wallet, statement: str, *, unguarded: bool = False) -> list[Any]:
    async with wallet.store.database.begin() as connection:
        if unguarded:
            await connection.execute(sa.text("set local session_replication_role = replica"))
        found = await connection.execute(sa.text(statement))
        return list(found.all()) if found.returns_rows else []


async def test_e15_p17_all_that_ever_moves_is_told_of_to_the_last_coin(told: Wallet) -> None:
    assert await ledger_check(wallets=told.store) == []
    moved = {row.reason for row in await rows(told, "select distinct reason from wallet.transfer")}
    assert moved == {reason.value for reason in Reason}
    assert set(CAUSES) == set(Reason)


def gained(event: WalletEvent) -> list[tuple[int, Assets]]:
    """What an event says that its account gains, by the contract alone."""
    match event.WhichOneof("event"):
        case "entry_paid":
            return [(-1, event.entry_paid.entry)]
        case "entry_returned":
            return [(0 if event.entry_returned.unpaid else 1, event.entry_returned.entry)]
        case "prize_paid":
            return [(1, Assets(coins=event.prize_paid.coins))]
        case "game_refunded":
            return [(1, event.game_refunded.returned), (-1, event.game_refunded.taken)]
        case "prize_reversed":
            return [(-1, Assets(coins=event.prize_reversed.coins))]
        case "gifts_reversed":
            return [(-1, event.gifts_reversed.assets)]
        case kind:
            return [(1, getattr(event, str(kind)).assets)]


async def test_e15_whoever_reads_the_topic_from_its_start_knows_what_everybody_has(told: Wallet) -> None:
    fields = [field.name for field in Assets.DESCRIPTOR.fields]
    purses: dict[bytes, Counter[str]] = {}
    for row in await rows(told, "select key, payload from wallet.event order by occurred_at, event_id"):
        purse = purses.setdefault(bytes(row.key), Counter())
        for sign, assets in gained(WalletEvent.FromString(bytes(row.payload))):
            purse.update({name: sign * getattr(assets, name) for name in fields})
    names = {field.removesuffix("s").replace("cups", "cup"): field for field in fields}
    for account, purse in purses.items():
        has = Counter(await told.owned(AccountId(UUID(bytes=account))))
        has.update(await told.held(AccountId(UUID(bytes=account))))
        assert {names[asset]: amount for asset, amount in has.items()} == {k: n for k, n in purse.items() if n}
    assert len(purses) == len(await rows(told, "select distinct account_id from wallet.balance"))


CORRECTION = "(select id from wallet.transfer where reason = 'correction' and key like 'grant:%' order by at limit 1)"


@pytest.mark.parametrize(
    "kind",
    ["entry_paid", "entry_returned", "prize_paid", "gift_given", "game_refunded", "prize_reversed", "gifts_reversed",
     "loss_borne", "coffee_bought", "balance_corrected"],
)  # fmt: skip
async def test_e15_alone_finds_an_event_that_was_not_told_or_twice(told: Wallet, kind: str) -> None:
    # Of entries that came back those that were paid: of an unpaid one nothing had been told before.
    which = (
        f"(select e.event_id from wallet.event e where type = '{kind}' and (type <> 'entry_returned' or exists ("
        "select from wallet.event p where p.type = 'entry_paid' and p.key = e.key)) order by occurred_at limit 1)"
    )
    assert await rules_after(told, f"delete from wallet.event where event_id = {which}") == {"E15"}
    twin = (
        "insert into wallet.event (event_id, topic, key, type, payload, traceparent) "
        f"select gen_random_uuid(), topic, key, type, payload, traceparent from wallet.event where event_id = {which}"
    )
    assert await rules_after(told, twin) == {"E15"}


@pytest.mark.parametrize(
    "statements",
    [
        # A transfer that nobody was told of, or that was taken out of the ledger, with everything that belongs to it.
        (
            f"update wallet.balance b set amount = b.amount - p.amount from wallet.posting p "
            f"where p.transfer_id = {CORRECTION} and (p.account_id, p.asset) = (b.account_id, b.asset)",
            f"delete from wallet.posting where transfer_id = {CORRECTION}",
            f"delete from wallet.transfer where id = {CORRECTION}",
        ),
        (
            f"update wallet.posting set amount = amount + sign(amount) where transfer_id = {CORRECTION}",
            f"update wallet.balance b set amount = b.amount + sign(p.amount) from wallet.posting p "
            f"where p.transfer_id = {CORRECTION} and (p.account_id, p.asset) = (b.account_id, b.asset)",
        ),
        # As something else.
        ("update wallet.transfer set reason = 'coffee_bought' where reason = 'correction'",),
        ("update wallet.transfer set reason = 'refund_first_game' where reason = 'void_first_game'",),
        # To somebody else.
        (
            f"insert into wallet.balance select gen_random_uuid(), asset, amount from wallet.posting "
            f"where transfer_id = {CORRECTION} and account_id is not null and asset = 'coin'",
            f"update wallet.balance b set amount = b.amount - p.amount from wallet.posting p "
            f"where p.transfer_id = {CORRECTION} and p.asset = 'coin' "
            "and (p.account_id, p.asset) = (b.account_id, b.asset)",
            f"update wallet.posting p set account_id = (select b.account_id from wallet.balance b "
            "where not exists (select from wallet.posting o where o.account_id = b.account_id)) "
            f"where transfer_id = {CORRECTION} and account_id is not null and asset = 'coin'",
        ),
    ],
)  # fmt: skip
async def test_e15_alone_finds_what_was_not_told_so(told: Wallet, statements: tuple[str, ...]) -> None:
    assert await rules_after(told, *statements) == {"E15"}


async def test_e15_says_whose_and_why_and_how_much(told: Wallet) -> None:
    winner = (await rows(told, f"select account_id from wallet.posting where transfer_id = {CORRECTION} and "
                               "account_id is not null limit 1"))[0].account_id  # fmt: skip
    lie = WalletEvent(balance_corrected=BalanceCorrected(account_id=winner.bytes, assets=Assets(coins=1)))
    other = ("insert into wallet.event (event_id, topic, key, type, payload, traceparent) "
             "values (:id, 'whist.wallet.events.v1', :key, 'balance_corrected', :payload, '')")  # fmt: skip
    [said] = await found_after(told, other, id=ENTROPY.uuid7(), key=winner.bytes, payload=lie.SerializeToString())
    assert (said.rule, said.subject) == ("E15", f"{winner} correction coin")
    assert int(said.expected) == int(said.found) + 1


@pytest.mark.parametrize("payload", [b"\xff", b"", WalletEvent(event_id=b"1").SerializeToString()])
async def test_e15_an_event_that_says_nothing_is_named(told: Wallet, payload: bytes) -> None:
    [[event_id]] = await rows(told, "select event_id from wallet.event where type = 'coffee_bought'")
    said = await found_after(
        told, "update wallet.event set payload = :payload where event_id = :id", payload=payload, id=event_id
    )
    assert {each.rule for each in said} == {"E15"}
    assert said[0].subject == f"event {event_id}"


async def test_e15_the_proof_beside_running_games_finds_nothing(wallet: Wallet) -> None:
    players = [Player(account_id=await wallet.rich(10_000), room=2, place=2) for _ in range(6)]
    proved = asyncio.Event()

    async def play(player: Player) -> int:
        games = 0
        while not proved.is_set():
            table = new_table()
            await wallet.hold_for(table, [player])
            await wallet.take(started(table, [player]), finished(table, [player]))
            games += 1
        return games

    async with asyncio.TaskGroup() as group:
        playing = [group.create_task(play(player)) for player in players]
        for _ in range(8):
            assert await ledger_check(wallets=wallet.store) == []
        proved.set()
    assert all(each.result() for each in playing)


@pytest.fixture
async def older(make_database: MakeDatabase) -> AsyncIterator[Wallet]:
    """An evening three days ago."""
    database = Database.open(await make_database(MIGRATIONS), "wallet")
    wallet = Wallet(LedgerStore(database, ENTROPY))
    await an_evening(wallet)
    await rows(wallet, "update wallet.event set occurred_at = occurred_at - interval '3 days'", unguarded=True)
    yield wallet
    await database.close()


async def test_e15_events_are_read_once_and_may_then_be_dropped(older: Wallet) -> None:
    [[kept]] = await rows(older, "select count(*) from wallet.event")
    await an_evening(older)  # of today
    await check_ledger(older.store)
    assert await ledger_check(wallets=older.store) == []
    [[since, now]] = await rows(older, "select since, clock_timestamp() from wallet.telling")
    assert 1 <= (now - since).total_seconds() / 86_400 <= 2
    # What was told of before is not read any more: without these events the ledger is proved as with them.
    await an_evening(older)
    assert await ledger_check(wallets=older.store) == []
    deleted = await rows(
        older, "delete from wallet.event where occurred_at < (select since from wallet.telling) returning 1"
    )
    assert len(deleted) == kept
    for _ in range(2):
        await take_in_events(wallets=older.store)
        assert await ledger_check(wallets=older.store) == []
    for statement in (
        "update wallet.told set amount = amount + 1 where cause = 'prize'",
        "delete from wallet.told where cause = 'entry'",
        "update wallet.told set account_id = gen_random_uuid() where cause = 'podium'",
        "delete from wallet.event where type = 'coffee_bought'",
    ):
        assert await rules_after(older, statement) == {"E15"}


async def test_e15_day_by_day_the_sums_grow(older: Wallet) -> None:
    await check_ledger(older.store)
    first = await rows(older, "select count(*) from wallet.told")
    await rows(older, "delete from wallet.event")
    # As if that had been days before: an evening that is over for long, too, has not been summed up yet.
    await rows(older, "update wallet.telling set since = since - interval '9 days'")
    await an_evening(older)
    await rows(older, "update wallet.event set occurred_at = occurred_at - interval '3 days'", unguarded=True)
    again = [Player(account_id=await older.account(), room=2) for _ in range(2)]
    for _ in range(2):
        table = new_table()
        await older.hold_for(table, again)
        await older.take(started(table, again), finished(table, again))
        await rows(older, "update wallet.event set occurred_at = occurred_at - interval '3 days' "
                          "where occurred_at > clock_timestamp() - interval '1 day'", unguarded=True)  # fmt: skip
        await check_ledger(older.store)
        assert await ledger_check(wallets=older.store) == []
        await rows(older, "delete from wallet.event")
        await rows(older, "update wallet.telling set since = since - interval '9 days'")
        assert await ledger_check(wallets=older.store) == []
    assert await rows(older, "select count(*) from wallet.told") > first


async def test_e15_a_day_with_an_event_that_says_nothing_is_not_summed_up(older: Wallet) -> None:
    [[event_id]] = await rows(older, "select event_id from wallet.event where type = 'coffee_bought'")
    await rows(older, f"update wallet.event set payload = '' where event_id = '{event_id}'", unguarded=True)
    await check_ledger(older.store)
    assert (await rows(older, "select since from wallet.telling"))[0].since.year == 2000
    assert f"event {event_id}" in {each.subject for each in await ledger_check(wallets=older.store)}


async def test_e15_two_processes_sum_a_day_up_once(older: Wallet) -> None:
    before = await rows(older, "select since from wallet.telling")
    await asyncio.gather(*(take_in_events(wallets=older.store) for _ in range(4)))
    assert await rows(older, "select since from wallet.telling") != before
    assert await ledger_check(wallets=older.store) == []


async def test_e15_of_many_processes_one_begins_and_the_others_find_it_done(older: Wallet) -> None:
    for statement in (
        "delete from wallet.event where type = 'coffee_bought'",
        "update wallet.telling set since = null, opens_at = clock_timestamp()",
    ):
        await rows(older, statement, unguarded=True)
    await asyncio.gather(*(take_in_events(wallets=older.store) for _ in range(4)))
    assert "E15" not in {each.rule for each in await unproved(wallets=older.store)}
    assert await ledger_check(wallets=older.store) == []


async def test_e15_a_ledger_older_than_its_events_is_proved_from_a_moment_on(older: Wallet) -> None:
    """As after the revision that brought it: what moved before is as it stands when nobody writes old events."""
    for statement in (
        "delete from wallet.event where type in ('coffee_bought', 'balance_corrected', 'loss_borne')",
        "update wallet.telling set since = null, opens_at = clock_timestamp() + interval '1 hour'",
    ):
        await rows(older, statement, unguarded=True)
    await check_ledger(older.store)
    assert [each.rule for each in await unproved(wallets=older.store) if each.rule == "E15"] == ["E15"]
    assert ledger_unproved.labels("E15")._value.get() == 1
    assert await ledger_check(wallets=older.store) == []

    account = (await an_evening(older)).account_id  # told of in full, before and after the proof begins
    await rows(older, "update wallet.telling set opens_at = clock_timestamp()")
    await check_ledger(older.store)
    assert ledger_unproved.labels("E15")._value.get() == 0
    await an_evening(older)
    assert await ledger_check(wallets=older.store) == []
    lost = "delete from wallet.event where type = 'balance_corrected' and key = :key"
    assert await rules_after(older, lost, key=account.bytes) == {"E15"}


async def test_e15_begins_anew_with_what_stands_there_where_events_were_lost(older: Wallet) -> None:
    """As the runbook says it, with sums that had been taken in and a purchase that nobody was told of."""
    await check_ledger(older.store)
    account = (await an_evening(older)).account_id
    await rows(older, "delete from wallet.event where type = 'coffee_bought'", unguarded=True)
    assert {each.rule for each in await ledger_check(wallets=older.store)} == {"E15"}
    for statement in (
        "update wallet.telling set since = null, opens_at = clock_timestamp()",
        "delete from wallet.told",
    ):
        await rows(older, statement)
    await check_ledger(older.store)
    await an_evening(older)
    assert await ledger_check(wallets=older.store) == []
    lost = "delete from wallet.event where type = 'balance_corrected' and key = :key"
    assert await rules_after(older, lost, key=account.bytes) == {"E15"}
