"""B01: a worker is killed in the middle of a trick, another told to stop; all tables go on and nothing is lost."""

import asyncio
import signal
import time
from functools import partial

from tests.chaos import purse
from tests.chaos.players import playing, room
from tests.chaos.scenario import Run, scenario
from tests.chaos.system import Plan, running
from tests.chaos.verdict import judged
from tests.chaos.watching import at, longest, moved_again, owners, told_of_owner

AFTER_KILL_SECONDS = 10.0  # P33 wants 6 of a machine that has nothing else to do
AFTER_STOP_SECONDS = 2.0
GAMES_SECONDS = 120.0


@scenario("B01", "a worker killed in mid-trick, another drained: every table goes on, nobody pays or is paid twice")
async def killed_workers(run: Run) -> None:
    tables, think = (6, 0.3) if run.small else (100, 2.0)
    plan = Plan(services=("wallet",), workers=3)
    async with running(plan, run.folder) as system, room(system, run.random) as people, system.database() as database:
        await people.deal(tables, think_seconds=think, room=purse.ROOM, entry=partial(purse.held, system))
        async with playing(people) as games:
            await asyncio.sleep(run.random.uniform(0.2, 1.5))
            first, second = run.random.sample(system.of("tables"), 2)

            orphans = [table for table, owner in (await owners(database, people.tables)).items() if owner == first.name]
            killed_at = time.monotonic()
            first.send(signal.SIGKILL)
            run.inject(f"SIGKILL of {first.name} with {len(orphans)} of {tables} tables")
            pause = await longest(at(people, orphans), moved_again, killed_at, run.bar(AFTER_KILL_SECONDS))
            run.held(f"its {len(orphans)} tables moved again within {pause:.1f} s of the kill")

            leaving = [
                table for table, owner in (await owners(database, people.tables)).items() if owner == second.name
            ]
            stopped_at = time.monotonic()
            second.send(signal.SIGTERM)
            run.inject(f"SIGTERM of {second.name} with {len(leaving)} of {tables} tables")
            pause = await longest(at(people, leaving), told_of_owner, stopped_at, run.bar(AFTER_STOP_SECONDS))
            run.held(f"its {len(leaving)} tables had an owner again within {pause:.2f} s of the signal")

            for player in people.players:
                player.think_seconds = 0.0
            async with asyncio.timeout(GAMES_SECONDS):
                await asyncio.gather(*games)
        await purse.settled(database, people.tables)
        await judged(run, people, finishes=True)
        run.held(f"E4: {await purse.once(database, people.tables)}, none twice")
        await purse.proved(system)
        run.held("the ledger adds up")
