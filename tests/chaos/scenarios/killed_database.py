"""B06: PostgreSQL is killed under load and comes back; play stood still, nobody lost a turn or an acknowledged move."""

import asyncio
import os
import signal
import time

from libs.chassis.db import embedded
from services.tables.domain.entries import By, Moved
from tests.chaos.history import reading
from tests.chaos.players import CLASSIC, playing, room
from tests.chaos.scenario import Run, scenario
from tests.chaos.system import Plan, postgres, running
from tests.chaos.verdict import judged
from tests.chaos.watching import all_go_on

RESUMES_SECONDS = 15.0
SCALE = "0.2"  # of the platform's turn limits: an outage outlasts a turn


@scenario("B06", "PostgreSQL killed under load: nothing acknowledged is lost, play goes on when it is back")
async def killed_database(run: Run) -> None:
    tables, think, times = (4, 0.05, 1) if run.small else (50, 0.5, 3)
    async with (
        postgres(run.folder / "postgres") as server,
        running(Plan(environment={"WHIST_TURN_LIMIT_SCALE": SCALE}), run.folder, url=server.url()) as system,
        room(system, run.random) as people,
    ):
        await people.deal(tables, think_seconds=think, mode=CLASSIC)
        async with playing(people):
            for _ in range(times):
                await asyncio.sleep(run.random.uniform(0.3, 1.5))
                away_seconds = run.random.uniform(2.5, 3.5 if run.small else 14.0)
                os.kill(server.pid(), signal.SIGKILL)
                run.inject(f"SIGKILL of PostgreSQL under {tables} tables, away for {away_seconds:.1f} s")
                await asyncio.sleep(away_seconds)
                await asyncio.to_thread(embedded.start, server.data)
                back_at = time.monotonic()
                resumed = await all_go_on(people, RESUMES_SECONDS)
                run.held(f"all {tables} tables went on within {resumed - back_at:.1f} s of its being back")
            async with system.database() as database:
                healed_at = await reading.now(database)
            await asyncio.sleep(1.0)
        history = await judged(run, people, healed_at=healed_at)
        entries = [row.entry for journal in history.journals.values() for row in journal.rows]
        timed_out = sum(isinstance(entry, Moved) and entry.by == By.TIME_OUT for entry in entries)
        assert not timed_out, f"{timed_out} turns of people who were there ran out"
        run.held("nobody's turn ran out")
