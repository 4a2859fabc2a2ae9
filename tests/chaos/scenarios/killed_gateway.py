"""B14: a gateway is killed with hundreds of sockets; their clients go on at another from the last row they had."""

import asyncio
import signal
import time

from services.tables.domain.entries import By, Moved
from tests.chaos.history import ClientLog, reading
from tests.chaos.players import CLASSIC, playing, room
from tests.chaos.scenario import Run, scenario
from tests.chaos.system import Plan, running
from tests.chaos.verdict import judged
from tests.chaos.watching import all_go_on, back_again, longest

BACK_SECONDS = 10.0
GOES_ON_SECONDS = 15.0


@scenario("B14", "a gateway killed with its sockets: clients resume at another, each missed row once and in order")
async def killed_gateway(run: Run) -> None:
    tables, people_each, think = (4, 4, 0.1) if run.small else (84, 6, 3.0)
    async with running(Plan(gateways=2), run.folder) as system, room(system, run.random) as people:
        await people.deal(tables, people=people_each, think_seconds=think, mode=CLASSIC)
        async with playing(people):
            await asyncio.sleep(run.random.uniform(0.5, 1.5))
            victim = run.random.choice(system.of("gateway"))
            cut = [player for player in people.players if player.connection.at == victim.name]
            assert cut, "nobody was connected there"
            killed_at = time.monotonic()
            victim.send(signal.SIGKILL)
            run.inject(f"SIGKILL of {victim.name} with {len(cut)} of {len(people.players)} sockets")
            pause = await longest(cut, back_again, killed_at, BACK_SECONDS)
            run.held(f"all {len(cut)} clients were back within {pause:.1f} s")
            async with system.database() as database:
                healed_at = await reading.now(database)
            await all_go_on(people, GOES_ON_SECONDS)
        history = await judged(run, people, healed_at=healed_at)
        rows = sum(in_order(player.log) for player in people.players)
        run.held(f"{rows} rows reached {len(people.players)} clients in order, none missing and none twice")
        entries = [row.entry for journal in history.journals.values() for row in journal.rows]
        people_moved = {By.PERSON, By.BOT}  # bots on the seats that are theirs
        assert {By(entry.by) for entry in entries if isinstance(entry, Moved)} <= people_moved, "a turn ran out"
        run.held("seats were kept: no turn ran out")


def in_order(log: ClientLog) -> int:
    """How many rows the client got.

    Within a connection each row follows the one before; a new connection goes on where the last one ended, or repeats
    its last row, which says whose turn it is, or begins with a snapshot.
    """
    heard = [(when, delta.seq, False) for when, delta in log.deltas]
    heard += [(when, snapshot.seq, True) for when, snapshot in log.snapshots]
    newest, at = -1, 0.0
    for when, seq, whole in sorted(heard):
        fresh = any(at < began <= when for began in log.connected_at)
        if not whole:
            assert seq == newest + 1 or (fresh and seq == newest), f"row {seq} came after row {newest}"
        newest, at = max(newest, seq), when
    return len(log.deltas)
