"""Socket frames between a client and the gateway: JSON objects told apart by ``t``.

A frame is at most 16 KiB. The client's first frame is `Hello`; the server answers in the kind of that frame (text or
binary). Every command carries a `req` of the client's own, unique within its account: a repeat is answered as the first
was. A table's frames carry `seq` (the journal row after which they hold; ask for more with `since`) and `epoch` (the
ownership; a lower one than already seen is old and to be ignored).
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from typing_extensions import Annotated  # noqa: UP035 - msgspec reads it from here on every Python

FRAME_MAX_BYTES = 16 * 1024

_ID = re.compile("[0-9a-f]{32}").fullmatch
_REQUEST = re.compile("[0-9A-Za-z-]+").fullmatch

# Ids travel as 32 lower-case hexadecimal digits.
ID_PATTERN = "^[0-9a-f]{32}$"
REQUEST_PATTERN = "^[0-9A-Za-z-]+$"
Id = Annotated[str, Meta(pattern=ID_PATTERN)]
Request = Annotated[str, Meta(min_length=1, max_length=36, pattern=REQUEST_PATTERN)]
# The same for the frame that every move is: a decoder that looks at patterns takes eight times as long (measured), so
# whoever decodes it asks `well_formed`.
HotId = Annotated[str, Meta(min_length=32, max_length=32, extra_json_schema={"pattern": ID_PATTERN})]
HotRequest = Annotated[str, Meta(min_length=1, max_length=36, extra_json_schema={"pattern": REQUEST_PATTERN})]
Whole = Annotated[int, Meta(ge=0, lt=2**53)]


# ---- client to server ----


class Hello(Struct, tag_field="t", tag="hello", forbid_unknown_fields=True, frozen=True):
    """First frame, within five seconds; and again with a fresh token before the old one ends."""

    token: Annotated[str, Meta(max_length=4096)]


class Join(Struct, tag_field="t", tag="join", forbid_unknown_fields=True, frozen=True):
    """Follow a table: answered by a `Snapshot`, or by the deltas after `since` when the server still has them."""

    table: Id
    since: Whole | UnsetType = UNSET


class Leave(Struct, tag_field="t", tag="leave", forbid_unknown_fields=True, frozen=True):
    """Stop following; the seat stays. To give the seat up for good: `Quit`."""

    table: Id


class Act(Struct, tag_field="t", tag="act", forbid_unknown_fields=True, frozen=True):
    """A bid or a card: `action` is the engine's, {"bid": 3} or {"play": "QH"}; `turn` is the decision it answers."""

    table: HotId
    req: HotRequest
    turn: Whole
    action: dict[str, Any]

    def well_formed(self) -> bool:
        """Whether `table` and `req` are what their patterns say; lengths were looked at when it was decoded."""
        return _ID(self.table) is not None and _REQUEST(self.req) is not None


class Quit(Struct, tag_field="t", tag="quit", forbid_unknown_fields=True, frozen=True):
    """Leave on purpose, finally: the bot plays to the end and nothing is won (P8)."""

    table: Id
    req: Request


class Watch(Struct, tag_field="t", tag="watch", forbid_unknown_fields=True, frozen=True):
    """Send `Queue` frames for this account's place in matchmaking until it is seated, dropped or idle."""


class Enter(Struct, tag_field="t", tag="enter", forbid_unknown_fields=True, frozen=True):
    """Follow a friends' table (P20): `Waiting` at once and at each change, `Chat` as it is said, the last fifty first.

    Before the deal the seat is kept for as long as this lasts; `Leave` ends it. The game itself is followed by `Join`.
    """

    table: Id
    # Chat after this line.
    since_line: Whole | UnsetType = UNSET


class Say(Struct, tag_field="t", tag="say", forbid_unknown_fields=True, frozen=True):
    """One line of chat at a friends' table, waiting or playing; kept as plain text, 200 characters at most."""

    table: Id
    req: Request
    words: Annotated[str, Meta(min_length=1, max_length=2000)]


class Ping(Struct, tag_field="t", tag="ping", forbid_unknown_fields=True, frozen=True):
    """Answered by `Pong` with the same number."""

    n: Whole


ClientFrame = Hello | Join | Leave | Act | Quit | Watch | Enter | Say | Ping


# ---- server to client ----


class Welcome(Struct, tag_field="t", tag="welcome", frozen=True):
    """The token was taken. `now` and every deadline are milliseconds of the server's Unix time."""

    account: str
    guest: bool
    now: int
    heartbeat_ms: int
    token_expires: int


class SeatInfo(Struct, frozen=True):
    """Who sits where. `kind` is "person" or "bot"; `holder` is who plays now: "person", "bot" (away or left).

    `verified`: the name is the account's alone, a ✓ (P41).
    """

    name: str
    kind: str
    verified: bool
    holder: str
    left: bool = False


class Snapshot(Struct, tag_field="t", tag="snapshot", frozen=True):
    """The whole table as this account may see it. `seat` is -1 for a spectator; `view` is the engine's."""

    table: str
    seq: int
    epoch: int
    seat: int
    game: str
    view: dict[str, Any]
    seats: list[SeatInfo]
    # When the running turn ends, Unix milliseconds; 0: nobody has to act.
    deadline: int
    commitment: str
    # A person's move that reaches the server so long after the deadline still counts: the way here costs nobody a turn.
    grace_ms: int = 0


class Delta(Struct, tag_field="t", tag="delta", frozen=True):
    """What one journal row changed, the same bytes for everybody at the table.

    `events` are the engine's public projections, to be applied in order. `req` names the command that caused it: for
    its sender this frame is the acknowledgement. `by` is "person", "time_out", "bot" or "server". `private`: a seat may
    know more of an event than is told here; that is in the `Private` of the same `seq`.
    """

    table: str
    seq: int
    epoch: int
    events: list[dict[str, Any]]
    by: str
    seat: int
    turn: int
    to_act: int
    deadline: int
    req: str = ""
    private: bool | UnsetType = UNSET


class Private(Struct, tag_field="t", tag="private"):
    """What only this seat may know of the row `seq`: its hand, and (when it is to act) what it may do.

    Sent after the `Delta` of the same `seq`. `events` are the engine's projections for this seat of the events that
    have a private part; they replace the public ones. `legal` is present when the seat is to act at `turn`.
    """

    table: str
    seq: int
    epoch: int
    turn: int
    events: list[dict[str, Any]] = []
    legal: list[dict[str, Any]] | UnsetType = UNSET


class Presence(Struct, tag_field="t", tag="presence", frozen=True):
    """Who plays a seat now; not part of the journal, so without `seq`.

    `deadline` is of the running turn where that is this seat's, else 0. Whoever comes back, or acts while a bot holds
    the seat, has the turn anew: this frame says so.
    """

    table: str
    seat: int
    holder: str
    left: bool
    deadline: int = 0


class Seated(Struct, tag_field="t", tag="seated", frozen=True):
    """Another person has taken a seat over (P22); who sat down gets a `Snapshot` of that seat."""

    table: str
    seat: int
    who: SeatInfo


class Ack(Struct, tag_field="t", tag="ack", frozen=True):
    """The command `req` stands as journal row `seq`; sent for a repeat and for `Quit`. For `Say`: as line `seq`."""

    table: str
    req: str
    seq: int


class Error(Struct, tag_field="t", tag="error", frozen=True):
    """A refusal: nothing has changed. `reason` is stable; `facts` say more. `req` and `table` name what was refused."""

    reason: str
    facts: dict[str, Any] = {}
    req: str = ""
    table: str = ""
    # The decision awaited now, where a stale command was refused.
    turn: int | UnsetType = UNSET


class Over(Struct, tag_field="t", tag="over", frozen=True):
    """The game has ended; the secret that its commitment promised is shown (P70). `status`: "finished" or "voided"."""

    table: str
    seq: int
    epoch: int
    status: str
    secret: str


class Queue(Struct, tag_field="t", tag="queue", frozen=True):
    """The account's place in matchmaking. `state`: idle, waiting, matched, seated, dropped.

    While waiting, at each change of `seats` and each second: `seats` people would sit at this table now, `position` (1:
    the oldest) is the place among the `waiting` of the same room and mode, and the table deals within `remaining_ms`,
    at `deals_at` (milliseconds since 1970).
    """

    state: str
    table: str = ""
    room: int = 0
    mode: str = ""
    seats: int = 0
    position: int = 0
    waiting: int = 0
    deals_at: int = 0
    remaining_ms: int = 0
    reason: str = ""


class Friend(Struct, frozen=True):
    """Somebody at a friends' table."""

    account: str
    name: str
    guest: bool


class Choices(Struct, frozen=True):
    """What the host of a friends' table chose (P21, P22). `options` are the engine's, `players` the seats in all."""

    game: str
    options: dict[str, Any]
    players: int
    bid_seconds: int
    bots: str
    listed: bool
    spectators: bool
    open_chat: bool


class Waiting(Struct, tag_field="t", tag="waiting", frozen=True):
    """A friends' table. `stage`: waiting, dealt (`Join` it) or closed. `seats`: who sits now, null where a bot does."""

    table: str
    stage: str
    version: int
    # Account; empty while nobody sits.
    host: str
    choices: Choices
    seats: list[Friend | None]


class Chat(Struct, tag_field="t", tag="chat", frozen=True):
    """A line that somebody said: plain text, never markup. `line` ascends within a table, `at` is Unix milliseconds."""

    table: str
    line: int
    account: str
    name: str
    words: str
    at: int


class Moved(Struct, tag_field="t", tag="moved", frozen=True):
    """The table has a new owner and goes on; the gateway has re-subscribed. `pause_ms` was not counted in any turn."""

    table: str
    epoch: int
    pause_ms: int


class Pong(Struct, tag_field="t", tag="pong", frozen=True):
    """Answer to `Ping`; `now` lets the client measure its clock's offset."""

    n: int
    now: int


ServerFrame = (
    Welcome
    | Snapshot
    | Delta
    | Private
    | Presence
    | Seated
    | Ack
    | Error
    | Over
    | Queue
    | Waiting
    | Chat
    | Moved
    | Pong
)

decode_client: msgspec.json.Decoder[ClientFrame] = msgspec.json.Decoder(ClientFrame)
decode_server: msgspec.json.Decoder[ServerFrame] = msgspec.json.Decoder(ServerFrame)
encode = msgspec.json.Encoder().encode


class CloseCode:
    """Why the server closed a socket. 4xxx are ours."""

    DONE = 1000
    PROTOCOL = 1002
    NOT_TEXT = 1007
    POLICY = 1008
    TOO_BIG = 1009
    RESTART = 1012
    SLOW_READER = 1013
    SUPERSEDED = 4001
    TOKEN = 4401


CLOSE_MEANINGS: Final[Mapping[int, str]] = MappingProxyType(
    {
        CloseCode.DONE: "the client's own wish",
        CloseCode.PROTOCOL: "not RFC 6455, or with an extension that nobody agreed to",
        CloseCode.NOT_TEXT: "a text message that is not UTF-8",
        CloseCode.POLICY: "a flood, no hello in time, or too many bad frames",
        CloseCode.TOO_BIG: "a frame is too big",
        CloseCode.RESTART: "this server goes: come back with since",
        CloseCode.SLOW_READER: "too much lies unread, or the token cannot be checked now: come back with since",
        CloseCode.SUPERSEDED: "too many sockets of this account: the oldest goes, and should not come back by itself",
        CloseCode.TOKEN: "the token is wrong, expired or revoked: renew it first",
    }
)
