"""What moves where no person does: seats that bots fill, and stand-ins for people who are away (P3, P30, P31, P63)."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Final

import structlog

from libs.chassis.clock import Clock
from libs.engine.protocol import Action, View
from libs.house.bots import Bots, Strength
from libs.search import choose, strongest
from services.tables.faults import told
from services.tables.metrics import bot_failures, bot_seconds

log = structlog.get_logger()

THREADS: Final = 1  # the kernels let go of the GIL: one thread takes one core and leaves the loop's alone
# Calm and keen take a tenth of a millisecond in Romanian Whist and half a one in the other games, about as much as the
# way to a thread and back; sharp takes up to five, in which no table of this worker would move.
ASIDE: Final = frozenset({Strength.SHARP})


class BotPlayers:
    """The worker's bots, by the platform's strengths. Calls come from the event loop alone."""

    def __init__(self, strengths: Bots, clock: Clock, *, compiled: bool) -> None:
        """`compiled`: whether `libs.search` is machine code; where it is not, every bot plays calm."""
        self._strengths = strengths
        self._clock = clock
        self._compiled = compiled
        self._executor = ThreadPoolExecutor(THREADS, thread_name_prefix="bots")
        if not compiled:
            # Interpreted, keen takes 7 to 50 ms and holds the GIL: from a thread it made each turn of the loop wait for
            # 11 ms (0.1 without), so that all tables of the worker would be late. Calm takes 0.2.
            log.warning("bots_play_calm", strength=strengths.strength, stand_in=strengths.stand_in)

    def ask(
        self, game: str, view: View, *, stand_in: bool, seed: int, done: Callable[[Action], None],
        strength: Strength | None = None,
    ) -> None:  # fmt: skip
        """Call `done` once, on the event loop, with one of the view's "legal" actions: at once, or after some thought.

        The answer depends on view, strength and seed (0..2^64-1) alone, and comes whatever happens: a bot that raises,
        or answers with what is not legal, makes the first legal move. `strength`: another than the platform's (P21).
        """
        asked = strength or (self._strengths.stand_in if stand_in else self._strengths.strength)
        playing = Strength(strongest(game, asked)) if self._compiled else Strength.CALM
        if playing not in ASIDE:
            done(self._choose(game, view, playing, seed))
            return
        loop = asyncio.get_running_loop()

        def told(thought: Future[Action]) -> None:
            if not thought.cancelled():
                loop.call_soon_threadsafe(done, thought.result())

        self._executor.submit(self._choose, game, view, playing, seed).add_done_callback(told)

    async def close(self) -> None:
        """Drop what waits and let what is being thought about end."""
        await asyncio.to_thread(partial(self._executor.shutdown, cancel_futures=True))

    def _choose(self, game: str, view: View, strength: Strength, seed: int) -> Action:
        started = self._clock.monotonic()
        legal: list[Action] = view["legal"]
        try:
            action = choose(game, view, strength, seed)
        except Exception as error:
            fault = told(error)
        else:
            fault = "" if action in legal else "not legal"
        if fault:
            # A poor move is better than no game: the seat's table lives on and the fault is counted. The log gets no
            # view, no move and no message that quotes one: they are secret (P71).
            log.error("bot_failed", game=game, phase=view["phase"], strength=strength, fault=fault)
            bot_failures.inc()
            action = legal[0]
        bot_seconds.observe(self._clock.monotonic() - started)
        return action
