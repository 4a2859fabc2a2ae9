"""Thinking off the event loop: a few threads for hints with a queue that says when it is full, one for whole games."""

import asyncio
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from threading import BoundedSemaphore, Condition, Event
from typing import Any

import structlog

from libs.search import ADVISED, Marks, advise, choose
from services.coach.domain.errors import BadView, CoachBusy
from services.coach.domain.games import FinishedGame
from services.coach.domain.study import Study, study, unreadable
from services.coach.metrics import analysis_seconds, hints_refused, records_unreadable
from services.coach.ports import Thought

log = structlog.get_logger()

SEED = 0  # one for all: the same view gets the same hint on every replica
# The longest that one judgement of a finished game waits for hints: under a flood of them a classic of six people takes
# a minute, and ends.
COURTESY_SECONDS = 0.05


class Stopping(Exception):
    """The process ends: the study is given up, and another takes the game."""


class Hints:
    """How many hints are being thought about. One who is not in a hurry waits until none is."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._running = 0

    def __enter__(self) -> None:
        with self._changed:
            self._running += 1

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._running -= 1
            self._changed.notify_all()

    def let_pass(self) -> None:
        """Return when no hint is being thought about, or after a while. Blocks its thread."""
        with self._changed:
            self._changed.wait_for(lambda: not self._running, COURTESY_SECONDS)


class ThreadThinker:
    """Implements `services.coach.ports.Thinker`.

    Threads, not processes: a hint takes milliseconds at most, in which the kernel lets go of the GIL, and a view would
    have to travel there and back.
    """

    def __init__(self, workers: int, queue: int, samples: int) -> None:
        """`workers` think side by side, `queue` more may wait; each move is tried on so many `samples`."""
        self.hints = Hints()
        self._executor = ThreadPoolExecutor(workers, thread_name_prefix="coach")
        self._places = BoundedSemaphore(workers + queue)
        self._samples = samples

    async def think(self, game: str, view: Mapping[str, Any]) -> Thought:
        if not self._places.acquire(blocking=False):
            hints_refused.inc()
            raise CoachBusy()
        thought: Future[Thought] = self._executor.submit(self._think, game, view)
        # A caller that gave up frees its place only when the thread has ended: the bound is on work, not on callers.
        thought.add_done_callback(lambda _: self._places.release())
        return await asyncio.wrap_future(thought)

    async def close(self) -> None:
        """Drop what waits and let what is being thought about end."""
        await asyncio.to_thread(self._executor.shutdown, cancel_futures=True)

    def _think(self, game: str, view: Mapping[str, Any]) -> Thought:
        with self.hints:
            return _think(game, view, self._samples)


class ThreadAnalyst:
    """Implements `services.coach.ports.Analyst`: one game at a time, in a thread of its own that lets hints pass."""

    def __init__(self, hints: Hints, samples: int, marks: Marks) -> None:
        """Each move is tried on so many `samples`; `marks` as the platform gives them."""
        self._hints = hints
        self._samples = samples
        self._marks = marks
        self._stopping = Event()
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="analysis")

    async def study(self, game: FinishedGame) -> Study:
        return await asyncio.get_running_loop().run_in_executor(self._executor, self._study, game)

    async def close(self) -> None:
        """Give up what is being studied."""
        self._stopping.set()
        await asyncio.to_thread(self._executor.shutdown, cancel_futures=True)

    def _study(self, game: FinishedGame) -> Study:
        if not game.record:  # said where it was broken
            return unreadable(game, self._samples)
        with analysis_seconds.labels(game.game).time():
            try:
                return study(game, self._samples, self._marks, self._breathe)
            except (LookupError, TypeError, ValueError) as error:
                # A release that reads it would judge it, but play and rewards of the others must not wait for that.
                log.exception("record_unreadable", table=game.table_id.hex, error=type(error).__name__)
                records_unreadable.inc()
                return unreadable(game, self._samples)

    def _breathe(self) -> None:
        if self._stopping.is_set():
            raise Stopping
        self._hints.let_pass()


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
