"""What is known of a run after it: the journal as the database has it, and what each client sent and heard."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from typing import Any
from uuid import UUID

import msgspec

from libs.wire import frames
from services.tables.domain.entries import Body, decode_body

_encode = msgspec.json.Encoder(order="sorted").encode
OPEN = "legal"  # of a view: what its seat may do now, sent apart from the row (libs/wire/frames.py, Private)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of `tables.table_log`."""

    seq: int
    epoch: int
    command_id: UUID
    body: bytes
    at: datetime

    @property
    def entry(self) -> Body:
        return decode_body(self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """One table: its head and its rows in order of `seq`. `owner` is empty where nobody owns it."""

    table: UUID
    status: str
    epoch: int
    next_seq: int
    owner: str
    owned_at: datetime
    rows: tuple[Row, ...]
    # Types of the events that were published of it, in no order.
    events: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Operation:
    """One command of one client. Times are monotonic seconds of the client's machine.

    Neither acknowledged nor refused: it may have happened or not ("info").
    """

    table: UUID
    account: bytes
    req: str
    turn: int
    invoked_at: float
    acks: list[tuple[float, int]] = field(default_factory=list)  # (when, row)
    refused: list[tuple[float, str]] = field(default_factory=list)  # (when, reason)


@dataclass(slots=True, kw_only=True)
class ClientLog:
    """What one client did and heard at one table. `views` is, by row, the digest of its view after that row."""

    table: UUID
    account: bytes
    seat: int = -1
    operations: dict[str, Operation] = field(default_factory=dict)
    deltas: list[tuple[float, frames.Delta]] = field(default_factory=list)
    snapshots: list[tuple[float, frames.Snapshot]] = field(default_factory=list)
    moved: list[tuple[float, frames.Moved]] = field(default_factory=list)
    over: list[tuple[float, frames.Over]] = field(default_factory=list)
    views: dict[int, bytes] = field(default_factory=dict)
    connected_at: list[float] = field(default_factory=list)

    def invoke(self, frame: frames.Act, at: float) -> None:
        """A command goes out; a repeat of the same request is the same operation."""
        self.operations.setdefault(
            frame.req,
            Operation(table=self.table, account=self.account, req=frame.req, turn=frame.turn, invoked_at=at),
        )

    def hear(self, frame: frames.ServerFrame, at: float) -> None:
        """A frame has come in."""
        match frame:
            case frames.Delta():
                self.deltas.append((at, frame))
                if frame.req in self.operations:
                    self.operations[frame.req].acks.append((at, frame.seq))
            case frames.Ack():
                if frame.req in self.operations:
                    self.operations[frame.req].acks.append((at, frame.seq))
            case frames.Error():
                if frame.req in self.operations:
                    self.operations[frame.req].refused.append((at, frame.reason))
            case frames.Snapshot():
                self.seat = frame.seat
                self.snapshots.append((at, frame))
            case frames.Moved():
                self.moved.append((at, frame))
            case frames.Over():
                self.over.append((at, frame))

    def acknowledged(self) -> list[Operation]:
        """The commands that were answered with a row."""
        return [each for each in self.operations.values() if each.acks]


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """A whole run. `healed_at` is the database's time of the last repair; None: no fault was ever there.

    `unpublished` counts the rows of the outboxes that were looked at.
    """

    journals: Mapping[UUID, Journal]
    clients: tuple[ClientLog, ...]
    healed_at: datetime | None = None
    unpublished: int = 0
    finishes: bool = False  # whether every game was to be played to its end


def view_digest(view: Mapping[str, Any]) -> bytes:
    """A view as a few bytes; what the seat may do is left out, for it travels by itself."""
    return blake2b(_encode({key: value for key, value in view.items() if key != OPEN}), digest_size=16).digest()
