"""The record as JSON, version 1: the form that tables keep, events carry, players fetch and tools read (P72).

    {"v": 1, "game", "rules_version", "players", "options", "names": [text by seat] or [],
     "commitment": hex, "secret": hex or null, "draws": [[label, [index, …]], …] ([] with a secret),
     "moves": [[seat, action, "person" | "time_out" | "bot" | null, UTC milliseconds or null], …],
     "deals": [{"dealer", "trump", "hands": [[card, …] by seat]}, …], "result": as `Result.dump` or null[,
     "table": {…}]}

`deals` and `result` are for readers: when a record is read they are checked against the moves. `result` is null for a
game that was not played to its end. `table` is what only the place of the game knows; it is carried and not read here.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from libs.engine.record.checking import check
from libs.engine.record.flaws import NOWHERE, BadRecord, Flaw, Place, short
from libs.engine.record.model import MOVES_MAX, VERSION, By, Drawn, Move, Record
from libs.engine.record.replaying import played

FIELDS: Final = {
    *("v", "game", "rules_version", "players", "options", "names", "commitment", "secret"),
    *("draws", "moves", "deals", "result"),
}
TABLE: Final = "table"  # the one optional field
JSON_MAX: Final = 4_000_000  # characters; a record of MOVES_MAX decisions has about a quarter
ODD_NUMBER: Final = re.compile(
    r'"(?:[^"\\]|\\.)*"|(-?Infinity|NaN|(?<![0-9])[0-9]{4301,})'
)  # 4,300 digits are read, no more
BY_WORD: Final = {by.value: by for by in By}
KINDS: Final[Mapping[type, str]] = {
    **{str: "a text", int: "an integer", dict: "an object", list: "a list", bool: "true or false"},
    **{float: "a fraction", type(None): "null"},
}
Value = TypeVar("Value")


class Written(NamedTuple):
    """A JSON record taken apart: what is replayed, and what is shown beside it, unchecked."""

    record: Record
    deals: list[object]
    result: object


def to_json(record: Record) -> dict[str, Any]:
    """Plain JSON. Raises BadRecord if the record does not play."""
    whole = played(record)
    return {
        "v": VERSION,
        "game": record.game,
        "rules_version": record.rules_version,
        "players": record.players,
        "options": dict(record.options),
        "names": list(record.names),
        "commitment": record.commitment.hex(),
        "secret": None if record.secret is None else record.secret.hex(),
        "draws": [[label, list(order)] for label, order in record.draws],
        "moves": [
            [one.seat, dict(one.action), None if one.by is None else one.by.value, one.at_ms] for one in record.moves
        ],
        "deals": [deal.dump() for deal in whole.deals],
        "result": whole.result,
        **({} if record.table is None else {TABLE: dict(record.table)}),
    }


def from_json(plain: object) -> Record:
    """The record, played again and checked. Raises BadRecord and nothing else."""
    written = taken_apart(plain)
    check(*written)
    return written.record


def dumps(record: Record) -> str:
    """The JSON as text, without spaces."""
    return json.dumps(to_json(record), separators=(",", ":"))


def loads(text: str) -> Record:
    """Raises BadRecord and nothing else."""
    return from_json(parsed(text))


def parsed(text: str) -> object:
    """Plain JSON of bounded size, every key once. Raises BadRecord(NOT_A_RECORD, TOO_LONG), mostly with its place."""
    if len(text) > JSON_MAX:
        raise BadRecord(Flaw.TOO_LONG, f"more than {JSON_MAX} characters")

    def no_number(name: str) -> Any:
        raise BadRecord(Flaw.NOT_A_RECORD, f"{name} is no number of JSON", _odd_number(text))

    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=no_number)
    except json.JSONDecodeError as wrong:
        raise BadRecord(Flaw.NOT_A_RECORD, f"not JSON: {wrong.msg}", _line_of(text, wrong.pos)) from wrong
    except RecursionError as wrong:
        raise BadRecord(Flaw.NOT_A_RECORD, "nested too deep") from wrong
    except BadRecord:
        raise
    except ValueError as wrong:
        raise BadRecord(Flaw.NOT_A_RECORD, "an integer of too many digits", _odd_number(text)) from wrong


def _line_of(text: str, at: int) -> Place:
    """As editors count: lines and columns from 1."""
    return Place(path=f"line {text.count(chr(10), 0, at) + 1} column {at - text.rfind(chr(10), 0, at)}")


def _odd_number(text: str) -> Place:
    """Where the first word stands, outside texts, that Python reads as a number and JSON does not."""
    found = next((one for one in ODD_NUMBER.finditer(text) if one[1]), None)
    return NOWHERE if found is None else _line_of(text, found.start(1))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise BadRecord(Flaw.NOT_A_RECORD, f"the key {short(twice)} stands twice in one object")
    return found


def taken_apart(plain: object) -> Written:
    """The shape alone: fields and types. Raises BadRecord(UNKNOWN_VERSION, NOT_A_RECORD, TOO_LONG) with the path."""
    if not isinstance(plain, Mapping):
        raise BadRecord(Flaw.NOT_A_RECORD, f"an object is due, not {_kind(plain)}")
    if "v" in plain and (type(plain["v"]) is not int or plain["v"] != VERSION):
        raise BadRecord(Flaw.UNKNOWN_VERSION, "no version known here", Place(path="v"), told=plain["v"], due=VERSION)
    for field in sorted(FIELDS - set(plain)):
        raise BadRecord(Flaw.NOT_A_RECORD, "a record has this field", Place(path=field))
    for field in set(plain) - FIELDS - {TABLE}:
        raise BadRecord(Flaw.NOT_A_RECORD, "a record has no such field", Place(path=short(field)))
    record = Record(
        game=_of(str, plain["game"], "game"),
        rules_version=_of(int, plain["rules_version"], "rules_version"),
        players=_of(int, plain["players"], "players"),
        options=_of(dict, plain["options"], "options"),
        names=tuple(_of(str, one, f"names[{at}]") for at, one in enumerate(_of(list, plain["names"], "names"))),
        commitment=hex_bytes(plain["commitment"], "commitment"),
        secret=None if plain["secret"] is None else hex_bytes(plain["secret"], "secret"),
        draws=_rows(plain["draws"], "draws", 2, _drawn),
        moves=_rows(plain["moves"], "moves", 4, _move),
        table=_of(dict, plain[TABLE], TABLE) if TABLE in plain else None,
    )
    return Written(record, _of(list, plain["deals"], "deals"), plain["result"])


def hex_bytes(value: object, path: str) -> bytes:
    """Lower-case hexadecimal, as it is written. Raises BadRecord."""
    text = _of(str, value, path)
    try:
        found = bytes.fromhex(text)
    except ValueError as wrong:
        raise BadRecord(Flaw.NOT_A_RECORD, "not hexadecimal", Place(path=path)) from wrong
    if found.hex() != text:
        raise BadRecord(Flaw.NOT_A_RECORD, "not lower-case hexadecimal without spaces", Place(path=path))
    return found


def _of(kind: type[Value], value: object, path: str) -> Value:
    if type(value) is not kind:
        raise BadRecord(Flaw.NOT_A_RECORD, f"{KINDS[kind]} is due, not {_kind(value)}", Place(path=path))
    return value


def _kind(value: object) -> str:
    return KINDS.get(type(value), "something else")


def _rows(value: object, path: str, width: int, read: Callable[[Sequence[Any], str], Value]) -> tuple[Value, ...]:
    rows = _of(list, value, path)
    if len(rows) > MOVES_MAX:
        raise BadRecord(Flaw.TOO_LONG, f"more than {MOVES_MAX}", Place(path=path))
    for at, row in enumerate(rows):
        if type(row) is not list or len(row) != width:
            raise BadRecord(Flaw.NOT_A_RECORD, f"a list of {width} is due", Place(path=f"{path}[{at}]"))
    return tuple([read(row, f"{path}[{at}]") for at, row in enumerate(rows)])


def _drawn(row: Sequence[Any], path: str) -> Drawn:
    label, order = row
    indices = _of(list, order, f"{path}[1]")
    return Drawn(_of(str, label, f"{path}[0]"), tuple([_of(int, one, f"{path}[1]") for one in indices]))


def _move(row: Sequence[Any], path: str) -> Move:
    seat, action, by, at_ms = row
    if by is not None and (type(by) is not str or by not in BY_WORD):
        raise BadRecord(Flaw.NOT_A_RECORD, f"decided by {short(by)}, which is nobody", Place(path=f"{path}[2]"))
    return Move(
        seat=_of(int, seat, f"{path}[0]"),
        action=_of(dict, action, f"{path}[1]"),
        by=None if by is None else BY_WORD[by],
        at_ms=None if at_ms is None else _of(int, at_ms, f"{path}[3]"),
    )
