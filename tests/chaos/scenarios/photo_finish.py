"""B05: a play and the time-out of its turn in the same millisecond: one is the row, the other changes nothing."""

import asyncio
import time
from collections import Counter
from random import Random

from libs.client.sdk.errors import TurnPassed, WhistError
from services.tables.domain.entries import Moved
from tests.chaos.players import Player, room
from tests.chaos.scenario import Run, scenario
from tests.chaos.system import Plan, running
from tests.chaos.verdict import judged

SCALE = 0.03  # of the platform's turn limits: a card in 300 ms, and 15 ms of grace
GRACE_SECONDS = 0.015
STEP_SECONDS = 0.001
GAMES_SECONDS = 120.0
# Somebody else has decided; and at the game's last decision: it is over, or nobody follows the table any more.
LOST = {"STALE_TURN", "GAME_OVER", "JOIN_FIRST"}


@scenario("B05", "a play and its time-out in the same millisecond: exactly one is the row, the other STALE_TURN")
async def photo_finish(run: Run) -> None:
    tables, most = (6, 12) if run.small else (12, 1000)
    plan = Plan(workers=1, environment={"WHIST_TURN_LIMIT_SCALE": str(SCALE)})
    async with running(plan, run.folder) as system, room(system, run.random) as people:
        await people.deal(tables)
        async with asyncio.timeout(GAMES_SECONDS):
            races = await asyncio.gather(*(race(player, run.random, most) for player in people.players))
        total = sum(races, Counter())
        run.inject(f"{total['won'] + total['lost']} plays at the end of their turn, within a few milliseconds")
        assert total["won"] and total["lost"], f"one side always wins: {total}"
        history = await judged(run, people, finishes=not run.small)
        for journal in history.journals.values():
            turns = [entry.turn for row in journal.rows if isinstance(entry := row.entry, Moved)]
            assert turns == list(range(len(turns))), f"a turn of {journal.table.hex} was decided twice or never"
        plays = [each for player in people.players for each in player.log.operations.values()]
        refused = {reason for each in plays for _, reason in each.refused}
        assert refused <= LOST, f"a play that came too late was refused as {refused}"
        run.held(
            f"{total['won']} plays won, {total['lost']} lost as {', '.join(sorted(refused))}; no turn has two rows"
        )


async def race(player: Player, random: Random, most: int) -> Counter[str]:
    """So many decisions, each at the very end of its turn; the aim follows the last result."""
    found: Counter[str] = Counter()
    aim = GRACE_SECONDS
    async for decision in player.table:
        if player.table.away:
            player.table.come_back()
        due = player.table.deadline_ms / 1000 + aim + random.uniform(-STEP_SECONDS, STEP_SECONDS)
        await asyncio.sleep(max(0.0, due - time.time()))
        try:
            await decision.take(player.chosen(decision))
        except TurnPassed:
            found["lost"] += 1
            aim -= STEP_SECONDS
        except WhistError:
            if player.table.result is None:
                raise
        else:
            found["won"] += 1
            aim += STEP_SECONDS
        if found.total() == most:
            break
    return found
