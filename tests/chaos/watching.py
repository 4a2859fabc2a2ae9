"""What a scenario waits for and measures: conditions, owners, and when tables moved again."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Collection, Iterable
from uuid import UUID

import asyncpg

from tests.chaos.players import Player, Room

PROBE_SECONDS = 0.02

OWNERS = """
select table_id, coalesce(owner, '') as owner from tables.table_head
 where table_id = any($1::uuid[]) and status = 'live'
"""


async def until(condition: Callable[[], object], seconds: float, what: str) -> float:
    """The monotonic time at which the condition came true. Raises AssertionError with `what` when it did not."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds:.0f} s: {what}"
        await asyncio.sleep(PROBE_SECONDS)
    return time.monotonic()


async def until_true(ask: Callable[[], Awaitable[object]], seconds: float, what: str) -> float:
    """The same for something that has to be asked."""
    end = time.monotonic() + seconds
    while not await ask():
        assert time.monotonic() < end, f"not within {seconds:.0f} s: {what}"
        await asyncio.sleep(PROBE_SECONDS)
    return time.monotonic()


async def owners(database: asyncpg.Connection, tables: Iterable[UUID]) -> dict[UUID, str]:
    """Of the live ones; empty: nobody."""
    rows = await database.fetch(OWNERS, list(tables))
    return {UUID(bytes=row["table_id"].bytes): row["owner"] for row in rows}


async def all_go_on(people: Room, seconds: float) -> float:
    """The monotonic time at which every player had seen two more rows than now, or the end."""
    before = {player.table.id: player.table.seq for player in people.players}

    def goes_on(player: Player) -> bool:
        return player.table.result is not None or player.table.seq >= before[player.table.id] + 2

    return await until(lambda: all(map(goes_on, people.players)), seconds, "every table goes on")


def at(people: Room, tables: Collection[UUID]) -> list[Player]:
    """Who plays at these tables."""
    return [player for player in people.players if player.log.table in tables]


def told_of_owner(player: Player, since: float) -> float | None:
    """When the player first heard of a newer epoch, or of the end, after `since`."""
    log = player.log
    heard = [(when, delta.epoch) for when, delta in log.deltas]
    heard += [(when, snapshot.epoch) for when, snapshot in log.snapshots]
    heard += [(when, moved.epoch) for when, moved in log.moved]
    before = max((epoch for when, epoch in heard if when <= since), default=0)
    newer = (when for when, epoch in heard if epoch > before)
    return min((*newer, *_ended(player, since)), default=None)


def moved_again(player: Player, since: float) -> float | None:
    """When a decision of anybody was seen in a newer epoch, or the end, after `since`."""
    log = player.log
    before = max((delta.epoch for when, delta in log.deltas if when <= since), default=0)
    decided = (when for when, delta in log.deltas if delta.epoch > before and delta.by != "server")
    return min((*decided, *_ended(player, since)), default=None)


def back_again(player: Player, since: float) -> float | None:
    """When the player's socket had said hello again after `since`."""
    return min((when for when in player.log.connected_at if when > since), default=None)


def _ended(player: Player, since: float) -> list[float]:
    """When the player's game was over, where it is: a game that had ended in time has nothing to wait for."""
    if player.table.result is None:
        return []
    return [max([since, *(when for when, _ in player.log.over)])]


async def longest(
    players: Collection[Player], seen: Callable[[Player, float], float | None], since: float, bar_seconds: float
) -> float:
    """How long after `since` the last of these players saw it. Raises AssertionError past the bar."""

    def missing() -> list[str]:
        return [player.table.id for player in players if seen(player, since) is None]

    with contextlib.suppress(AssertionError):
        await until(lambda: not missing(), bar_seconds, seen.__name__)
    assert not missing(), f"{seen.__name__} not within {bar_seconds} s at {missing()}"
    pause = max(((seen(player, since) or since) - since for player in players), default=0.0)
    assert pause <= bar_seconds, f"{seen.__name__} after {pause:.2f} s"
    return pause
