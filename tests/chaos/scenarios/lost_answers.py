"""B03: the database commits and its answer is lost, or the statement is; every command becomes one row all the same."""

import asyncio
from functools import partial

from services.tables.storage.journal import APPLICATION
from tests.chaos.history import reading
from tests.chaos.players import CLASSIC, playing, room
from tests.chaos.scenario import Run, scenario
from tests.chaos.system import Plan, by_way_of, in_front_of, postgres, running
from tests.chaos.verdict import judged
from tests.chaos.watching import all_go_on
from tests.faults.proxy import REQUESTS, RESPONSES

JOURNAL = APPLICATION.encode()  # marks the journal's connections among all that pass
GOES_ON_SECONDS = 15.0


@scenario("B03", "the answer to an append is lost: read back, one row a command, one answer a client")
async def lost_answers(run: Run) -> None:
    tables, times = (4, 6) if run.small else (40, 30)
    async with (
        postgres(run.folder / "postgres") as server,
        in_front_of(server) as proxy,
        running(Plan(database_url={"tables": by_way_of(proxy)}), run.folder, url=server.url()) as system,
        room(system, run.random) as people,
        system.database() as database,
    ):
        await people.deal(tables, think_seconds=0.05, mode=CLASSIC)
        async with playing(people):
            for _ in range(times):
                await asyncio.sleep(run.random.uniform(0.0, 0.3))
                direction = run.random.choice([RESPONSES, RESPONSES, REQUESTS])
                proxy.hold(direction, only=JOURNAL)
                await proxy.until(partial(proxy.held, direction, only=JOURNAL))
                proxy.reset(only=JOURNAL)
                proxy.heal()
                run.inject(f"{'the answer to' if direction == RESPONSES else 'the statement of'} an append lost")
            healed_at = await reading.now(database)
            await all_go_on(people, GOES_ON_SECONDS)
            await asyncio.sleep(0.5)
        unknown = sum([await worker.metric("whist_journal_unknown_outcomes_total") for worker in system.of("tables")])
        # What is lost may be the answer to a read-back too, which is asked again and not counted.
        assert unknown > times / 2, f"{unknown:.0f} outcomes were unknown to the workers"
        run.held(f"{unknown:.0f} outcomes were unknown to the workers and read back")
        answers = [len(each.acks) for player in people.players for each in player.log.acknowledged()]
        assert set(answers) == {1}, f"a command was answered {max(answers)} times"
        run.held(f"{len(answers)} commands were answered once each")
        await judged(run, people, healed_at=healed_at)
