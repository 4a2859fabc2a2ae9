"""Thinking off the event loop: a few threads, and a queue that says when it is full."""

import asyncio
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from threading import BoundedSemaphore
from typing import Any

import structlog

from libs.search import ADVISED, advise, choose
from services.coach.domain.errors import BadView, CoachBusy
from services.coach.metrics import hints_refused
from services.coach.ports import Thought

log = structlog.get_logger()

SEED = 0  # one for all: the same view gets the same hint on every replica


class ThreadThinker:
    """Implements `services.coach.ports.Thinker`.

    Threads, not processes: a hint takes milliseconds at most, in which the kernel lets go of the GIL, and a view would
    have to travel there and back.
    """

    def __init__(self, workers: int, queue: int, samples: int) -> None:
        """`workers` think side by side, `queue` more may wait; each move is tried on so many `samples`."""
        self._executor = ThreadPoolExecutor(workers, thread_name_prefix="coach")
        self._places = BoundedSemaphore(workers + queue)
        self._samples = samples

    async def think(self, game: str, view: Mapping[str, Any]) -> Thought:
        if not self._places.acquire(blocking=False):
            hints_refused.inc()
            raise CoachBusy()
        thought: Future[Thought] = self._executor.submit(_think, game, view, self._samples)
        # A caller that gave up frees its place only when the thread has ended: the bound is on work, not on callers.
        thought.add_done_callback(lambda _: self._places.release())
        return await asyncio.wrap_future(thought)

    async def close(self) -> None:
        """Drop what waits and let what is being thought about end."""
        await asyncio.to_thread(self._executor.shutdown, cancel_futures=True)


def _think(game: str, view: Mapping[str, Any], samples: int) -> Thought:
    try:
        thought = _advised(dict(view), samples) if game in ADVISED else _chosen(game, dict(view))
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        # The parts fit each other and yet no deal leads there; another kind among these lines is a bug of the bot. The
        # message may quote a card, so it is not logged (P71).
        log.warning("hint_failed", game=game, error=type(error).__name__)
        raise BadView(field="", problem="no game leads to this view") from error
    if thought.action not in view["legal"]:
        raise BadView(field="legal", problem="not what this view allows")
    return thought


def _advised(view: dict[str, Any], samples: int) -> Thought:
    advice = advise(view, samples, SEED)
    return Thought(action=max(advice, key=lambda each: each.points).action, advice=advice)


def _chosen(game: str, view: dict[str, Any]) -> Thought:
    return Thought(action=choose(game, view), advice=())
