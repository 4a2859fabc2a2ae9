"""The platform's numbers, read from one file and checked to the last field (P83).

Each section is declared where its subject is (`turns`, `friends`, `rooms`, …); `libs.house.fields` says how.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from libs.house.bots import Bots
from libs.house.experience import Experience
from libs.house.fields import Group, Misfit, Rows, WrongPlatform, Zone, read
from libs.house.friends import Friends
from libs.house.gifts import FirstGameGift, SignupGift
from libs.house.rooms import GUEST_ROOM, ROOMS, Room, UnknownRoom
from libs.house.turns import Matchmaking, Turns

_HERE = Path(__file__).resolve()


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """Everything an operator may change without a release."""

    zone: Annotated[ZoneInfo, Zone("Where days and weeks are counted; a week starts on Monday 00:00 there.", "preface")]
    signup_gift: Annotated[SignupGift, Group("A new account's gift.")]
    first_game_gift: Annotated[FirstGameGift, Group("For the first quick-play game of a day that counts.")]
    experience: Annotated[Experience, Group("What earns experience, and how much a level needs.")]
    turns: Annotated[Turns, Group("Quick and classic games, and what every table shares.")]
    bots: Annotated[Bots, Group("Who plays where no person does.")]
    friends: Annotated[Friends, Group("Friends' tables.")]
    matchmaking: Annotated[Matchmaking, Group("The queue; times count from the oldest waiting ticket.")]
    rooms: Annotated[tuple[Room, ...], Rows(ROOMS, ROOMS, "Rooms, in order.")]

    @property
    def first_game_bars(self) -> int:
        """For the first quick-play game of a day that counts (P12)."""
        return self.first_game_gift.bars

    @property
    def free_rooms(self) -> frozenset[int]:
        """Rooms without an entry; there is one at least (P2)."""
        return frozenset(room.number for room in self.rooms if not room.entry_coins and not room.entry_bars)

    def room(self, number: int) -> Room:
        """Raises UnknownRoom."""
        if not 1 <= number <= len(self.rooms):
            raise UnknownRoom(number)
        return self.rooms[number - 1]

    def check(self) -> None:
        """Rooms in order, of names of their own, the first open to everybody. Raises Misfit."""
        for index, room in enumerate(self.rooms):
            before = self.rooms[:index]
            if room.number != index + 1:
                raise Misfit(f"rooms[{index}].number", f"must be {index + 1}, not {room.number}: rooms in order")
            if room.number == GUEST_ROOM:
                _open_to_everybody(room)
            if before and room.level < before[-1].level:
                raise Misfit(f"rooms[{index}].level", f"must not be below the room before, {before[-1].level}")
            if room.name in {other.name for other in before}:
                raise Misfit(f"rooms[{index}].name", f"twice: {room.name!r}")


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


def parse(plain: Mapping[str, Any]) -> Platform:
    """The same checks on an already read table."""
    return read(Platform, plain)


def _default_path() -> Path:
    packaged = _HERE.parent / "platform.toml"
    return packaged if packaged.exists() else _HERE.parents[2] / "config" / "platform.toml"


def _open_to_everybody(room: Room) -> None:
    for field, value, wanted in (
        ("entry_coins", room.entry_coins, 0),
        ("entry_bars", room.entry_bars, 0),
        ("level", room.level, 1),
        ("vip", room.vip, False),
    ):
        if value != wanted:
            raise Misfit(f"rooms[{room.number - 1}].{field}", f"room {room.number} is free and open to everybody (P2)")
