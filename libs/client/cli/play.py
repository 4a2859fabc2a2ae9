"""A person at a table: shows what is known, reads what is typed, says why a move was refused."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from libs.client.cli import screen
from libs.client.cli.lettering import cut
from libs.client.cli.moves import chosen, in_words, named, wanted
from libs.client.cli.refusals import spoken
from libs.client.sdk.errors import TurnPassed, WhistError
from libs.engine.protocol import View
from libs.wire.frames import SeatInfo

CLEAR = "\x1b[H\x1b[2J"
SAVE, RESTORE = "\x1b7", "\x1b8"  # the cursor, which stands where a person types
UNWRAPPED, WRAPPED = "\x1b[?7l", "\x1b[?7h"  # a narrow terminal cuts lines, so that rows stay where they are
TYPED_COLUMNS = 16  # of what was typed, so that what should have been typed fits beside it
TICK_S = 0.5  # how often the time left is looked at
HELP = "> is to move, D deals, [ ] may be played. Type a number, or a card as QH or 10D."
BACK = "You are back."
TIME_WAS_UP = "Time was up: the server moved for you."
LEAVE = "Leave for good? A bot plays on and nothing is won. Type y to leave."

Write = Callable[[str], None]
Forget = Callable[[], None]


class Lines(Protocol):
    """Where a person's input comes from; None is its end."""

    async def line(self) -> str | None: ...


class InputEnded(Exception):
    """Nobody types any more; the seat is still ours and a bot holds it."""


class Outcome(Protocol):
    """How a table ended for us, as `libs.client.sdk.table.Result` says."""

    @property
    def status(self) -> str: ...
    @property
    def seat(self) -> int: ...
    @property
    def ranking(self) -> Sequence[int]: ...
    @property
    def totals(self) -> Sequence[int]: ...
    @property
    def place(self) -> int | None: ...


class Choice(Protocol):
    """A decision that is ours, as `libs.client.sdk.table.Decision` promises."""

    @property
    def turn(self) -> int: ...
    @property
    def view(self) -> View: ...
    async def take(self, action: Mapping[str, Any]) -> None: ...


class Seated(Protocol):
    """A table at which a person sits, online or here; `libs.client.sdk.table.Table` says what each member promises."""

    @property
    def id(self) -> str: ...
    @property
    def view(self) -> View: ...
    @property
    def seats(self) -> Sequence[SeatInfo]: ...
    @property
    def version(self) -> int: ...
    @property
    def decision(self) -> Choice | None: ...
    @property
    def result(self) -> Outcome | None: ...
    @property
    def away(self) -> bool: ...
    def come_back(self) -> None: ...
    async def changed(self, version: int) -> int: ...
    async def quit(self) -> None: ...


AnyTable = TypeVar("AnyTable", bound=Seated)
AnyTable_contra = TypeVar("AnyTable_contra", bound=Seated, contravariant=True)


class House(Protocol[AnyTable_contra]):
    """Who keeps the table: the clock, the line and the coach, as `libs.client.sdk.whist.Whist` promises."""

    @property
    def connected(self) -> bool: ...
    def seconds_left(self, table: AnyTable_contra) -> float | None: ...
    async def hint(self, table: AnyTable_contra) -> Mapping[str, Any]: ...


class Front(Protocol):
    """How a table is shown: for a person or for a program. `typed`: a line was entered since the last time."""

    def table(self, table: Seated, said: "Said", *, typed: bool) -> None: ...

    def end(self, table: Seated) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What is shown beside the table. `seconds_left` of the running turn, None when nobody has to act."""

    message: str
    seconds_left: float | None
    connected: bool
    hints: bool


class ScreenFront:
    """For a person. A terminal sees every change, a pipe each decision and refusal, or who watches each trick.

    On a terminal only the rows that changed are written while the question stays the same: what is half typed stays.
    With another question it is forgotten (`forget`), or a number meant for one decision would answer the next.
    """

    def __init__(self, write: Write, *, terminal: bool, forget: Forget = lambda: None) -> None:
        self._write = write
        self._terminal = terminal
        self._forget = forget
        self._asked: tuple[Any, ...] = ()
        self._lines: list[str] = []

    def table(self, table: Seated, said: Said, *, typed: bool) -> None:
        asked = (table.decision and table.decision.turn, said.message)
        if not self._terminal:
            if table.view["seat"] is None:  # each trick, for who watches
                asked = (table.view["round"], table.view["phase"], *table.view["taken"], said.message)
            elif table.decision is None:
                return
            if asked == self._asked:
                return
        self._asked = asked
        text = screen.render(
            table.view,
            table.seats,
            seconds_left=said.seconds_left,
            message=said.message,
            connected=said.connected,
            hints=said.hints,
        )
        if self._terminal:
            self._draw(text.split("\n"), typed=typed)
        else:
            self._write(text + "\n\n")

    def _draw(self, lines: list[str], *, typed: bool) -> None:
        before, self._lines = self._lines, lines
        if typed or len(before) != len(lines) or before[-1] != lines[-1]:
            if before and not typed:
                self._forget()
            self._write(UNWRAPPED + CLEAR + "\n".join(lines) + " " + WRAPPED)
            return
        rows = enumerate(zip(before, lines, strict=True), start=1)
        # Emptied first: after the eightieth character, erasing to the right would take that character.
        changed = "".join(f"\x1b[{row};1H\x1b[2K{line}" for row, (was, line) in rows if line != was)
        if changed:
            self._write(SAVE + UNWRAPPED + changed + WRAPPED + RESTORE)

    def end(self, table: Seated) -> None:
        self._forget()
        result, names = table.result, screen.names_of(table.seats)
        assert result is not None
        if result.status != "finished":
            said = {"left": "You left the game.", "voided": "The game was called off; everything is returned."}
            self._write(said.get(result.status, result.status) + "\n")
            return
        self._write(CLEAR if self._terminal else "")
        if table.view["phase"] == "over":  # else it ended while we were away: the record has the rest
            self._write(screen.final_sheet(table.view, names) + "\n\n")
        self._write(screen.ranking(result.ranking, result.totals, names, result.seat) + "\n")
        if result.seat >= 0:  # a record is for who played
            self._write(f"\n`whist record {table.id}` shows and checks this game.\n")


class JsonFront:
    """For a program: one JSON object a line, {"t": "decision" | "over", …}; input is what a person would type."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._shown: tuple[Any, ...] = ()

    def table(self, table: Seated, said: Said, *, typed: bool) -> None:
        decision = table.decision
        if decision is None or (decision.turn, said.message) == self._shown:
            return
        self._shown = (decision.turn, said.message)
        shown = {"t": "decision", "game_id": table.id, "message": said.message, "seconds_left": said.seconds_left}
        self._write(json.dumps(shown | {"connected": said.connected, "view": decision.view}) + "\n")

    def end(self, table: Seated) -> None:
        result = table.result
        assert result is not None
        shown: dict[str, Any] = {"t": "over", "game_id": table.id, "status": result.status, "place": result.place}
        shown |= {"ranking": list(result.ranking), "totals": list(result.totals)}
        self._write(json.dumps(shown) + "\n")


class Player(Generic[AnyTable]):
    """One person's game from the first screen to the last.

    `eager` listens at any time, as a person expects; else a line is read only for a decision, so that a script in a
    pipe is not used up while others move.
    """

    def __init__(
        self,
        whist: House[AnyTable],
        table: AnyTable,
        lines: Lines,
        front: Front,
        *,
        eager: bool,
        message: str = HELP,
        leave: str = LEAVE,
    ) -> None:
        """`message` is said first; `leave` is asked before the seat is given up."""
        self._eager = eager
        self._whist = whist
        self._table = table
        self._lines = lines
        self._front = front
        self._message = message
        self._lasting = {message, HELP, TIME_WAS_UP}  # what a new question does not take away
        self._hints = True  # until they are refused
        self._leave = leave
        self._leaving = False
        self._answered: int | None = None  # the last decision that we made ourselves
        self._asked: int | None = None  # the one that was shown last, while it is ours to make

    async def play(self) -> None:
        """Until the game ends or the person leaves. Raises InputEnded, and WhistError when the table is lost."""
        table = self._table
        typed: asyncio.Future[str | None] | None = None
        changed = asyncio.ensure_future(table.changed(table.version))
        entered = False
        try:
            while table.result is None:
                self._show(typed=entered)
                entered = False
                if typed is None and (self._eager or table.decision is not None):
                    typed = asyncio.ensure_future(self._lines.line())
                waiting: set[asyncio.Future[Any]] = {changed} if typed is None else {changed, typed}
                tick_s = TICK_S if self._eager else None
                await asyncio.wait(waiting, timeout=tick_s, return_when=asyncio.FIRST_COMPLETED)
                if changed.done():
                    changed = asyncio.ensure_future(table.changed(changed.result()))
                if typed is not None and typed.done() and table.result is None:
                    if (line := typed.result()) is None:
                        raise InputEnded
                    typed, entered = None, True
                    await self._obey(line)
        finally:
            left = [task for task in (typed, changed) if task is not None]
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)
        self._front.end(table)

    def _show(self, *, typed: bool) -> None:
        table = self._table
        turn = None if table.decision is None else table.decision.turn
        if turn != self._asked:
            if self._asked is not None and self._answered != self._asked:
                self._message = TIME_WAS_UP
            elif turn is not None and self._message not in self._lasting:
                self._message = ""  # it was about something else
            self._asked = turn
        seconds_left, connected = self._whist.seconds_left(table), self._whist.connected
        said = Said(message=self._message, seconds_left=seconds_left, connected=connected, hints=self._hints)
        self._front.table(table, said, typed=typed)

    async def _obey(self, line: str) -> None:
        word = line.lower()
        if self._table.away:
            self._table.come_back()  # whatever was typed, somebody is here again
        if self._leaving:
            self._leaving = False
            self._message = "You stay."
            if word in {"y", "yes"}:
                await self._try(self._table.quit())
        elif word in {"q", "quit"}:
            self._leaving, self._message = True, self._leave
        elif word in {"h", "hint"}:
            await self._try(self._hint())
        elif word == "" and self._table.away:
            self._message = BACK
        elif word in {"", "?", "help"}:
            self._message = HELP
        elif (decision := self._table.decision) is None:
            self._message = "It is not your turn."
        elif (action := chosen(decision.view, line)) is None:
            self._message = f"{cut(screen.printable(line), TYPED_COLUMNS)!r} is {wanted(decision.view)}"
        else:
            await self._try(self._take(decision, action))

    async def _take(self, decision: Choice, action: dict[str, Any]) -> None:
        await decision.take(action)
        self._answered = decision.turn
        self._message = ""

    async def _hint(self) -> None:
        self._message = hinted(await self._whist.hint(self._table))

    async def _try(self, asked: Any) -> None:
        try:
            await asked
        except TurnPassed:
            self._message = TIME_WAS_UP
        except WhistError as error:
            self._message = spoken(error)
            self._hints = self._hints and error.code != "HINTS_NOT_ALLOWED"


def hinted(hint: Mapping[str, Any]) -> str:
    """What the coach would do, and the own points that each move can expect, best first, where it tells them (P60)."""
    advice = sorted(hint.get("advice", ()), key=lambda each: -each["points"])
    if not advice:
        return f"The coach would {in_words(hint['action'])}."
    return "Coach: " + ", ".join(f"{named(each['action'])} {each['points']:+.1f}" for each in advice)
