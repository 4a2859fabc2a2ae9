"""B02: a worker is frozen past its lease and thawed; what it still believes reaches neither the journal nor anybody."""

import asyncio
import signal
import time
from uuid import UUID

import asyncpg

from libs.wire import link
from tests.chaos.history import reading
from tests.chaos.players import CLASSIC, playing, room
from tests.chaos.scenario import Run, scenario
from tests.chaos.system import Plan, running
from tests.chaos.verdict import judged
from tests.chaos.watching import at, longest, moved_again, owners, until, until_true
from tests.services.tables.conftest import Gateway

TAKEN_SECONDS = 10.0
DROPPED_SECONDS = 1.0
LISTENS_SECONDS = 2.0  # to what a thawed worker may still say


@scenario("B02", "a worker frozen past its lease and thawed: it writes nothing, says nothing, lets go")
async def frozen_worker(run: Run) -> None:
    tables = 4 if run.small else 40
    frozen_seconds = run.random.uniform(4.5, 6.0) if run.small else run.random.uniform(5.0, 15.0)
    async with (
        running(Plan(), run.folder) as system,
        room(system, run.random) as people,
        system.database() as database,
    ):
        await people.deal(tables, think_seconds=0.1, mode=CLASSIC)
        victim = run.random.choice(system.of("tables"))
        orphans = [table for table, owner in (await owners(database, people.tables)).items() if owner == victim.name]
        async with system.peer(victim, "gateway") as peer, playing(people):
            # A gateway of our own hears the worker itself: those of the product drop what comes of an old epoch.
            ours = Gateway(peer)
            for number, player in enumerate(at(people, orphans)):
                ours.follow(player.log.table.bytes, player.account.id, number)
            await until(lambda: len(ours.down) > 2 * len(orphans), TAKEN_SECONDS, "our gateway hears the worker")
            await asyncio.sleep(run.random.uniform(0.0, 1.0))
            frozen_at = time.monotonic()
            victim.send(signal.SIGSTOP)
            run.inject(f"SIGSTOP of {victim.name} with {len(orphans)} of {tables} tables for {frozen_seconds:.1f} s")
            pause = await longest(at(people, orphans), moved_again, frozen_at, TAKEN_SECONDS)
            run.held(f"its {len(orphans)} tables moved again within {pause:.1f} s")
            await asyncio.sleep(max(0.0, frozen_at + frozen_seconds - time.monotonic()))
            first_rows = await taken(database, orphans)
            thawed_at = time.monotonic()
            victim.send(signal.SIGCONT)

            async def dropped() -> bool:
                return await victim.metric("whist_tables_live ") == 0

            let_go = await until_true(dropped, run.bar(LISTENS_SECONDS), "the thawed worker owns nothing") - thawed_at
            assert let_go <= run.bar(DROPPED_SECONDS), f"it kept its tables for {let_go:.2f} s"
            run.held(f"thawed, it had let go of all of them within {let_go:.2f} s")
            await asyncio.sleep(max(0.0, thawed_at + LISTENS_SECONDS - time.monotonic()))
            late = [
                frame
                for frame in ours.down
                if isinstance(frame, link.Public) and frame.seq >= first_rows[UUID(bytes=frame.table)]
            ]
            assert not late, f"the thawed worker told of rows that are not its own: {late[:3]}"
            run.held("it told of no row from the takeover on")
            healed_at = await reading.now(database)
            await asyncio.sleep(1.0)
            await ours.close()
        await judged(run, people, healed_at=healed_at)


FIRST_ROWS = "select table_id, min(seq) as seq from tables.table_log where table_id = any($1::uuid[]) and epoch > 1"


async def taken(database: asyncpg.Connection, tables: list[UUID]) -> dict[UUID, int]:
    """By table, the first row of its second owner."""
    rows = await database.fetch(f"{FIRST_ROWS} group by table_id", tables)
    return {UUID(bytes=row["table_id"].bytes): row["seq"] for row in rows}
