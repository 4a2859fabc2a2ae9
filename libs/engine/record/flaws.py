"""What is wrong with a record, and where: one error for all written forms and for the checker (P70, P72)."""

from collections.abc import Mapping
from enum import StrEnum
from reprlib import Repr
from typing import Any, Final, NamedTuple

from libs.engine.protocol import Seat

SAFE_BITS: Final = 64  # a longer integer is named by its size: to write it out may take longer than to refuse it

_SHORT = Repr()
_SHORT.maxlevel, _SHORT.maxlist, _SHORT.maxtuple, _SHORT.maxdict = 3, 16, 16, 8
_SHORT.maxstring = _SHORT.maxother = 80


class Flaw(StrEnum):
    """Why a record is refused; the words are stable."""

    NOT_A_RECORD = "NOT_A_RECORD"  # no JSON, text or link of the form that this release reads
    TOO_LONG = "TOO_LONG"
    UNKNOWN_VERSION = "UNKNOWN_VERSION"
    UNKNOWN_GAME = "UNKNOWN_GAME"  # or rules that this release does not have
    BAD_OPTIONS = "BAD_OPTIONS"
    WRONG_COMMITMENT = "WRONG_COMMITMENT"
    WRONG_DRAW = "WRONG_DRAW"
    WRONG_DEAL = "WRONG_DEAL"
    ILLEGAL_MOVE = "ILLEGAL_MOVE"
    WRONG_SCORE = "WRONG_SCORE"
    WRONG_RANKING = "WRONG_RANKING"
    WRONG_RESULT = "WRONG_RESULT"
    WRONG_TABLE = "WRONG_TABLE"  # what the game's place says of itself; for checkers that know the place
    MORE_THAN_A_GAME = "MORE_THAN_A_GAME"


class Place(NamedTuple):
    """Where in a game: all from 0, None where it does not apply. `path` is where in what was read."""

    move: int | None = None
    round: int | None = None
    trick: int | None = None
    seat: Seat | None = None
    path: str = ""

    def __str__(self) -> str:
        """For people: counted from 1."""
        numbers = (("move", self.move), ("round", self.round), ("trick", self.trick), ("seat", self.seat))
        parts = [f"{word} {short(number + 1)}" for word, number in numbers if number is not None]
        return ", ".join([*parts, *([self.path] if self.path else [])])


NOWHERE: Final = Place()


class BadRecord(ValueError):
    """What was read is no record, or does not follow from the rules and its own secret.

    `reason` is stable. `told` is what the record says at `place`, `due` what rules and secret say, both plain values
    or None where there is nothing to set against each other.
    """

    def __init__(
        self, reason: Flaw, said: str, place: Place = NOWHERE, *, told: object = None, due: object = None
    ) -> None:
        super().__init__(reason, said)
        self.reason = reason
        self.said = said
        self.place = place
        self.told = told
        self.due = due

    def within(self, place: Place) -> "BadRecord":
        """The same flaw, at that place where it had none; what it knows of its own stays."""
        own = {name: value for name, value in self.place._asdict().items() if value not in (None, "")}
        known = place._replace(**own)
        return BadRecord(self.reason, self.said, known, told=self.told, due=self.due)

    def facts(self) -> dict[str, Any]:
        """Plain JSON: numbers from 0, as in the record."""
        where = {name: value for name, value in self.place._asdict().items() if value not in (None, "")}
        return {
            "reason": self.reason.value,
            "said": self.said,
            **where,
            **({} if self.told is None and self.due is None else {"told": short(self.told), "due": short(self.due)}),
        }

    def __str__(self) -> str:
        """One line."""
        where = f"{self.place}: " if self.place != NOWHERE else ""
        if self.told is None and self.due is None:
            return where + self.said
        return f"{where}{self.said}: the record says {short(self.told)}, due is {short(self.due)}"


def short(value: object) -> str:
    """A value of any size and depth on one line, cut. Never raises."""
    if value is None:
        return "nothing"
    if type(value) is int and value.bit_length() > SAFE_BITS:
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, str):
        return (value if len(value) <= _SHORT.maxstring else value[: _SHORT.maxstring] + "…").replace("\n", " ")
    if isinstance(value, Mapping) and len(value) == 1:
        ((key, one),) = value.items()
        return f"{short(key)} {short(one)}" if isinstance(one, str | int) else _SHORT.repr(dict(value))
    return _SHORT.repr(value)
