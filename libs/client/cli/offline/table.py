"""The table of a game in this process.

It answers as one that is followed online does (`libs.client.cli.play.Seated`), so that a person is shown and asked
alike. Bots see their own seat's view and nothing else (P63).
"""

import asyncio
import hashlib
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from libs.client.cli.offline.setup import Setup
from libs.client.sdk.errors import TurnPassed, WhistError
from libs.client.sdk.pulse import Pulse
from libs.engine import fair
from libs.engine.errors import RuleViolation
from libs.engine.game import GAMES
from libs.engine.protocol import Action, Event, Seat, View
from libs.engine.record.model import By, Move, Record
from libs.engine.replay import fold, make_draws
from libs.search import choose
from libs.wire.frames import SeatInfo

PERSON = "Player"
BOT_NAMES = ("Ana", "Bogdan", "Călin", "Dora", "Emil", "Florin")
DEAL_PACES = 4  # how much longer than a card a finished hand stays in view
ID_DIGITS = 32  # as ids are written everywhere


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalResult:
    """How the game ended. `status`: "finished" or "left"; `places` by seat where partners share one (P24)."""

    status: str
    seat: Seat
    ranking: tuple[Seat, ...] = ()
    totals: tuple[int, ...] = ()
    places: tuple[int, ...] = ()

    @property
    def place(self) -> int | None:
        """1 for the winners; None for a game that was left."""
        return self.places[self.seat] if self.places else None


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalDecision:
    """It is our turn."""

    table: "LocalTable"
    turn: int
    view: View

    async def take(self, action: Mapping[str, Any]) -> None:
        """Make the move. Raises TurnPassed, and WhistError with the rule's reason: nothing has changed."""
        self.table.take(self.turn, dict(action))


class LocalTable:
    """A game in this process. It moves on while somebody waits for `changed`: one bot's move, or deal, at a time.

    The person's seat follows from the secret as online (P70): "seats" is drawn, and the first drawn is theirs.
    """

    away = False  # nobody stands in for a person here

    def __init__(self, setup: Setup, *, pace_s: float) -> None:
        """`pace_s`: seconds before each move that is not the person's, at least 0."""
        self.setup = setup
        self.game = GAMES[setup.game]
        self.commitment = fair.commitment(setup.secret)
        self.id = self.commitment.hex()[:ID_DIGITS]
        self.seat: Seat = fair.permutation(setup.secret, "seats", setup.players).index(0)
        names = deque(BOT_NAMES)
        self.names = tuple(PERSON if seat == self.seat else names.popleft() for seat in range(setup.players))
        self.seats = tuple(
            SeatInfo(name=name, kind=kind, verified=False, holder=kind)
            for seat, name in enumerate(self.names)
            for kind in ("person" if seat == self.seat else "bot",)
        )
        self.moves: list[Move] = []
        self.version = 0
        self.result: LocalResult | None = None
        self._pace_s = pace_s
        self._state = self.game.new(setup.players, setup.options)
        self._due: tuple[Event, ...] = ()  # what follows from the last move, not shown yet
        self._pulse = Pulse()
        self._deal()

    @property
    def view(self) -> View:
        return self.game.view(self._state, self.seat)

    @property
    def decision(self) -> LocalDecision | None:
        """Ours to make now, or None."""
        if self.result is not None or self._due or self.game.to_act(self._state) != self.seat:
            return None
        return LocalDecision(table=self, turn=self.game.turn(self._state), view=self.view)

    def come_back(self) -> None:
        """Nobody is ever away."""

    async def changed(self, version: int) -> int:
        """Wait until the table differs from that `version`, moving it on when it is not the person's turn."""
        while self.version == version:
            if self.result is not None or self.decision is not None:
                await self._pulse.wait()
            elif self._due:
                await asyncio.sleep(self._pace_s)
                self._settle()
            elif self.game.draw(self._state) is not None:
                await asyncio.sleep(self._pace_s * DEAL_PACES)
                self._deal()
            else:
                await self._bot()
        return self.version

    async def quit(self) -> None:
        """Give the game up."""
        self.result = LocalResult(status="left", seat=self.seat)
        self._beat()

    def take(self, turn: int, action: Action) -> None:
        """Make our move. Raises TurnPassed, and WhistError with the rule's reason and facts."""
        decision = self.decision
        if decision is None or decision.turn != turn:
            raise TurnPassed("STALE_TURN")
        try:
            self._move(self.seat, action, By.PERSON)
        except RuleViolation as refused:
            raise WhistError(refused.reason, facts=refused.facts) from None

    def record(self) -> Record:
        """The game so far, as it can be played again (P72)."""
        return Record(
            game=self.game.name,
            rules_version=self.game.rules_version,
            players=self.setup.players,
            options=self.setup.options,
            names=self.names,
            commitment=self.commitment,
            secret=self.setup.secret,
            moves=tuple(self.moves),
        )

    def thinking_seed(self) -> int:
        """For the next decision's samples: from what everybody knows, so that the same game is thought out alike."""
        said = self.commitment + self.game.turn(self._state).to_bytes(8, "big")
        return int.from_bytes(hashlib.sha256(said).digest()[:8], "big")

    async def _bot(self) -> None:
        seat = self.game.to_act(self._state)
        assert seat is not None, "without a draw or an end somebody is to act"
        await asyncio.sleep(self._pace_s)
        view = self.game.view(self._state, seat)
        # In a thread, so that the keyboard is heard while a strong player thinks.
        action = await asyncio.to_thread(choose, self.game.name, view, self.setup.bots, self.thinking_seed())
        self._move(seat, action, By.BOT)

    def _move(self, seat: Seat, action: Action, by: By) -> None:
        """The move itself is shown; a trick taken or a hand scored by it is due, so that the last card is seen."""
        moved, *due = self.game.decide(self._state, seat, action)
        self.moves.append(Move(seat=seat, action=action, by=by, at_ms=time.time_ns() // 1_000_000))
        self._state, self._due = self.game.evolve(self._state, moved), tuple(due)
        self._beat()

    def _settle(self) -> None:
        self._state, self._due = fold(self.game, self._state, self._due), ()
        if self.game.over(self._state):
            self._end()
        self._beat()

    def _end(self) -> None:
        result = self.game.result(self._state)
        self.result = LocalResult(
            status="finished",
            seat=self.seat,
            ranking=result.ranking,
            totals=result.totals,
            places=tuple(result.place(seat) for seat in range(self.setup.players)),
        )

    def _deal(self) -> None:
        self._state, _ = make_draws(self.game, self._state, self.setup.secret)
        self._beat()

    def _beat(self) -> None:
        self.version += 1
        self._pulse.beat()
