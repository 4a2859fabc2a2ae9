"""What REST takes and gives. Requests forbid what they do not know (reliability A7)."""

import json
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import msgspec
from pydantic import BaseModel, ConfigDict, Field

from services.gateway.clients import MODES, STATES, waiting_frame
from whist.auth.v1 import auth_pb2
from whist.coach.v1 import coach_pb2
from whist.leagues.v1 import leagues_pb2
from whist.matchmaking.v1 import matchmaking_pb2
from whist.tables.v1 import friends_pb2, tables_pb2
from whist.types.v1 import types_pb2
from whist.wallet.v1 import wallet_pb2

# Ids are 32 lower-case hexadecimal digits, as on the socket.
Id = Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
Uuid = Annotated[
    str, Field(pattern="^[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}$")
]
CoffeeName = Literal["x1.5", "x2", "x3", "x5"]
ModeName = Literal["quick", "classic"]

MODE_OF = {name: mode for mode, name in MODES.items()}
COFFEES: dict["types_pb2.Coffee.ValueType", CoffeeName] = {
    types_pb2.COFFEE_X1_5: "x1.5",
    types_pb2.COFFEE_X2: "x2",
    types_pb2.COFFEE_X3: "x3",
    types_pb2.COFFEE_X5: "x5",
}
COFFEE_OF = {name: coffee for coffee, name in COFFEES.items()}
TIERS = {
    leagues_pb2.TIER_JACK: "jack",
    leagues_pb2.TIER_QUEEN: "queen",
    leagues_pb2.TIER_KING: "king",
    leagues_pb2.TIER_ACE: "ace",
}
FORMS = {leagues_pb2.FORM_FIRE: "fire", leagues_pb2.FORM_ICE: "ice"}


class Request(BaseModel):
    """A body: unknown fields are refused, strings are not stripped, numbers are not made of strings."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Device(Request):
    """Who asks, for the list of devices."""

    device: str = Field("", max_length=64)


class LoginStart(Request):
    """Ask for a code by mail (P40)."""

    email: str = Field(min_length=3, max_length=254)
    locale: str = Field("en", max_length=35, pattern="^[A-Za-z0-9-]+$")


class LoginFinish(Request):
    """The code that came."""

    code: str = Field(pattern="^[0-9]{8}$")
    device: str = Field("", max_length=64)


class RefreshToken(Request):
    """The refresh token; browsers leave it out and send their cookie."""

    refresh_token: str | None = Field(None, min_length=1, max_length=512)


class QueueRequest(Request):
    """A seat, please (P1, P11)."""

    room: int = Field(ge=1, le=12)
    mode: ModeName = "quick"
    coffee: CoffeeName | None = None


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


class Config(BaseModel):
    """What a client must know before it begins."""

    version: str
    socket_url: str
    heartbeat_ms: int


class LoginStarted(BaseModel):
    """The same whether the address is known or not."""

    login_id: Id
    expires_at: datetime


class Account(BaseModel):
    """Public facts of an account."""

    account_id: Id
    name: str
    guest: bool
    created_at: datetime

    @classmethod
    def of(cls, account: auth_pb2.Account) -> "Account":
        return cls(
            account_id=account.account_id.hex(),
            name=account.name,
            guest=account.guest,
            created_at=account.created_at.ToDatetime(UTC),
        )


class Tokens(BaseModel):
    """Of a session. `refresh_token` is null for pages, which get it as a cookie that no script can read."""

    access_token: str
    access_expires_at: datetime
    refresh_token: str | None
    refresh_expires_at: datetime


class SignedIn(BaseModel):
    """An account and its tokens; `created` when this request made the account."""

    tokens: Tokens
    account: Account
    created: bool = False


class Assets(BaseModel):
    """Amounts of everything the ledger counts."""

    coins: int
    bars: int
    cups: dict[CoffeeName, int]

    @classmethod
    def of(cls, assets: types_pb2.Assets) -> "Assets":
        cups: dict[CoffeeName, int] = {
            "x1.5": assets.cups_x1_5,
            "x2": assets.cups_x2,
            "x3": assets.cups_x3,
            "x5": assets.cups_x5,
        }
        return cls(coins=assets.coins, bars=assets.bars, cups=cups)


class Wallet(Assets):
    """What one may spend; `held` is set aside for a table that is not dealt yet."""

    held: Assets

    @classmethod
    def of_balances(cls, balances: wallet_pb2.BalancesResponse) -> "Wallet":
        return cls(**dict(Assets.of(balances.assets)), held=Assets.of(balances.held))


class Movement(BaseModel):
    """One line of the ledger as its owner sees it; `amount` is what the account gained."""

    transfer_id: Id
    at: datetime
    reason: str
    asset: str
    amount: int
    table: Id | None


class History(BaseModel):
    """Newest first; `next_before` leads to older ones and is null at the end."""

    movements: list[Movement]
    next_before: str | None


class Progress(BaseModel):
    """Level, experience and form (P43, P54)."""

    level: int
    experience: int
    next_level_at: int
    form: Literal["fire", "ice"] | None
    games: int

    @classmethod
    def of(cls, profile: leagues_pb2.ProfileResponse) -> "Progress":
        return cls.model_validate(
            {
                "level": profile.level,
                "experience": profile.experience,
                "next_level_at": profile.next_level_at,
                "form": FORMS.get(profile.form),
                "games": profile.games,
            }
        )


class Standing(BaseModel):
    """League points of a week (P50). Guests collect points but are not ranked."""

    week: str
    tier: Literal["jack", "queen", "king", "ace"] | None
    points: int
    games: int
    ranked: bool

    @classmethod
    def of(cls, standing: leagues_pb2.StandingResponse) -> "Standing":
        return cls.model_validate(
            {
                "week": standing.week_id,
                "tier": TIERS.get(standing.tier),
                "points": standing.points,
                "games": standing.games,
                "ranked": standing.ranked,
            }
        )


class Me(BaseModel):
    """Oneself. What a service cannot tell just now is null: nobody is kept from playing by it."""

    account: Account
    level: int | None
    experience: int | None
    next_level_at: int | None
    form: Literal["fire", "ice"] | None
    standing: Standing | None
    wallet: Wallet | None


class League(BaseModel):
    """One's league."""

    progress: Progress
    standing: Standing


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
    """All rooms, the cottage first."""

    rooms: list[Room]


class Place(BaseModel):
    """Where one stands in matchmaking."""

    state: Literal["idle", "waiting", "matched", "seated", "dropped"]
    table: Id | None
    room: int | None
    mode: ModeName | None
    coffee: CoffeeName | None
    deals_at: datetime | None
    seats_filled: int
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
                "dropped_reason": status.dropped_reason or None,
            }
        )


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
