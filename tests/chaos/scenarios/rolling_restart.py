"""B12: every process is told to stop and started again, one after another, under live tables and open sockets.

One release rolls over itself here; that a new release reads what an old one wrote is held by the golden journals
(tests/engine/golden).
"""

import signal
import time

from services.tables.domain.entries import By, Moved
from tests.chaos.history import reading
from tests.chaos.players import CLASSIC, Room, playing, room
from tests.chaos.scenario import Run, scenario
from tests.chaos.system import Member, Plan, running
from tests.chaos.verdict import judged
from tests.chaos.watching import all_go_on, at, back_again, longest, owners, told_of_owner

PAUSE_SECONDS = 2.0
RECONNECT_SECONDS = 5.0
GOES_ON_SECONDS = 15.0


@scenario("B12", "every process restarted one after another under live tables: short pauses, nothing lost")
async def rolling_restart(run: Run) -> None:
    tables, think = (4, 0.1) if run.small else (100, 2.0)
    services = () if run.small else ("wallet", "leagues", "coach", "matchmaking")
    plan = Plan(services=services, gateways=2, workers=2)
    async with running(plan, run.folder) as system, room(system, run.random) as people:
        await people.deal(tables, people=2, think_seconds=think, mode=CLASSIC)
        async with playing(people):
            order = list(system.members.values())
            run.random.shuffle(order)
            slowest: dict[str, float] = {}
            for member in order:
                slowest[member.name] = await restarted(run, people, member)
                run.inject(f"{member.name} told to stop and started again")
            await all_go_on(people, GOES_ON_SECONDS)
            async with system.database() as database:
                healed_at = await reading.now(database)
            await all_go_on(people, GOES_ON_SECONDS)
        paused = max(seconds for name, seconds in slowest.items() if name.startswith("worker"))
        back = max(seconds for name, seconds in slowest.items() if name.startswith("gateway"))
        run.held(f"no table was without an owner for more than {paused:.2f} s")
        run.held(f"every socket was back within {back:.2f} s")
        history = await judged(run, people, healed_at=healed_at)
        entries = [row.entry for journal in history.journals.values() for row in journal.rows]
        timed_out = sum(isinstance(entry, Moved) and entry.by == By.TIME_OUT for entry in entries)
        assert not timed_out, f"{timed_out} turns of people who were there ran out"
        run.held("nobody's turn ran out")


async def restarted(run: Run, people: Room, member: Member) -> float:
    """Roll one process; how long what it carried stood still: tables without an owner, sockets without a server."""
    async with people.system.database() as database:
        own = [table for table, owner in (await owners(database, people.tables)).items() if owner == member.name]
    cut = [player for player in people.players if player.connection.at == member.name]
    stopped_at = time.monotonic()
    member.send(signal.SIGTERM)
    pause = 0.0
    if member.service == "tables":
        pause = await longest(at(people, own), told_of_owner, stopped_at, run.bar(PAUSE_SECONDS))
    if member.service == "gateway":
        pause = await longest(cut, back_again, stopped_at, run.bar(RECONNECT_SECONDS))
    await member.gone()
    await member.start()
    return pause
