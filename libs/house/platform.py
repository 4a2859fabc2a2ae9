"""The platform's numbers, read from one file and checked to the last field (P83)."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from libs.house.bots import Bots, Strength
from libs.house.experience import Experience
from libs.house.friends import Friends
from libs.house.league import PODIUM, TIERS, League
from libs.house.offline import Offline
from libs.house.rooms import GUEST_ROOM, ROOMS, Room, UnknownRoom
from libs.house.turns import Matchmaking, Turns

COINS_MAX = 10**12  # a thousandth of the largest balance: no single amount can overflow one
MILLISECONDS_MAX = 600_000
_HERE = Path(__file__).resolve()


class WrongPlatform(ValueError):
    """The file does not fit: `field` names the place (``rooms[3].level``), `problem` what is wrong with it."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"platform.toml: {field}: {problem}")
        self.field = field
        self.problem = problem


@dataclass(frozen=True, slots=True, kw_only=True)
class SignupGift:
    """What a new account starts with (P10)."""

    coins: int
    cups_each: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """Everything an operator may change without a release."""

    zone: ZoneInfo
    rooms: tuple[Room, ...]
    signup_gift: SignupGift
    # For the first quick-play game of a day that counts (P12).
    first_game_bars: int
    experience: Experience
    turns: Turns
    bots: Bots
    friends: Friends
    matchmaking: Matchmaking
    league: League
    offline: Offline

    def room(self, number: int) -> Room:
        """Raises UnknownRoom."""
        if not 1 <= number <= len(self.rooms):
            raise UnknownRoom(number)
        return self.rooms[number - 1]


def load(path: Path | None = None) -> Platform:
    """Read `path`; without it the copy beside this module (in a wheel) or the checkout's ``config/platform.toml``.

    Raises WrongPlatform naming the first field that is wrong, missing or unknown.
    """
    found = path or _default_path()
    try:
        plain = tomllib.loads(found.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise WrongPlatform(str(found), str(error)) from error
    return parse(plain)


def _default_path() -> Path:
    packaged = _HERE.parent / "platform.toml"
    return packaged if packaged.exists() else _HERE.parents[2] / "config" / "platform.toml"


def parse(plain: Mapping[str, Any]) -> Platform:
    """The same checks on an already read table."""
    top = _Fields("", plain)
    platform = Platform(
        zone=_zone(top.text("zone")),
        signup_gift=_signup_gift(top.table("signup_gift")),
        first_game_bars=_first_game_bars(top.table("first_game_gift")),
        experience=_experience(top.table("experience")),
        turns=_turns(top.table("turns")),
        bots=_bots(top.table("bots")),
        friends=_friends(top.table("friends")),
        matchmaking=_matchmaking(top.table("matchmaking")),
        league=_league(top.table("league")),
        offline=_offline(top.table("offline")),
        rooms=_rooms(top.tables("rooms")),
    )
    top.done()
    return platform


class _Fields:
    """One table of the file: hands out its values by name and type, and refuses what nobody asked for."""

    def __init__(self, name: str, plain: Mapping[str, Any]) -> None:
        self._prefix = f"{name}." if name else ""
        self._left = dict(plain)

    def name(self, field: str) -> str:
        return self._prefix + field

    def _take(self, field: str, kind: type, called: str) -> Any:
        if field not in self._left:
            raise WrongPlatform(self.name(field), "missing")
        value = self._left.pop(field)
        if type(value) is not kind:  # exactly: true is not the number 1
            raise WrongPlatform(self.name(field), f"must be {called}, not {value!r}")
        return value

    def integer(self, field: str, low: int, high: int) -> int:
        value: int = self._take(field, int, "a whole number")
        return self._within(self.name(field), value, low, high)

    def integers(self, field: str, size: int, low: int, high: int) -> list[int]:
        values: list[Any] = self._take(field, list, "a list")
        if len(values) != size:
            raise WrongPlatform(self.name(field), f"must have {size} numbers, not {len(values)}")
        for index, value in enumerate(values):
            if type(value) is not int:
                raise WrongPlatform(f"{self.name(field)}[{index}]", f"must be a whole number, not {value!r}")
            self._within(f"{self.name(field)}[{index}]", value, low, high)
        return values

    @staticmethod
    def _within(name: str, value: int, low: int, high: int) -> int:
        if not low <= value <= high:
            raise WrongPlatform(name, f"must be {low} to {high}, not {value}")
        return value

    def flag(self, field: str) -> bool:
        value: bool = self._take(field, bool, "true or false")
        return value

    def text(self, field: str) -> str:
        value: str = self._take(field, str, "text")
        if not value.strip() or len(value) > 40:
            raise WrongPlatform(self.name(field), f"must have 1 to 40 characters, not {value!r}")
        return value

    def table(self, field: str) -> "_Fields":
        return _Fields(self.name(field), self._take(field, dict, "a table"))

    def tables(self, field: str) -> list["_Fields"]:
        values: list[Any] = self._take(field, list, "a list of tables")
        for index, value in enumerate(values):
            if type(value) is not dict:
                raise WrongPlatform(f"{self.name(field)}[{index}]", f"must be a table, not {value!r}")
        return [_Fields(f"{self.name(field)}[{index}]", value) for index, value in enumerate(values)]

    def done(self) -> None:
        for field in self._left:
            raise WrongPlatform(self.name(field), "unknown")


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError) as error:  # unknown name, path tricks, a folder of zones
        raise WrongPlatform("zone", f"no such zone: {name!r}") from error


def _signup_gift(fields: _Fields) -> SignupGift:
    gift = SignupGift(coins=fields.integer("coins", 0, COINS_MAX), cups_each=fields.integer("cups_each", 0, 1000))
    fields.done()
    return gift


def _first_game_bars(fields: _Fields) -> int:
    bars = fields.integer("bars", 0, 1000)
    fields.done()
    return bars


def _experience(fields: _Fields) -> Experience:
    first, second, third = fields.integers("places", 3, 0, 10_000)
    if not first >= second >= third:
        raise WrongPlatform("experience.places", "a better place must not earn less")
    numbers = Experience(
        own_bid=fields.integer("own_bid", 0, 10_000),
        own_made=fields.integer("own_made", 0, 10_000),
        places=(first, second, third),
        level_step=fields.integer("level_step", 1, 1_000_000),
    )
    fields.done()
    return numbers


def _turns(fields: _Fields) -> Turns:
    turns = Turns(
        bid_ms=fields.integer("bid_ms", 1000, MILLISECONDS_MAX),
        play_ms=fields.integer("play_ms", 1000, MILLISECONDS_MAX),
        away_after=fields.integer("away_after", 1, 100),
        network_grace_ms=fields.integer("network_grace_ms", 0, 10_000),
        bot_min_ms=fields.integer("bot_min_ms", 0, MILLISECONDS_MAX),
        bot_max_ms=fields.integer("bot_max_ms", 0, MILLISECONDS_MAX),
        claim_ms=fields.integer("claim_ms", 1000, MILLISECONDS_MAX),
    )
    fields.done()
    if turns.bot_min_ms > turns.bot_max_ms:
        raise WrongPlatform("turns.bot_max_ms", f"must not be below bot_min_ms, {turns.bot_min_ms}")
    return turns


def _friends(fields: _Fields) -> Friends:
    friends = Friends(
        one_eight_one=fields.flag("one_eight_one"),
        play_min_ms=fields.integer("play_min_ms", 1000, MILLISECONDS_MAX),
        seat_lease_ms=fields.integer("seat_lease_ms", 1000, MILLISECONDS_MAX),
        deserted_ms=fields.integer("deserted_ms", 1000, MILLISECONDS_MAX),
        spectators=fields.integer("spectators", 0, 1000),
    )
    fields.done()
    return friends


def _bots(fields: _Fields) -> Bots:
    bots = Bots(strength=_strength(fields, "strength"), stand_in=_strength(fields, "stand_in"))
    fields.done()
    return bots


def _strength(fields: _Fields, field: str) -> Strength:
    name = fields.text(field)
    try:
        return Strength(name)
    except ValueError:
        raise WrongPlatform(fields.name(field), f"must be {', '.join(Strength)}, not {name!r}") from None


def _matchmaking(fields: _Fields) -> Matchmaking:
    matchmaking = Matchmaking(
        deal_after_ms=fields.integer("deal_after_ms", 0, MILLISECONDS_MAX),
        one_tier_apart_after_ms=fields.integer("one_tier_apart_after_ms", 0, MILLISECONDS_MAX),
        any_tier_after_ms=fields.integer("any_tier_after_ms", 0, MILLISECONDS_MAX),
        cross_room_after_ms=fields.integer("cross_room_after_ms", 0, MILLISECONDS_MAX),
    )
    fields.done()
    if matchmaking.any_tier_after_ms < matchmaking.one_tier_apart_after_ms:
        raise WrongPlatform("matchmaking.any_tier_after_ms", "must not be below one_tier_apart_after_ms")
    return matchmaking


def _league(fields: _Fields) -> League:
    """P51 and P53; who goes up never goes down: a third of the ranked and the last of a large group do not meet."""
    size = fields.integer("group_size", 3, 100)
    up = fields.integer("up", 0, size)
    down = fields.integer("down", 0, size)
    down_from = fields.integer("down_from", 1, size)
    coins = _falling(fields, "podium_coins", COINS_MAX // 1000)
    bars = _falling(fields, "podium_bars", 1_000_000)
    jack, queen, king, ace = multipliers = fields.integers("multipliers", TIERS, 1, 1000)
    fields.done()
    if down + min(up, -(-down_from // 3)) > down_from:
        raise WrongPlatform(fields.name("down"), f"must leave room for who goes up among {down_from} ranked")
    if sorted(multipliers) != multipliers:
        raise WrongPlatform(fields.name("multipliers"), "a higher tier must not pay less")
    return League(
        group_size=size,
        up=up,
        down=down,
        down_from=down_from,
        podium_coins=coins,
        podium_bars=bars,
        multipliers=(jack, queen, king, ace),
    )


def _offline(fields: _Fields) -> Offline:
    offline = Offline(
        games_a_day=fields.integer("games_a_day", 0, 1000),
        divisor=fields.integer("divisor", 1, 1000),
        late_divisor=fields.integer("late_divisor", 1, 1000),
    )
    fields.done()
    if offline.late_divisor < offline.divisor:
        raise WrongPlatform("offline.late_divisor", f"must not be below divisor, {offline.divisor}")
    return offline


def _falling(fields: _Fields, field: str, high: int) -> tuple[int, int, int]:
    first, second, third = fields.integers(field, PODIUM, 0, high)
    if not first >= second >= third:
        raise WrongPlatform(fields.name(field), "a better place must not win less")
    return first, second, third


def _rooms(tables: list[_Fields]) -> tuple[Room, ...]:
    if len(tables) != ROOMS:
        raise WrongPlatform("rooms", f"must be {ROOMS}, not {len(tables)}")
    rooms: list[Room] = []
    for fields in tables:
        room = _room(fields)
        if room.number != len(rooms) + 1:
            raise WrongPlatform(fields.name("number"), f"must be {len(rooms) + 1}, not {room.number}: rooms in order")
        if room.number == GUEST_ROOM:
            _open_to_everybody(fields, room)
        if rooms and room.level < rooms[-1].level:
            raise WrongPlatform(fields.name("level"), f"must not be below the room before, {rooms[-1].level}")
        if room.name in {other.name for other in rooms}:
            raise WrongPlatform(fields.name("name"), f"twice: {room.name!r}")
        rooms.append(room)
    return tuple(rooms)


def _room(fields: _Fields) -> Room:
    room = Room(
        number=fields.integer("number", 1, ROOMS),
        name=fields.text("name"),
        entry_coins=fields.integer("entry_coins", 0, COINS_MAX),
        entry_bars=fields.integer("entry_bars", 0, 1_000_000),
        prize_coins=fields.integer("prize_coins", 1, COINS_MAX),
        level=fields.integer("level", 1, 1000),
        vip=fields.flag("vip"),
    )
    fields.done()
    return room


def _open_to_everybody(fields: _Fields, room: Room) -> None:
    for field, value, wanted in (
        ("entry_coins", room.entry_coins, 0),
        ("entry_bars", room.entry_bars, 0),
        ("level", room.level, 1),
        ("vip", room.vip, False),
    ):
        if value != wanted:
            raise WrongPlatform(fields.name(field), f"room {room.number} is free and open to everybody (P2)")
