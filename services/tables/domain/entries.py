"""What a table's journal holds: one entry a command, the engine's events in its body (MessagePack).

Bodies are positional, so a field is only ever added at the end, with a default.
"""

from enum import IntEnum
from typing import Any

import msgspec
from msgspec import Struct


class By(IntEnum):
    """Who made a move (P30, P72)."""

    PERSON = 0
    TIME_OUT = 1
    BOT = 2
    SERVER = 3

    @property
    def word(self) -> str:
        """As clients see it."""
        return self.name.lower()


class SeatFacts(Struct, array_like=True, frozen=True):
    """Who sat down. `account` is empty for a bot; `room` and `coffee` as the person chose them (P5, P11)."""

    account: bytes
    name: str
    guest: bool = False
    room: int = 0
    coffee: int = 0
    hints: bool = False


class Opened(Struct, array_like=True, tag=0, frozen=True):
    """Row 0: everything that is fixed for the table's life. The secret never leaves before the game's end (P70)."""

    kind: int
    mode: int
    game: str
    rules_version: int
    options: dict[str, Any]
    seats: list[SeatFacts]
    secret: bytes


class Tally(Struct, array_like=True, frozen=True):
    """What is counted for one seat besides the game.

    `own_bids` is a bit a round, lowest first: this person bid there (P16). `time_outs` counts those in a row (P30).
    """

    own_bids: int = 0
    time_outs: int = 0
    left: bool = False


class Drawn(Struct, array_like=True, tag=1, frozen=True):
    """Draws by the table's secret. With a checkpoint of the game the tallies and the round's number stand beside it."""

    events: list[Any]
    tallies: list[Tally]
    rounds: int


class Moved(Struct, array_like=True, tag=2, frozen=True):
    """A seat's decision number `turn`."""

    seat: int
    by: int
    turn: int
    req: str
    events: list[Any]


class Vacated(Struct, array_like=True, tag=3, frozen=True):
    """The person left on purpose, for good (P8)."""

    seat: int
    req: str


class Resumed(Struct, array_like=True, tag=4, frozen=True):
    """Another worker took over; nobody could move for `pause_ms`, which is in no turn (P33)."""

    pause_ms: int


Body = Opened | Drawn | Moved | Vacated | Resumed

encode_body = msgspec.msgpack.Encoder().encode
decode_body = msgspec.msgpack.Decoder(Body).decode
