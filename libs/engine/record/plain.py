"""The record as JSON: the form that is kept and fetched (P72).

    {"v": 1, "game", "rules_version", "players", "options", "names": [text by seat] or [],
     "commitment": hex, "secret": hex or null, "draws": [[label, [index, …]], …] ([] with a secret),
     "moves": [[seat, action, "person" | "time_out" | "bot" | null, UTC milliseconds or null], …],
     "deals": [{"dealer", "trump", "hands": [[card, …] by seat]}, …], "result": as `Result.dump` or null}

`deals` and `result` are for readers: when a record is read they are checked against the moves.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from libs.engine.record.model import (
    MOVES_MAX,
    VERSION,
    BadRecord,
    By,
    Drawn,
    Move,
    Record,
    deal_in,
    game_of,
    replay,
    result,
)

FIELDS = {
    *("v", "game", "rules_version", "players", "options", "names", "commitment", "secret"),
    *("draws", "moves", "deals", "result"),
}
Value = TypeVar("Value")


def to_json(record: Record) -> dict[str, Any]:
    """Plain JSON. Raises BadRecord if the record does not play."""
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
        "deals": deals(record),
        "result": result(record),
    }


def deals(record: Record) -> list[dict[str, Any]]:
    """Each deal as it lay. Raises BadRecord."""
    game = game_of(record)
    found = (deal_in(game, step) for step in replay(record))
    return [
        {"dealer": deal.dealer, "trump": deal.trump, "hands": [list(hand) for hand in deal.hands]}
        for deal in found
        if deal is not None
    ]


def from_json(plain: object) -> Record:
    """The record, played again and checked. Raises BadRecord and nothing else."""
    if not isinstance(plain, Mapping) or set(plain) != FIELDS or plain["v"] != VERSION:
        raise BadRecord(f"not a record of version {VERSION}")
    record = Record(
        game=_of(str, plain["game"]),
        rules_version=_of(int, plain["rules_version"]),
        players=_of(int, plain["players"]),
        options=_of(dict, plain["options"]),
        names=tuple(_of(str, one) for one in _of(list, plain["names"])),
        commitment=hex_bytes(plain["commitment"]),
        secret=None if plain["secret"] is None else hex_bytes(plain["secret"]),
        draws=tuple(_rows(plain["draws"], 2, _drawn)),
        moves=tuple(_rows(plain["moves"], 4, _move)),
    )
    if plain["deals"] != deals(record) or plain["result"] != result(record):
        raise BadRecord("deals or result do not follow from the moves")
    return record


def dumps(record: Record) -> str:
    """The JSON as text, without spaces."""
    return json.dumps(to_json(record), separators=(",", ":"))


def loads(text: str) -> Record:
    """Raises BadRecord and nothing else."""
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError) as wrong:
        raise BadRecord("not JSON") from wrong
    return from_json(plain)


def hex_bytes(value: object) -> bytes:
    """Raises BadRecord."""
    try:
        return bytes.fromhex(_of(str, value))
    except ValueError as wrong:
        raise BadRecord(f"not hexadecimal: {value!r:.80}") from wrong


def _of(kind: type[Value], value: object) -> Value:
    if type(value) is not kind:
        raise BadRecord(f"not of type {kind.__name__}: {value!r:.80}")
    return value


def _rows(value: object, width: int, read: Callable[[Sequence[Any]], Value]) -> list[Value]:
    rows = _of(list, value)
    if len(rows) > MOVES_MAX or any(type(row) is not list or len(row) != width for row in rows):
        raise BadRecord(f"not rows of {width}")
    return [read(row) for row in rows]


def _drawn(row: Sequence[Any]) -> Drawn:
    return Drawn(_of(str, row[0]), tuple(_of(int, one) for one in _of(list, row[1])))


def _move(row: Sequence[Any]) -> Move:
    seat, action, by, at_ms = row
    if by is not None and by not in list(By):
        raise BadRecord(f"nobody decides as {by!r:.80}")
    return Move(
        seat=_of(int, seat),
        action=_of(dict, action),
        by=None if by is None else By(by),
        at_ms=None if at_ms is None else _of(int, at_ms),
    )
