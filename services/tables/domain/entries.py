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


# A move asks for them six times, and an attribute of an Enum takes 0.1 us in CPython 3.11.
BY_PERSON, BY_TIME_OUT = By.PERSON, By.TIME_OUT


class SeatFacts(Struct, array_like=True, frozen=True):
    """Who sat down. `account` is empty for a bot; `room` and `coffee` as the person chose them (P5, P11)."""

    account: bytes
    name: str
    guest: bool = False
    room: int = 0
    coffee: int = 0
    hints: bool = False


class FriendsTable(Struct, array_like=True, frozen=True):
    """What the host of a friends' table chose besides the game (P21, P22). Times are milliseconds.

    `bots` is a strength's word; `spectators` the most who may watch, 0 none; `barred` the accounts sent away before.
    """

    bid_ms: int
    play_ms: int
    bots: str
    spectators: int
    barred: list[bytes] = []


class Opened(Struct, array_like=True, tag=0, frozen=True):
    """Row 0: everything that is fixed for the table's life. The secret never leaves before the game's end (P70)."""

    kind: int
    mode: int
    game: str
    rules_version: int
    options: dict[str, Any]
    seats: list[SeatFacts]
    secret: bytes
    friends: FriendsTable | None = None


class Tally(Struct, array_like=True, frozen=True):
    """What is counted for one seat besides the game.

    `own_bids` is a bit a round, lowest first: this person bid there, or played a card where a game has no bids (P16).
    `time_outs` counts those in a row (P30). `others` are the rounds in which somebody else did so for the seat.
    """

    own_bids: int = 0
    time_outs: int = 0
    left: bool = False
    others: int = 0


class Drawn(Struct, array_like=True, tag=1, frozen=True):
    """Draws by the table's secret. With a checkpoint of the game the tallies and the round's number stand beside it.

    So do those who sit, and the accounts that have left, where somebody has taken a seat over; else both are empty.
    """

    events: list[Any]
    tallies: list[Tally]
    rounds: int
    sitting: list[SeatFacts] = []
    gone: list[bytes] = []


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


class TakenOver(Struct, array_like=True, tag=5, frozen=True):
    """A person sat down on a seat that was left, or that only a bot held (P22)."""

    seat: int
    who: SeatFacts
    req: str


Body = Opened | Drawn | Moved | Vacated | Resumed | TakenOver

encode_body = msgspec.msgpack.Encoder().encode
decode_body = msgspec.msgpack.Decoder(Body).decode
