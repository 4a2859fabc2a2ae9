"""The topics read again from the start, in any order between keys, change nothing (X18, B10)."""

import asyncio

from libs.chassis.entropy import SeededEntropy
from libs.house.modes import Coffee
from tests.services.wallet.builders import Player, Wallet, created, finished, new_table, started, voided
from whist.auth.v1.events_pb2 import AuthEvent
from whist.tables.v1.events_pb2 import TablesEvent

Topic = dict[bytes, list[AuthEvent | TablesEvent]]


async def an_evening(wallet: Wallet) -> Topic:
    """Eight accounts, twelve tables that finish, are voided or run on. Returns all events by key."""
    entropy, events = SeededEntropy(7), Topic()
    accounts = [await wallet.account() for _ in range(8)]
    for account in accounts:
        events[account.bytes] = [created(account)]
    for number in range(12):
        table = new_table()
        at_table = [accounts[(number + step) % 8] for step in range(3)]
        players = [
            Player(
                account_id=account,
                room=entropy.below(2) + 1,
                coffee=(Coffee.NONE, Coffee.X2)[entropy.below(2)],
                place=place,
                own_bids=entropy.below(7),
                left=entropy.below(5) == 0,
            )
            for place, account in enumerate(at_table, start=1)
        ]
        await wallet.hold_for(table, players)
        life = [started(table, players)]
        if number % 4:
            life.append(voided(table, players) if number % 4 == 3 else finished(table, players))
        events[table.bytes] = list(life)
        await wallet.take(*life)
    return events


async def test_x18_topics_replayed_and_shuffled_between_keys_change_nothing(wallet: Wallet) -> None:
    events = await an_evening(wallet)
    before = await wallet.state()
    for seed in range(4):
        entropy = SeededEntropy(seed)
        waiting = {key: list(queue) for key, queue in events.items()}
        while waiting:
            key = list(waiting)[entropy.below(len(waiting))]
            await wallet.take(waiting[key].pop(0))
            if not waiting[key]:
                del waiting[key]
        assert await wallet.state() == before


async def test_x18_even_out_of_order_and_in_parallel_a_replay_changes_nothing(wallet: Wallet) -> None:
    events = await an_evening(wallet)
    before = await wallet.state()
    flat = [event for queue in events.values() for event in reversed(queue)]
    await asyncio.gather(*(wallet.take(event) for event in (*flat, *reversed(flat))))
    assert await wallet.state() == before
