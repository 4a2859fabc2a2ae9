"""B13: the workers' and the wallet's clocks are minutes apart, one jumps back an hour; leases, turns, weeks stand.

Auth and the gateways keep the true time: access tokens allow 30 s between machines and no more (RFC 7519's leeway). The
night on which summer time ends is `tests/house/test_calendar.py`'s: days and weeks are the database's.
"""

import asyncio
import signal
import time
from itertools import pairwise

import asyncpg

from services.tables.domain.entries import By, Moved
from tests.chaos import skewed
from tests.chaos.history import Journal
from tests.chaos.players import Room, playing, room
from tests.chaos.scenario import Run, scenario
from tests.chaos.system import Plan, System, running
from tests.chaos.verdict import judged
from tests.chaos.watching import at, longest, moved_again, owners
from whist.tables.v1.events_pb2 import TablesEvent

FIVE_MINUTES, AN_HOUR = 300, 3600
SCALE = 0.06  # of the platform's turn limits: a card in 600 ms, and 30 ms of grace
CARD_SECONDS, LATE_SECONDS = 0.6, 1.5
TAKEN_SECONDS = 10.0
GAMES_SECONDS = 120.0
# P50: the week by the database's clock in the platform's zone.
WEEK = "select to_char(clock_timestamp() at time zone 'Europe/Bucharest', 'IYYY\"-W\"IW')"
ENDS = "select key, payload, occurred_at from tables.event where type = 'game_finished'"


@scenario("B13", "clocks five minutes off, one an hour back: leases, turns, takeover and weeks by the database's clock")
async def wrong_clocks(run: Run) -> None:
    tables, think = (4, 0.02) if run.small else (30, 0.2)
    skews = {"worker-1": FIVE_MINUTES, "worker-2": -FIVE_MINUTES, "wallet": run.random.choice([-1, 1]) * FIVE_MINUTES}
    files = {name: run.folder / f"{name}.skew" for name in skews}
    for name, file in files.items():
        file.write_text(str(skews[name]))
    plan = Plan(
        services=("wallet",),
        environment={"WHIST_TURN_LIMIT_SCALE": str(SCALE)},
        launcher={name: ("-m", "tests.chaos.skewed", "wallet" if name == "wallet" else "tables") for name in files},
        own={name: {skewed.SKEW: str(file)} for name, file in files.items()},
    )
    async with running(plan, run.folder) as system, room(system, run.random) as people, system.database() as database:
        run.inject(", ".join(f"{name} {seconds / 60:+.0f} min" for name, seconds in skews.items()))
        week = await database.fetchval(WEEK)
        await people.deal(tables, people=2, think_seconds=think)
        asleep = people.players[::2]  # one at each table: only time moves for them
        async with playing(people, asleep) as games:
            await asyncio.sleep(run.random.uniform(0.5, 1.0))
            for name in run.random.sample(["worker-1", "worker-2"], 1):
                files[name].write_text(str(skews[name] - AN_HOUR))
                run.inject(f"{name} jumps back an hour")
            await nobody_was_buried(system, run)
            victim = run.random.choice(system.of("tables"))
            live = await owners(database, people.tables)
            orphans = [table for table, owner in live.items() if owner == victim.name]
            killed_at = time.monotonic()
            victim.send(signal.SIGKILL)
            run.inject(f"SIGKILL of {victim.name} with {len(orphans)} of {tables} tables")
            pause = await longest(at(people, orphans), moved_again, killed_at, TAKEN_SECONDS)
            run.held(f"its {len(orphans)} tables moved again within {pause:.1f} s, by workers with wrong clocks")
            await ended(people)
            await asyncio.gather(*games)
        history = await judged(run, people, finishes=True)
        run.held(turns_took_their_time(list(history.journals.values())))
        await in_this_week(run, database, week)


async def nobody_was_buried(system: System, run: Run) -> None:
    """For two leases nobody takes a living worker for dead."""
    await asyncio.sleep(1.0 if run.small else 6.0)
    logs = [worker.log.read_text() for worker in system.of("tables")]
    assert not any("worker_buried" in text or "incarnation_lost" in text for text in logs), "a living worker was buried"
    run.held("no living worker was taken for dead")


async def ended(people: Room) -> None:
    """Every game is over; who sleeps hears it too."""
    async with asyncio.timeout(GAMES_SECONDS):
        for player in people.players:
            version = player.table.version
            while player.table.live:
                version = await player.table.changed(version)


def turns_took_their_time(journals: list[Journal]) -> str:
    """Who slept had each turn to the end and not much longer, by the database's times of the rows."""
    waits = []
    for journal in journals:
        for before, row in pairwise(journal.rows):
            entry = row.entry
            if isinstance(entry, Moved) and entry.by == By.TIME_OUT and entry.events[0][0] == "play":
                waits.append((row.at - before.at).total_seconds())
    assert waits, "nobody's turn ran out"
    assert all(CARD_SECONDS <= wait <= CARD_SECONDS + LATE_SECONDS for wait in waits), f"turns took {sorted(waits)}"
    return f"{len(waits)} turns ran out after {min(waits):.2f} to {max(waits):.2f} s"


async def in_this_week(run: Run, database: asyncpg.Connection, began: str) -> None:
    """GameFinished carries the week of the database, not of the worker."""
    weeks = {began, await database.fetchval(WEEK)}
    finished = [TablesEvent.FromString(row["payload"]).game_finished for row in await database.fetch(ENDS)]
    stamped = {each.week_id for each in finished}
    assert stamped <= weeks, f"stamped {stamped}, it is {weeks}"
    run.held(f"{len(finished)} games finished in week {', '.join(stamped)}, the database's")
