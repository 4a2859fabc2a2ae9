"""Rooms, queue, seats, hints."""

import json
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, Field

from services.gateway.clients import MODES, STATES
from services.gateway.http.models.base import Id, Request
from services.gateway.http.models.wallet import COFFEES, CoffeeName
from whist.coach.v1 import coach_pb2
from whist.matchmaking.v1 import matchmaking_pb2
from whist.tables.v1 import tables_pb2

WeekdayName = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
WEEKDAYS: tuple[WeekdayName, ...] = get_args(WeekdayName)
ModeName = Literal["quick", "classic"]


MODE_OF = {name: mode for mode, name in MODES.items()}


class QueueRequest(Request):
    """A seat, please (P1, P11)."""

    room: int = Field(ge=1, le=12)
    mode: ModeName = "quick"
    coffee: CoffeeName | None = None


class Room(BaseModel):
    """A room (P2, P9); `closed_reason` is null when one may enter now."""

    room: int
    name: str
    entry_coins: int
    entry_bars: int
    prizes: list[int]
    level: int
    vip: bool
    closed_reason: str | None
    waiting: int

    @classmethod
    def of(cls, room: matchmaking_pb2.Room) -> "Room":
        return cls(
            room=room.room,
            name=room.name,
            entry_coins=room.entry_coins,
            entry_bars=room.entry_bars,
            prizes=list(room.prizes),
            level=room.level,
            vip=room.vip,
            closed_reason=room.closed_reason or None,
            waiting=room.waiting,
        )


class Rooms(BaseModel):
    """All rooms, the cottage first, and the two days of each week on which VIP rooms are open to oneself (P13)."""

    rooms: list[Room]
    # In the platform's zone; guests have none.
    vip_days: list[WeekdayName]


class Place(BaseModel):
    """Where one stands in matchmaking.

    While waiting: `seats_filled` people would sit at this table now, `position` (1: the oldest) is the place among the
    `waiting` of the same room and mode, and the table deals within `remaining_ms`; else all of them are 0.
    """

    state: Literal["idle", "waiting", "matched", "seated", "dropped"]
    table: Id | None
    room: int | None
    mode: ModeName | None
    coffee: CoffeeName | None
    deals_at: datetime | None
    seats_filled: int
    position: int
    waiting: int
    remaining_ms: int
    dropped_reason: str | None

    @classmethod
    def of(cls, status: matchmaking_pb2.QueueStatus) -> "Place":
        return cls.model_validate(
            {
                "state": STATES.get(status.state, "idle"),
                "table": status.table_id.hex() or None,
                "room": status.room or None,
                "mode": MODES.get(status.mode),
                "coffee": COFFEES.get(status.coffee),
                "deals_at": status.deals_at.ToDatetime(UTC) if status.HasField("deals_at") else None,
                "seats_filled": status.seats_filled,
                "position": status.position,
                "waiting": status.waiting,
                "remaining_ms": status.remaining_ms,
                "dropped_reason": status.dropped_reason or None,
            }
        )


class Seat(BaseModel):
    """Where one sits; all null: nowhere. Before the deal a table is followed by `enter`, afterwards by `join`."""

    table: Id | None
    kind: Literal["quick", "friends"] | None
    stage: Literal["waiting", "dealt"] | None

    @classmethod
    def of(cls, answer: tables_pb2.SeatOfResponse) -> "Seat":
        if not answer.table_id:
            return cls(table=None, kind=None, stage=None)
        return cls(
            table=answer.table_id.hex(),
            kind="friends" if answer.kind == tables_pb2.TABLE_KIND_FRIENDS else "quick",
            stage="dealt" if answer.dealt else "waiting",
        )


class TableView(BaseModel):
    """A table as one's own seat sees it; `view` is the engine's, null when the game is over."""

    table: Id
    status: Literal["live", "finished", "voided", "abandoned"]
    seat: int
    left: bool
    hints: bool
    view: dict[str, Any] | None


class Advice(BaseModel):
    """What one legal move promises: own points of the round with their standard error, and the chance of the bid."""

    action: dict[str, Any]
    points: float
    error: Annotated[float, Field(ge=0)]
    chance: Annotated[float, Field(ge=0, le=1)]

    @classmethod
    def of(cls, advice: coach_pb2.Advice) -> "Advice":
        return cls(
            action=json.loads(advice.action_json), points=advice.points, error=advice.error, chance=advice.chance
        )


class Hint(BaseModel):
    """What the coach would do at this decision, and in Romanian Whist what every legal move promises (P60)."""

    turn: int
    action: dict[str, Any]
    advice: list[Advice]

    @classmethod
    def of(cls, answer: coach_pb2.HintResponse) -> "Hint":
        return cls(
            turn=answer.turn,
            action=json.loads(answer.action_json),
            advice=[Advice.of(each) for each in answer.advice],
        )
