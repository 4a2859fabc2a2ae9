"""The turn that runs: how long its seat has, and the move that the server makes when the time is up (P30, P31)."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from libs.chassis.clock import Clock
from libs.engine.game import Action
from libs.house.bots import Strength
from services.tables.actor.pace import Pace
from services.tables.actor.presence import PERSON, Holders
from services.tables.actor.turn_clock import TurnClock
from services.tables.bots import BotPlayers
from services.tables.domain.entries import By, Moved
from services.tables.domain.table import Table, decide_move, move_id


class RunningTurn:
    """The clock of a table's turns, and who plays for whoever lets it run out. All methods return at once."""

    def __init__(
        self, table: Table, *, clock: Clock, pace: Pace, bots: BotPlayers, holders: Holders, free: Callable[[], bool],
        chosen: Callable[[Moved, Sequence[Any]], None], failed: Callable[[Exception], None],
    ) -> None:  # fmt: skip
        """`free` tells whether a move may be made now; `chosen` gets the server's, `failed` why there can be none."""
        self.began = 0.0  # monotonic
        self._table = table
        self._clock = clock
        self._pace = pace
        self._bots = bots
        self._holders = holders
        self._free = free
        self._chosen = chosen
        self._failed = failed
        self._friends = table.opened.friends
        self._turn_clock = TurnClock(self._time_up)

    @property
    def running(self) -> bool:
        """Whether its time is counted."""
        return self._turn_clock.running

    def stop(self) -> None:
        """The decision is made."""
        self._turn_clock.stop()

    def close(self) -> None:
        """Stop for good."""
        self._turn_clock.close()

    def begin(self) -> int:
        """Count from now: a person's limit with a small grace, or the bot's pace.

        Answers when it ends, Unix milliseconds without the grace; 0 with nobody to act.
        """
        table = self._table
        seat = table.to_act
        if seat is None:
            return 0
        self.began = self._clock.monotonic()
        if self._holders.of(seat) == PERSON:
            seconds = self._pace.limit_seconds(table.phase, self._friends)
            grace = self._pace.grace_seconds()
        else:
            seconds = self._pace.bot_seconds(move_id(table.table_id, table.turn).bytes[0] / 255)
            grace = 0.0
        self._turn_clock.set(seconds + grace, table.turn)
        return round((self._clock.unix() + seconds) * 1000)

    def _time_up(self, turn: int) -> None:
        """The clock of decision `turn` has run out; a move that is in flight has won already."""
        table = self._table
        seat = table.to_act
        if seat is None or table.turn != turn or not self._free():
            return
        by = By.TIME_OUT if self._holders.of(seat) == PERSON else By.BOT
        try:
            view = table.view(seat)
        except Exception as error:
            self._failed(error)
            return
        # By table and decision, not by the secret: whoever recovers the table makes the same move, and watching bots
        # tells nothing about the cards to come.
        seed = int.from_bytes(move_id(table.table_id, turn).bytes[8:])
        done = partial(self._bot_chose, turn, by)
        # A stand-in keeps the seat of somebody who may still win it; the host chooses the strength of the others.
        chosen = None if self._friends is None or table.is_person(seat) else Strength(self._friends.bots)
        self._bots.ask(table.opened.game, view, stand_in=table.is_person(seat), strength=chosen, seed=seed, done=done)

    def _bot_chose(self, turn: int, by: By, action: Action) -> None:
        """The bot's answer to decision `turn`; one that comes after the decision, or after a new clock, is dropped."""
        table = self._table
        seat = table.to_act
        started_anew = self.running  # somebody is back and has the turn, or the pace runs once more
        if started_anew or table.turn != turn or not self._free():
            return
        assert seat is not None, "the decision is still awaited"
        try:
            body, events = decide_move(table, seat, turn, action, by, "")
        except Exception as error:
            self._failed(error)
            return
        self._chosen(body, events)
