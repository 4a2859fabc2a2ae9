"""A record: who decided what and when, and the randomness, from which the engine plays the game again.

Deals, scores and the ranking follow from these; the written forms show them for readers and check them when
they are read.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from math import isfinite
from typing import Any, Final, NamedTuple

from libs.engine.protocol import Action, Seat
from libs.engine.record.flaws import BadRecord, Flaw, Place

VERSION: Final = 1
MOVES_MAX: Final = 20_000  # eighteen times a classic for six; more is no game but an attack
KEY_BYTES: Final = 32  # secret and commitment (P70)
NAME_MAX: Final = 64  # characters
AT_MS_MAX: Final = 2**53 - 1  # what every reader of JSON keeps exactly
TABLE_NODES_MAX: Final = 4096  # values in `table`, lists and objects counted; seats, pauses and leavers take some fifty
TABLE_TEXT_MAX: Final = 65_536  # characters of all its texts and keys
TABLE_DEPTH_MAX: Final = 8
INTEGER_BITS: Final = 63


class By(StrEnum):
    """Who made a decision (P72)."""

    PERSON = "person"
    TIME_OUT = "time_out"
    BOT = "bot"


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One decision. `at_ms` is UTC in milliseconds; links keep neither actor nor time."""

    seat: Seat
    action: Action
    by: By | None = None
    at_ms: int | None = None


class Drawn(NamedTuple):
    """A draw as it fell, where no secret tells it: its label and permutation."""

    label: str
    order: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A game from its start. `secret` is shown after the game (P70); without it `draws` holds every draw.

    `table` is what only the place knows where the game was played (accounts, rooms, when it began): plain JSON that
    the engine carries and never interprets.
    """

    game: str
    rules_version: int
    players: int
    options: Mapping[str, Any]
    names: tuple[str, ...] = ()  # by seat; none, or one for each
    commitment: bytes
    secret: bytes | None = None
    draws: tuple[Drawn, ...] = ()
    moves: tuple[Move, ...] = ()
    table: Mapping[str, Any] | None = None

    def bare(self) -> "Record":
        """What a link keeps: the game without names, table, actors and times."""
        moves = tuple(Move(seat=one.seat, action=one.action) for one in self.moves)
        return replace(self, names=(), moves=moves, table=None)


def check_bounds(record: Record) -> None:
    """Sizes and ranges that hold before a single card is dealt. Raises BadRecord."""
    if len(record.moves) > MOVES_MAX:
        raise BadRecord(Flaw.TOO_LONG, f"more than {MOVES_MAX} moves", Place(path="moves"))
    if len(record.commitment) != KEY_BYTES:
        raise BadRecord(Flaw.NOT_A_RECORD, f"a commitment has {KEY_BYTES} bytes", Place(path="commitment"))
    if record.secret is not None and len(record.secret) != KEY_BYTES:
        raise BadRecord(Flaw.NOT_A_RECORD, f"a secret has {KEY_BYTES} bytes", Place(path="secret"))
    if len(record.names) not in (0, record.players):
        raise BadRecord(Flaw.NOT_A_RECORD, "a name for each seat, or none", Place(path="names"))
    for seat, name in enumerate(record.names):
        if not 0 < len(name) <= NAME_MAX or not _encodable(name):
            raise BadRecord(Flaw.NOT_A_RECORD, f"a name has 1 to {NAME_MAX} characters", Place(path=f"names[{seat}]"))
    for number, move in enumerate(record.moves):
        check_time(move.at_ms, Place(move=number, path=f"moves[{number}]"))
    if record.table is not None:
        _check_table(record.table)


def check_time(at_ms: int | None, place: Place) -> None:
    """Raises BadRecord beyond 0…2⁵³-1."""
    if at_ms is not None and not 0 <= at_ms <= AT_MS_MAX:
        raise BadRecord(Flaw.NOT_A_RECORD, f"a time is 0 to {AT_MS_MAX} ms", place)


def _encodable(text: str) -> bool:
    """Whether it is text at all: half a surrogate pair is not."""
    return not any("\ud800" <= one <= "\udfff" for one in text)


def _check_table(table: Mapping[str, Any]) -> None:
    """Plain JSON of bounded size; walked without recursion, whatever its depth."""
    waiting: list[tuple[object, int]] = [(table, 0)]
    nodes = text = 0
    while waiting:
        value, depth = waiting.pop()
        nodes += 1
        inside: list[object] = []
        if isinstance(value, Mapping):
            inside = [*value.keys(), *value.values()]
        elif isinstance(value, list):
            inside = value
        elif isinstance(value, str):
            text += len(value)
        plain = inside or _is_plain(value)
        if not plain or depth > TABLE_DEPTH_MAX or nodes + len(waiting) > TABLE_NODES_MAX or text > TABLE_TEXT_MAX:
            raise BadRecord(Flaw.NOT_A_RECORD, "not plain JSON of a bounded size", Place(path="table"))
        if isinstance(value, Mapping) and not all(type(key) is str for key in value):
            raise BadRecord(Flaw.NOT_A_RECORD, "a key is a text", Place(path="table"))
        waiting += [(one, depth + 1) for one in inside]


def _is_plain(value: object) -> bool:
    match value:
        case None | bool() | dict() | list():
            return True
        case str():
            return _encodable(value)
        case int():
            return value.bit_length() <= INTEGER_BITS
        case float():
            return isfinite(value)
        case _:
            return False
