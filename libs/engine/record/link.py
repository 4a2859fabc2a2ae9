"""The record as one short word for links: what was chosen, as numbers among the legal moves.

base64url without padding of: version (1 byte), whether a secret follows (1 byte), length of the head (2 bytes),
the head as JSON [game, rules version, players, options, number of moves, of draws], the secret or else the
commitment (32 bytes), and one big-endian integer in mixed radix. Its digits, least significant first, are in order
of play: for a move its index in `legal`, radix their number; for a draw, where there is no secret, the
permutation's Lehmer code. Last come 4 bytes of the SHA-256 of all before: a link that a mail has cut is no other game.
A link holds a record's `bare()` form. A six-handed classic of 1,116 decisions takes some 320 characters.
"""

import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any, Final

from libs.engine import fair
from libs.engine.protocol import Draw, Game, State
from libs.engine.record.flaws import BadRecord, Flaw, Place
from libs.engine.record.model import KEY_BYTES, MOVES_MAX, VERSION, Move, Record
from libs.engine.record.replaying import game_of, opening, rebuild, replay

CHECK_BYTES: Final = 4
LINK_MAX: Final = 32_768  # characters; browsers and proxies take no longer address
ALPHABET: Final = re.compile(r"[A-Za-z0-9_-]+")
Digit = tuple[int, int]  # value, radix


def to_link(record: Record) -> str:
    """Letters, digits, - and _. Raises BadRecord if the record does not play."""
    number = 0
    for value, radix in reversed(list(_digits(record))):
        number = number * radix + value
    head = json.dumps(
        [record.game, record.rules_version, record.players, dict(record.options), len(record.moves), len(record.draws)],
        separators=(",", ":"),
    ).encode()
    packed = bytes([VERSION, record.secret is not None]) + len(head).to_bytes(2, "big") + head
    packed += record.commitment if record.secret is None else record.secret
    packed += number.to_bytes((number.bit_length() + 7) // 8, "big")
    return sealed(packed)


def sealed(packed: bytes) -> str:
    """The word for these bytes, closed by their check."""
    return urlsafe_b64encode(packed + _check(packed)).rstrip(b"=").decode()


def _check(packed: bytes) -> bytes:
    return sha256(packed).digest()[:CHECK_BYTES]


def _digits(record: Record) -> Iterator[Digit]:
    game, state = game_of(record), opening(record).state
    draws = iter(record.draws)
    for step in replay(record):
        if step.move is not None:
            legal = game.legal(state)
            yield legal.index(step.move.action), len(legal)
        elif record.secret is None:
            yield from _lehmer(next(draws).order)
        state = step.state


def _lehmer(order: Sequence[int]) -> Iterator[Digit]:
    """Each value's place among those not yet drawn."""
    left = sorted(order)
    for value in order:
        yield left.index(value), len(left)
        left.remove(value)


def from_link(text: str) -> Record:
    """The record that a link holds, played again. Raises BadRecord and nothing else."""
    packed = _unpacked(text)
    size = int.from_bytes(packed[2:4], "big")
    head, rest = packed[4 : 4 + size], packed[4 + size :]
    if packed[1:2] not in (b"\0", b"\1") or len(rest) < KEY_BYTES:
        raise BadRecord(Flaw.NOT_A_RECORD, "the link's head is none")
    game, rules_version, players, options, moves, draws = _head(head)
    key, secret_follows = rest[:KEY_BYTES], packed[1] == 1
    empty = Record(
        game=game,
        rules_version=rules_version,
        players=players,
        options=options,
        commitment=fair.commitment(key) if secret_follows else key,
        secret=key if secret_follows else None,
    )
    digits, left = _Digits(int.from_bytes(rest[KEY_BYTES:], "big")), [moves, draws]

    def next_move(game: Game, state: State) -> Move | None:
        seat, legal = game.to_act(state), game.legal(state)
        if not left[0] or seat is None:
            return None
        left[0] -= 1
        return Move(seat=seat, action=legal[digits.take(len(legal))])

    def next_order(draw: Draw) -> tuple[int, ...] | None:
        if not left[1]:
            return None
        left[1] -= 1
        return digits.permutation(draw.size)

    record = rebuild(empty, next_move, next_order)
    if not digits.used_up or left != [0, 0]:
        raise BadRecord(Flaw.MORE_THAN_A_GAME, "the link holds more than its game")
    return record


def _unpacked(text: str) -> bytes:
    if len(text) > LINK_MAX:
        raise BadRecord(Flaw.TOO_LONG, f"more than {LINK_MAX} characters are no link")
    if not ALPHABET.fullmatch(text):
        at = next((at for at, one in enumerate(text) if not ALPHABET.fullmatch(one)), 0)
        raise BadRecord(Flaw.NOT_A_RECORD, "neither JSON nor text, and no link", Place(path=f"character {at + 1}"))
    try:
        packed = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except NotBase64 as wrong:
        raise BadRecord(Flaw.NOT_A_RECORD, "no link has this length") from wrong
    if packed[:1] != bytes([VERSION]):
        told, due = packed[:1].hex(), f"{VERSION:02x}"
        raise BadRecord(Flaw.UNKNOWN_VERSION, "no version known here", Place(path="byte 1"), told=told, due=due)
    body, check = packed[:-CHECK_BYTES], packed[-CHECK_BYTES:]
    if sealed(body) != text or check != _check(body):
        raise BadRecord(Flaw.NOT_A_RECORD, "the link is damaged or cut off")
    return body


def _head(written: bytes) -> tuple[str, int, int, dict[str, Any], int, int]:
    try:
        head = json.loads(written)
    except (ValueError, RecursionError) as wrong:
        raise BadRecord(Flaw.NOT_A_RECORD, "the link's head is not JSON") from wrong
    if type(head) is not list or [type(one) for one in head] != [str, int, int, dict, int, int]:
        raise BadRecord(Flaw.NOT_A_RECORD, "the link's head is none")
    game, rules_version, players, options, moves, draws = head
    if not 0 <= moves <= MOVES_MAX or draws < 0:
        raise BadRecord(Flaw.TOO_LONG, f"a link has up to {MOVES_MAX} moves", told=[moves, draws])
    return game, rules_version, players, options, moves, draws


class _Digits:
    """A number read digit by digit; each radix is known only once the digits before it have been played."""

    def __init__(self, number: int) -> None:
        self._number = number

    @property
    def used_up(self) -> bool:
        return self._number == 0

    def take(self, radix: int) -> int:
        self._number, digit = divmod(self._number, radix)
        return digit

    def permutation(self, size: int) -> tuple[int, ...]:
        left = list(range(size))
        return tuple(left.pop(self.take(len(left))) for _ in range(size))
