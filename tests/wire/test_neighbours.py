"""Gateway and worker in one process: the link's two ends, and the stages' counts."""

import asyncio
from collections.abc import Callable, Sequence

from libs.chassis.clock import SystemClock
from libs.wire import link
from services.gateway.socket.link import NeighbourLink
from services.tables.sessions import NeighbourSession

TABLE, ACCOUNT = b"\x01" * 16, b"\x02" * 16


class Echo:
    """A worker that answers each command at once, from within the call that brings it."""

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.closed = 0

    def join(self, deliver: Callable[[Sequence[link.Down]], None], lost: Callable[[], None]) -> "Echo":
        self.session = NeighbourSession(deliver, lost)
        return self

    def take(self, batch: Sequence[link.Up]) -> None:
        self.batches.append(len(batch))
        for frame in batch:
            assert isinstance(frame, link.Command)
            self.session.send(link.ToSocket(frame.table, frame.conn, 1, b"{}", frame.req))

    def close(self) -> None:
        self.closed += 1
        self.session.close()


class Gateway:
    """Sends a command for each answer it gets, until it has had `count`."""

    def __init__(self, worker: Echo, count: int = 0) -> None:
        self.heard: list[str] = []
        self.lost: list[NeighbourLink] = []
        self.depth = 0
        self.count = count
        self.link = NeighbourLink("unix:x", worker, SystemClock(), self._deliver, self.lost.append)

    def say(self, request: str) -> None:
        assert self.depth <= 1
        self.link.send(link.Command(TABLE, ACCOUNT, 7, request, 0, {"bid": 1}), 1.0)

    def _deliver(self, source: NeighbourLink, frame: link.Down) -> None:
        assert source is self.link and isinstance(frame, link.ToSocket)
        self.depth += 1
        self.heard.append(frame.req)
        if len(self.heard) < self.count:
            self.say(str(len(self.heard)))
        self.depth -= 1


async def turns(count: int = 4) -> None:
    """Let the loop go round."""
    for _ in range(count):
        await asyncio.sleep(0)


async def test_frames_of_one_turn_travel_together_and_in_order() -> None:
    worker = Echo()
    gateway = Gateway(worker)
    for number in range(5):
        gateway.say(str(number))
    assert worker.batches == [], "nobody is called back from within its own call"
    await turns()
    assert worker.batches == [5] and gateway.heard == ["0", "1", "2", "3", "4"]


async def test_an_answer_that_asks_again_never_nests() -> None:
    gateway = Gateway(Echo(), count=50)
    gateway.say("first")
    await turns(200)
    assert len(gateway.heard) == 50


async def test_a_worker_that_leaves_is_lost_once_and_hears_no_more() -> None:
    worker = Echo()
    gateway = Gateway(worker)
    running = asyncio.create_task(gateway.link.run())
    await turns()
    worker.session.close()
    worker.session.close()
    await running
    assert gateway.lost == [gateway.link] and worker.closed == 1
    gateway.say("late")
    worker.session.send(link.Closed(TABLE))
    await turns()
    assert worker.batches == [] and gateway.heard == []


async def test_a_gateway_that_ends_leaves_the_worker() -> None:
    worker = Echo()
    gateway = Gateway(worker)
    running = asyncio.create_task(gateway.link.run())
    await turns()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert worker.closed == 1 and gateway.lost == [gateway.link]
