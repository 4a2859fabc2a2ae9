"""The topics read again from the start, in any order between keys, change nothing (X18, B10)."""

import asyncio
import contextlib
from datetime import UTC, datetime

from libs.chassis.entropy import SeededEntropy
from libs.chassis.errors import DomainError
from libs.house.modes import Coffee
from services.wallet.handlers.refunds import refund
from tests.services.wallet.builders import (
    Event,
    Player,
    Wallet,
    analysed,
    created,
    new_table,
    podium_won,
    seen,
    started,
    upgraded,
    voided,
)
from tests.services.wallet.evenings import ANY_NUMBER, Evening

# By topic and key: within one the order is kept, between them nothing is.
Topic = dict[tuple[str, bytes], list[Event]]


async def an_evening(wallet: Wallet) -> Topic:
    """Eight accounts, sixteen tables, Mondays, podiums and the coach's judgments. Returns all events by topic and key.

    Tables finish, are refunded, are voided before or after their end, or run on.
    """
    entropy, events = SeededEntropy(7), Topic()
    evening = await Evening.of(wallet, ANY_NUMBER)
    accounts = [await wallet.account() for _ in range(8)]
    for number, account in enumerate(accounts):
        since = datetime(2026, 11, 1 + number, tzinfo=UTC)
        days = [seen(account, f"2026-11-{day}", since) for day in (10, 24, 30)]
        events["auth", account.bytes] = [created(account), upgraded(account), *days]
        events["leagues", account.bytes] = [podium_won(account, f"2026-W4{week}", 100, 1) for week in (7, 8)]
    for number in range(16):
        table, classic = new_table(), bool(number % 3)
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
        life: list[Event] = [started(table, players)]
        if number % 4:
            life.append(voided(table, players) if number % 4 == 3 else evening.end(table, players, classic=classic))
        if number % 8 == 5:
            life.append(voided(table, players, had_finished=True))
        events["tables", table.bytes] = life
        events["coach", table.bytes] = [analysed(table, *((account, "A", 1) for account in at_table))]
        await wallet.take(*life[:2])
        for account in at_table[1:]:
            with contextlib.suppress(DomainError):
                await refund(account, table, desk=evening.wallet.desk)
        await wallet.take(*life[2:], *events["coach", table.bytes])
    for (topic, _), queue in events.items():
        if topic in ("auth", "leagues"):
            await wallet.take(*queue)
    kinds = {str(row[0]) + ":" + str(row[2]) for row in await wallet.state()}
    assert kinds >= {"reversal:refund", "reversal:void", "share:classic", "share:refund", "game:started"}
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
