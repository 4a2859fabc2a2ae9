"""Friends' tables."""

import json
from typing import Any, Literal

import msgspec
from pydantic import BaseModel, Field

from services.gateway.clients import waiting_frame
from services.gateway.http.models.base import Id, Request
from whist.tables.v1 import friends_pb2


class Choices(Request):
    """What the host of a friends' table chooses (P21, P22); `options` are the engine's for `game`."""

    game: str = Field("romanian", max_length=32)
    options: dict[str, Any] = Field(default_factory=lambda: {"mode": "8-1-8"})
    players: int = Field(4, ge=2, le=7)
    bid_seconds: Literal[10, 15, 30, 60] = 15
    bots: Literal["calm", "keen", "sharp"] = "calm"
    listed: bool = True
    spectators: bool = True
    open_chat: bool = True

    def to_message(self) -> friends_pb2.FriendsChoices:
        """The contract's form."""
        plain = self.model_dump(exclude={"options"})
        return friends_pb2.FriendsChoices(**plain, options_json=json.dumps(self.options))


class SeatWish(Request):
    """A seat from 0 on; null: any that is free."""

    seat: int | None = Field(None, ge=0, le=6)


class SeatTaken(Request):
    """The seat of a game in play that one wants to take over (P22)."""

    seat: int = Field(ge=0, le=6)


class Person(Request):
    """Somebody else's account."""

    account: Id


class Report(Request):
    """Who behaves badly in chat, and how."""

    account: Id
    words: str = Field(min_length=1, max_length=2000)


class Friend(BaseModel):
    """Somebody at a friends' table."""

    account: Id
    name: str
    guest: bool


class FriendsTable(BaseModel):
    """A friends' table (P20): `seats` are who sits now; null: a bot does, or will at the deal.

    What is null in play may be taken over (P22).
    """

    table: Id
    stage: Literal["waiting", "dealt", "closed"]
    version: int
    host: Id | None
    choices: Choices
    seats: list[Friend | None]

    @classmethod
    def of(cls, table: friends_pb2.FriendsTable) -> "FriendsTable":
        shown: dict[str, Any] = msgspec.to_builtins(waiting_frame(table))
        del shown["t"]
        return cls.model_validate(shown | {"host": shown["host"] or None})


class FriendsTables(BaseModel):
    """Listed tables that wait or are in play, newest first."""

    tables: list[FriendsTable]


class Seated(BaseModel):
    """One sits at the live table since its row `seq`."""

    seq: int
