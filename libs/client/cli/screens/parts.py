"""The parts of a screen that a game fills in."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

View = Mapping[str, Any]
Names = Sequence[str]  # by seat, fit to be printed; "you" for the observer's own

SEAT_COLUMNS = 31  # sixteen letters (P41), a ✓, "(you)" and "(away)"


@dataclass(frozen=True, slots=True, kw_only=True)
class GameScreen:
    """One game's lines. All read a seat's view and nothing else, and know no rule: what may be done is in "legal"."""

    headline: Callable[[View], Sequence[str]]  # the game, how far it is, trumps
    columns: tuple[tuple[str, int], ...]  # head and width of each number beside a seat's name
    cells: Callable[[View, int], Sequence[str]]  # a seat's, one for each column
    aside: Callable[[View, int], str]  # what the table says of a seat beside its card; "" for nothing
    notes: Callable[[View, Names], Sequence[str]]  # lines under the seats, always as many
    sheet: Callable[[View, Names], Sequence[str]]  # the score sheet after the game
    no_cards: Callable[[View], str] = lambda _: "You hold no cards."  # said instead of an empty hand
    deal: str = "hand"  # what the cards of one deal are called
    seat_columns: int = SEAT_COLUMNS
    hand_rows: int = 1  # two hold thirteen cards
    choice_rows: int = 1  # lines for what may be said


def nothing(_view: View, _seat: int) -> str:
    """A game that says nothing beside a seat's card."""
    return ""


def seat_heads(names: Names) -> list[str]:
    """Who sits where, above a score sheet whose columns are seats."""
    return [f"seat {seat}  {name}" for seat, name in enumerate(names, start=1)]
