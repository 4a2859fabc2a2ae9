"""The measurements of scale, at a small number: newcomers, a killed worker, slow sockets; and their bars."""

import asyncio
from dataclasses import replace
from pathlib import Path
from random import Random
from time import perf_counter

from bench import memory, recovery, slow_sockets, workers
from bench.connect import CONNECT_MAX_MS, Connect
from bench.players import LiveTable, enter
from bench.seating import seated_at
from bench.servers import whist

BUSY_TABLES, NEWCOMERS = 12, 5

RECOVERED = recovery.Recovery(
    tables=9, last_s=4.0, median_s=3.0, first_s=2.5, setup_s=1.0, never=0, again=0, faults=0, lost_acked=0
)
SLOW = slow_sockets.SlowSockets(
    sockets=9, p99_alone_ms=15.0, p99_ms=29.0, p50_ms=2.0, moves_per_s=9.0, cpu_alone=0.2, cpu=0.2, wrong=0,
    cut=dict.fromkeys(slow_sockets.CUT_IN_WINDOW, 1),
)  # fmt: skip
POINT = workers.Point(us_per_move=100.0, moves_per_s=9.0, wrong=0)


async def test_a_newcomer_has_a_view_within_a_second_while_everybody_plays_as_fast_as_can_be(folder: Path) -> None:
    random = Random(1)
    async with whist(folder / "run") as running:
        seated = await seated_at(running, BUSY_TABLES + NEWCOMERS, 64)
        lives = [LiveTable(each, random, lambda: 0.0, lambda live, epoch: None) for each in seated]
        busy, late = lives[:BUSY_TABLES], lives[BUSY_TABLES:]
        await enter(running.environment["WHIST_SOCKET"], busy)
        for live in busy:
            live.play()
        for newcomer in late:
            moves = sum(len(live.acked) for live in busy)
            began = perf_counter()
            await enter(running.environment["WHIST_SOCKET"], [newcomer])
            assert perf_counter() - began < CONNECT_MAX_MS / 1000
            async with asyncio.timeout(10):
                while sum(len(live.acked) for live in busy) <= moves:
                    await asyncio.sleep(0.01)
        for live in lives:
            live.close()
        assert [fault for live in lives for fault in live.faults] == []


async def test_p33_tables_of_a_killed_worker_accept_moves_again_and_nothing_acknowledged_is_lost(
    folder: Path,
) -> None:
    made = await recovery.measured(folder / "run", tables=12, think_seconds=0.3)
    assert (made.never, made.faults, made.lost_acked) == (0, 0, 0)
    assert 1.0 < made.first_s <= made.last_s, "a lease has to run out first"


def test_bars_that_are_missed_are_said() -> None:
    assert RECOVERED.failures() == []
    missed = (replace(RECOVERED, last_s=6.1), replace(RECOVERED, never=1), replace(RECOVERED, lost_acked=1))
    assert [len(each.failures()) for each in (*missed, replace(RECOVERED, faults=2))] == [1, 1, 1, 1]
    assert SLOW.failures() == []
    assert len(replace(SLOW, p99_ms=30.1).failures()) == 1
    assert len(replace(SLOW, cut={}).failures()) == len(slow_sockets.CUT_IN_WINDOW)
    assert len(replace(SLOW, wrong=1).failures()) == 1
    assert workers.failures(POINT, replace(POINT, us_per_move=110.0)) == []
    assert len(workers.failures(POINT, replace(POINT, us_per_move=110.2))) == 1
    assert len(workers.failures(POINT, replace(POINT, wrong=1))) == 1
    light = memory.Memory(table_kb=60.0, socket_kb=40.0, worker_mib=90.0, gateway_mib=90.0)
    assert light.failures() == []
    assert len(replace(light, table_kb=60.1, socket_kb=40.1).failures()) == 2
    soon = Connect(connections=5, median_ms=9.0, max_ms=1000.0, moves_per_s=9.0, server_cpu=1.0)
    assert soon.failures() == [] and len(replace(soon, max_ms=1000.1).failures()) == 1
