"""P30: the clock of a turn rings once, for the turn it was last set for, and never early."""

import asyncio
from collections.abc import Callable
from time import monotonic

from services.tables.actor.turn_clock import TurnClock


async def until(holds: Callable[[], bool]) -> None:
    """Wait for a condition."""
    async with asyncio.timeout(5):
        while not holds():
            await asyncio.sleep(0.002)


async def test_it_rings_for_the_turn_it_was_last_set_for() -> None:
    rung: list[tuple[int, float]] = []
    clock = TurnClock(lambda turn: rung.append((turn, monotonic())))
    begun = monotonic()
    clock.set(0.02, 1)
    clock.stop()
    clock.set(0.06, 2)
    await until(lambda: bool(rung))
    assert [turn for turn, _ in rung] == [2]
    assert rung[0][1] - begun >= 0.058
    assert not clock.running


async def test_an_earlier_deadline_is_kept_although_a_later_one_was_set_before() -> None:
    rung: list[int] = []
    clock = TurnClock(rung.append)
    clock.set(60, 1)
    clock.set(0.01, 2)
    await until(lambda: bool(rung))
    assert rung == [2]


async def test_a_stopped_clock_rings_for_nobody_and_a_closed_one_leaves_nothing_behind() -> None:
    rung: list[int] = []
    clock, other = TurnClock(rung.append), TurnClock(rung.append)
    clock.set(0.01, 1)
    clock.stop()
    other.set(0.01, 2)
    other.close()
    other.set(0.03, 3)
    assert other.running
    await until(lambda: bool(rung))
    assert rung == [3]


async def test_it_may_be_set_from_its_own_ring() -> None:
    rung: list[int] = []

    def ring(turn: int) -> None:
        rung.append(turn)
        if turn < 3:
            clock.set(0.005, turn + 1)

    clock = TurnClock(ring)
    clock.set(0.005, 1)
    await until(lambda: len(rung) == 3)
    assert rung == [1, 2, 3]
