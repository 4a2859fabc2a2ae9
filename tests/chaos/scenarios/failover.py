"""B07: the primary database is lost, its synchronous standby promoted; the old primary comes back and is fenced."""

import asyncio
import time

import asyncpg

from libs.chassis.db import embedded
from libs.chassis.db.embedded import EmbeddedPostgres
from tests.chaos import standby
from tests.chaos.history import reading
from tests.chaos.players import CLASSIC, playing, room
from tests.chaos.scenario import Run, scenario
from tests.chaos.system import Plan, by_way_of, in_front_of, postgres, running
from tests.chaos.verdict import judged
from tests.chaos.watching import all_go_on

RESUMES_SECONDS = 15.0
UNANSWERED_SECONDS = 2.0
WRITE = "update tables.table_head set owned_at = owned_at"


@scenario("B07", "the primary lost, its synchronous standby promoted: nothing acknowledged is lost, the old one fenced")
async def failover(run: Run) -> None:
    tables, think = (4, 0.05) if run.small else (40, 0.5)
    async with postgres(run.folder / "primary") as primary, in_front_of(primary) as proxy:
        second = run.folder / "second"
        async with (
            # Everybody goes by the one address that an operator moves.
            running(Plan(database_url={"": by_way_of(proxy)}), run.folder, url=by_way_of(proxy)) as system,
            room(system, run.random) as people,
        ):
            follower = await asyncio.to_thread(standby.following, primary, second)
            try:
                await standby.made_synchronous(primary)
                await people.deal(tables, think_seconds=think, mode=CLASSIC)
                async with playing(people):
                    await asyncio.sleep(run.random.uniform(0.5, 2.0))
                    standby.kill(primary)
                    run.inject(f"SIGKILL of the primary under {tables} tables")
                    await asyncio.sleep(run.random.uniform(0.0, 2.0))
                    await asyncio.to_thread(standby.promote, follower)
                    proxy.redirect(follower.socket_dir / ".s.PGSQL.5432")
                    promoted_at = time.monotonic()
                    run.inject("its standby promoted, the address moved")
                    resumed = await all_go_on(people, RESUMES_SECONDS)
                    run.held(f"all {tables} tables went on within {resumed - promoted_at:.1f} s of the promotion")
                    async with system.database() as database:
                        healed_at = await reading.now(database)
                    await old_primary_is_fenced(run, primary, follower)
                await judged(run, people, healed_at=healed_at)
            finally:
                await asyncio.to_thread(follower.stop)


async def old_primary_is_fenced(run: Run, primary: EmbeddedPostgres, follower: EmbeddedPostgres) -> None:
    """Back by itself it answers no commit, for its standby is gone; rejoined, it refuses every write."""
    old = await asyncio.to_thread(embedded.start, primary.data)
    run.inject("the old primary started again as it was")
    async with standby.connected(old) as connection:
        try:
            await connection.execute(WRITE, timeout=UNANSWERED_SECONDS)
        except TimeoutError:
            run.held(f"it answered no write within {UNANSWERED_SECONDS:.0f} s: nobody takes one for done")
        else:
            raise AssertionError("the old primary answered a write")
    old = await asyncio.to_thread(standby.rejoin, old, follower)
    async with standby.connected(old) as connection:
        try:
            await connection.execute(WRITE)
        except asyncpg.ReadOnlySQLTransactionError:
            run.held("rejoined as a standby, it refuses writes")
        else:
            raise AssertionError("the old primary took a write")
