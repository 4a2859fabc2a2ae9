"""A person at a table: shows what is known, reads what is typed, says why a move was refused."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from libs.client.cli import screen
from libs.client.sdk.errors import TurnPassed, WhistError
from libs.client.sdk.table import Decision, Table
from libs.client.sdk.whist import Whist

CLEAR = "\x1b[H\x1b[2J"
SAVE, RESTORE = "\x1b7", "\x1b8"  # the cursor, which stands where a person types
UNWRAPPED, WRAPPED = "\x1b[?7l", "\x1b[?7h"  # a narrow terminal cuts lines, so that rows stay where they are
TICK_S = 0.5  # how often the time left is looked at
HELP = "> is to move, D deals, [ ] may be played. Type a number, or a card as QH or 10D."
BACK = "You are back."
TIME_WAS_UP = "Time was up: the server moved for you."
LEAVE = "Leave for good? A bot plays on and nothing is won. Type y to leave."
SUITS = {"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"}

Write = Callable[[str], None]
Forget = Callable[[], None]


class Lines(Protocol):
    """Where a person's input comes from; None is its end."""

    async def line(self) -> str | None: ...


class InputEnded(Exception):
    """Nobody types any more; the seat is still ours and a bot holds it."""


class Front(Protocol):
    """How a table is shown: for a person or for a program. `typed`: a line was entered since the last time."""

    def table(self, table: Table, said: "Said", *, typed: bool) -> None: ...

    def end(self, table: Table) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What is shown beside the table. `seconds_left` of the running turn, None when nobody has to act."""

    message: str
    seconds_left: float | None
    connected: bool
    hints: bool


class ScreenFront:
    """For a person. A terminal sees every change, a pipe each decision and refusal.

    On a terminal only the rows that changed are written while the question stays the same: what is half typed stays.
    With another question it is forgotten (`forget`), or a number meant for one decision would answer the next.
    """

    def __init__(self, write: Write, *, terminal: bool, forget: Forget = lambda: None) -> None:
        self._write = write
        self._terminal = terminal
        self._forget = forget
        self._asked: tuple[Any, ...] = ()
        self._lines: list[str] = []

    def table(self, table: Table, said: Said, *, typed: bool) -> None:
        asked = (table.decision and table.decision.turn, said.message)
        if not self._terminal and (table.decision is None or asked == self._asked):
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

    def end(self, table: Table) -> None:
        self._forget()
        result, names = table.result, screen.names_of(table.seats)
        assert result is not None
        if result.status != "finished":
            said = {"left": "You left the game.", "voided": "The game was called off; everything is returned."}
            self._write(said.get(result.status, result.status) + "\n")
            return
        self._write(CLEAR if self._terminal else "")
        if table.view["score_sheet"]:
            self._write(screen.score_sheet(table.view["score_sheet"], result.totals, names) + "\n\n")
        self._write(screen.ranking(result.ranking, result.totals, names, result.seat) + "\n")
        self._write(f"\n`whist record {table.id}` shows and checks this game.\n")


class JsonFront:
    """For a program: one JSON object a line, {"t": "decision" | "over", …}; input is what a person would type."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._shown: tuple[Any, ...] = ()

    def table(self, table: Table, said: Said, *, typed: bool) -> None:
        decision = table.decision
        if decision is None or (decision.turn, said.message) == self._shown:
            return
        self._shown = (decision.turn, said.message)
        shown = {"t": "decision", "game_id": table.id, "message": said.message, "seconds_left": said.seconds_left}
        self._write(json.dumps(shown | {"connected": said.connected, "view": decision.view}) + "\n")

    def end(self, table: Table) -> None:
        result = table.result
        assert result is not None
        shown: dict[str, Any] = {"t": "over", "game_id": table.id, "status": result.status, "place": result.place}
        shown |= {"ranking": list(result.ranking), "totals": list(result.totals)}
        self._write(json.dumps(shown) + "\n")


class Player:
    """One person's game from the first screen to the last.

    `eager` listens at any time, as a person expects; else a line is read only for a decision, so that a script in a
    pipe is not used up while others move.
    """

    def __init__(
        self, whist: Whist, table: Table, lines: Lines, front: Front, *, eager: bool, message: str = HELP
    ) -> None:
        self._eager = eager
        self._whist = whist
        self._table = table
        self._lines = lines
        self._front = front
        self._message = message
        self._hints = True  # until they are refused
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
            elif turn is not None and self._message not in {HELP, TIME_WAS_UP}:
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
            self._leaving, self._message = True, LEAVE
        elif word in {"h", "hint"}:
            await self._try(self._hint())
        elif word == "" and self._table.away:
            self._message = BACK
        elif word in {"", "?", "help"}:
            self._message = HELP
        elif (decision := self._table.decision) is None:
            self._message = "It is not your turn."
        elif (action := chosen(decision.view, line)) is None:
            self._message = f"{screen.printable(line)[:20]!r} is {_asked_for(decision.view)}"
        else:
            await self._try(self._take(decision, action))

    async def _take(self, decision: Decision, action: dict[str, Any]) -> None:
        await decision.take(action)
        self._answered = decision.turn
        self._message = ""

    async def _hint(self) -> None:
        hint = await self._whist.hint(self._table)
        action = hint["action"]
        text = f"bid {action['bid']}" if "bid" in action else f"play {screen.card(action['play'])}"
        self._message = f"The coach would {text}."

    async def _try(self, asked: Any) -> None:
        try:
            await asked
        except TurnPassed:
            self._message = TIME_WAS_UP
        except WhistError as error:
            self._message = spoken(error)
            self._hints = self._hints and error.code != "HINTS_NOT_ALLOWED"


def _asked_for(view: dict[str, Any]) -> str:
    if view["phase"] == "bid":
        return f"no bid: type a number from 0 to {view['cards']}."
    return f"no card of yours: type its number, 1 to {len(view['hand'])}, or its name."


def chosen(view: dict[str, Any], line: str) -> dict[str, Any] | None:
    """The action that a person means: a bid, a card's number in the hand, or a card's name; None for neither."""
    number = int(line) if line.isascii() and line.isdigit() else None
    if view["phase"] == "bid":
        return None if number is None else {"bid": number}
    hand = view["hand"]
    if number is not None:
        return {"play": hand[number - 1]} if 1 <= number <= len(hand) else None
    text = screen.spoken_card(line)
    return {"play": text} if text in hand else None


def spoken(error: WhistError) -> str:
    """A refusal in words; one that we have no words for by its code."""
    facts = error.facts
    match error.code:
        case "MUST_FOLLOW_SUIT":
            return f"You must follow suit: play one of your {SUITS.get(str(facts.get('suit')), 'suit')}."
        case "MUST_TRUMP":
            return "You cannot follow suit, so you must play a trump."
        case "BID_BARRED":
            return f"The dealer may not bid {facts.get('barred')}: the bids must not add up."
        case "BID_OUT_OF_RANGE":
            return f"Bid {facts.get('least')} to {facts.get('most')}."
        case "HINTS_NOT_ALLOWED":
            return "The coach helps at friends' tables and on your VIP days only."
        case _:
            return str(error)
