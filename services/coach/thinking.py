"""Thinking off the event loop: a few threads, and a queue that says when it is full."""

import asyncio
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from threading import BoundedSemaphore
from typing import Any

import structlog

from libs.engine.bots import choose
from services.coach.domain.errors import BadView, CoachBusy
from services.coach.metrics import hints_refused

log = structlog.get_logger()


class ThreadThinker:
    """Implements `services.coach.ports.Thinker`.

    Threads, not processes: a hint takes milliseconds at most, and a view would have to travel there and back.
    """

    def __init__(self, workers: int, queue: int) -> None:
        """`workers` think side by side, `queue` more may wait."""
        self._executor = ThreadPoolExecutor(workers, thread_name_prefix="coach")
        self._places = BoundedSemaphore(workers + queue)

    async def choose(self, game: str, view: Mapping[str, Any]) -> Mapping[str, Any]:
        if not self._places.acquire(blocking=False):
            hints_refused.inc()
            raise CoachBusy()
        thought: Future[Mapping[str, Any]] = self._executor.submit(_choose, game, view)
        # A caller that gave up frees its place only when the thread has ended: the bound is on work, not on callers.
        thought.add_done_callback(lambda _: self._places.release())
        return await asyncio.wrap_future(thought)

    async def close(self) -> None:
        """Drop what waits and let what is being thought about end."""
        await asyncio.to_thread(self._executor.shutdown, cancel_futures=True)


def _choose(game: str, view: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        return choose(game, dict(view))
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        # The parts fit each other and yet no game leads there; a real one among these lines is a bug of the bot.
        log.exception("hint_failed", game=game)
        raise BadView(field="", problem="no game leads to this view") from error
