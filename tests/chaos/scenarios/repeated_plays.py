"""B04: a client that does not trust the line sends each play three times over two sockets and once over a third."""

import asyncio
import time
from contextlib import AsyncExitStack
from uuid import uuid4

from libs.wire import frames
from tests.chaos.history.model import ClientLog
from tests.chaos.players import room
from tests.chaos.scenario import Run, scenario
from tests.chaos.system import Plan, running
from tests.chaos.verdict import judged
from tests.chaos.watching import until
from tests.e2e.rogue import Rogue, rogue

ANSWERED_SECONDS = 10.0


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
                act = frames.Act(
                    table=eyes.table.id, req=uuid4().hex, turn=decision.turn, action=dict(decision.legal[0])
                )
                async with AsyncExitStack() as sockets:
                    pair = [await sockets.enter_async_context(rogue(url, token)) for _ in range(2)]
                    await three_times(run, pair, log, act)
                # Both are closed; a third one asks what became of it.
                async with rogue(url, token) as again:
                    await again.join(act.table)
                    await sent(again, log, act)
                    log.hear(await again.answer(act.req), time.monotonic())
                rows = [seq for _, seq in log.operations[act.req].acks]
                assert len(rows) == 5, "a delta on each of two sockets, and an answer to each of three repeats"
                assert len(set(rows)) == 1, f"one play was answered with rows {rows}"
                plays -= 1
                if not plays:
                    break
        finally:
            others.cancel()
            await asyncio.gather(others, return_exceptions=True)
        run.inject(f"{len(log.operations)} plays sent three times over two sockets and once more over a third")
        told = [delta.req for _, delta in witness.log.deltas if delta.req in log.operations]
        assert len(told) == len(set(told)) == len(log.operations), "the other player saw a play twice or not at all"
        run.held(f"{len(told)} plays: one row each, equal answers, one event to the other player")
        await judged(run, people, others=(log,))


async def three_times(run: Run, pair: list[Rogue], log: ClientLog, act: frames.Act) -> None:
    """Over two sockets, in an order and with gaps of the seed's; returns when everything is answered.

    Each socket sees the row as all at the table do; to whoever asks again it is named by an Ack.
    """
    heard: list[frames.Delta | frames.Ack | frames.Error] = []

    async def listen(socket: Rogue) -> None:
        while True:
            heard.append(await socket.answer(act.req))
            log.hear(heard[-1], time.monotonic())

    def answered() -> bool:
        return len(heard) == 4 and sum(isinstance(each, frames.Ack) for each in heard) == 2

    for socket in pair:
        await socket.join(act.table)
    listening = [asyncio.create_task(listen(socket)) for socket in pair]
    first = run.random.choice(pair)
    for socket in run.random.sample([first, *pair], 3):
        await sent(socket, log, act)
        await asyncio.sleep(run.random.choice([0.0, 0.0, 0.002]))
    await until(answered, ANSWERED_SECONDS, "two deltas and two acks")
    for task in listening:
        task.cancel()
    await asyncio.gather(*listening, return_exceptions=True)


async def sent(socket: Rogue, log: ClientLog, act: frames.Act) -> None:
    """Once, and written down."""
    log.invoke(act, time.monotonic())
    await socket.say(act)
