"""B04: a client that does not trust the line sends each play three times over two sockets and once over a third."""

import asyncio
import time
from contextlib import AsyncExitStack
from uuid import uuid4

from libs.client.sdk.table import Decision
from libs.wire import frames
from tests.chaos.history.model import ClientLog
from tests.chaos.players import Player, room
from tests.chaos.scenario import Run, scenario
from tests.chaos.system import Plan, running
from tests.chaos.verdict import judged
from tests.e2e.rogue import Rogue, rogue

ROUND_SECONDS = 20.0


@scenario("B04", "the same play three times over two sockets and after a reconnect: one row, equal answers")
async def repeated_plays(run: Run) -> None:
    plays = 12 if run.small else 30
    async with running(Plan(workers=1), run.folder) as system, room(system, run.random) as people:
        insistent, other = await people.accounts(2)
        worker = system.of("tables")[0]
        table = await people.create(worker, [insistent, other])
        # It follows the table as clients do and sends by raw sockets; the other plays, and hears each play once.
        eyes = await people.seat(insistent, table)
        witness = await people.seat(other, table)
        url, token = system.gateways[0], await insistent.session.access_token()
        log = ClientLog(table=table, account=insistent.id)
        others = asyncio.create_task(witness.play())
        try:
            async for decision in eyes.table:
                async with AsyncExitStack() as sockets:
                    pair = [await sockets.enter_async_context(rogue(url, token)) for _ in range(2)]
                    req = uuid4().hex
                    answers = await before(run, pair, log, eyes, decision, req)
                # Both are closed; a third one asks what became of it.
                async with rogue(url, token) as again:
                    answers |= await sent(again, log, eyes, decision, req, 1)
                assert len(answers) == 1, f"one play was answered with rows {answers}"
                assert len(log.operations[req].acks) == 4
                plays -= 1
                if not plays:
                    break
        finally:
            others.cancel()
            await asyncio.gather(others, return_exceptions=True)
        run.inject(f"{len(log.operations)} plays sent three times over two sockets and once more over a third")
        told = [delta.req for _, delta in witness.log.deltas if delta.req in log.operations]
        assert len(told) == len(set(told)) == len(log.operations), "the other player saw a play twice or not at all"
        run.held(f"{len(told)} plays: one row each, four equal answers, one event to the other player")
        await judged(run, people, others=(log,))


async def before(run: Run, pair: list[Rogue], log: ClientLog, eyes: Player, decision: Decision, req: str) -> set[int]:
    """Three times over two sockets, in an order and with gaps of the seed's; the rows it was answered with."""
    first = run.random.choice([1, 2])
    split = [(pair[0], first), (pair[1], 3 - first)]
    run.random.shuffle(split)

    async def one(socket: Rogue, times: int, pause: float) -> set[int]:
        await asyncio.sleep(pause)
        return await sent(socket, log, eyes, decision, req, times)

    async with asyncio.timeout(ROUND_SECONDS):
        rows = await asyncio.gather(
            *(one(socket, times, run.random.choice([0.0, 0.0, 0.002])) for socket, times in split)
        )
    return set().union(*rows)


async def sent(socket: Rogue, log: ClientLog, eyes: Player, decision: Decision, req: str, times: int) -> set[int]:
    """Send the play so often over this socket; the rows that the answers name."""
    table = eyes.table.id
    act = frames.Act(table=table, req=req, turn=decision.turn, action=dict(decision.legal[0]))
    await socket.join(table)
    for _ in range(times):
        log.invoke(act, time.monotonic())
        await socket.say(act)
    rows = set()
    for _ in range(times):
        answer = await socket.answer(req)
        assert not isinstance(answer, frames.Error), answer
        log.hear(answer, time.monotonic())
        rows.add(answer.seq)
    return rows
