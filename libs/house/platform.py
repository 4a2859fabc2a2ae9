"""The platform's numbers, read from one file and checked to the last field (P83).

Each section is declared where its subject is (`turns`, `friends`, `rooms`, …); `libs.house.fields` says how.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from libs.house.bots import Bots
from libs.house.classic import ClassicRewards
from libs.house.coach import Coach
from libs.house.experience import Experience
from libs.house.fields import Group, Misfit, Rows, WrongPlatform, Zone, read
from libs.house.friends import Friends
from libs.house.gifts import FirstGameGift, SignupGift, WeeklyGift
from libs.house.league import League
from libs.house.offline import Offline
from libs.house.refunds import RULES_MAX, RefundRule, rule_of
from libs.house.rooms import GUEST_ROOM, ROOMS, Room, UnknownRoom
from libs.house.shop import CoffeeShop
from libs.house.sign_in import Names, SignIn
from libs.house.turns import Matchmaking, Turns

_HERE = Path(__file__).resolve()


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """Everything an operator may change without a release."""

    zone: Annotated[ZoneInfo, Zone("Where days and weeks are counted; a week starts on Monday 00:00 there.", "preface")]
    signup_gift: Annotated[SignupGift, Group("A new account's gift.")]
    first_game_gift: Annotated[FirstGameGift, Group("For the first quick-play game of a day that counts.")]
    weekly_gift: Annotated[WeeklyGift, Group("Every Monday's gift.")]
    coffee_shop: Annotated[CoffeeShop, Group("What coffee costs.")]
    classic_rewards: Annotated[ClassicRewards, Group("What classic games pay for playing well.")]
    refunds: Annotated[tuple[RefundRule, ...], Rows(1, RULES_MAX, "Refunds, by the day on which the game finished.")]
    experience: Annotated[Experience, Group("What earns experience, and how much a level needs.")]
    turns: Annotated[Turns, Group("Quick and classic games, and what every table shares.")]
    bots: Annotated[Bots, Group("Who plays where no person does.")]
    friends: Annotated[Friends, Group("Friends' tables.")]
    matchmaking: Annotated[Matchmaking, Group("The queue; times count from the oldest waiting ticket.")]
    sign_in: Annotated[SignIn, Group("Signing in by an e-mailed code, and sessions.")]
    names: Annotated[Names, Group("Names that accounts hold for themselves alone.")]
    league: Annotated[League, Group("The weekly league.")]
    offline: Annotated[Offline, Group("Games played offline and uploaded.")]
    coach: Annotated[Coach, Group("What the coach's grades are given for.")]
    rooms: Annotated[tuple[Room, ...], Rows(ROOMS, ROOMS, "Rooms, in order.")]

    @property
    def first_game_bars(self) -> int:
        """For the first quick-play game of a day that counts (P12)."""
        return self.first_game_gift.bars

    @property
    def free_rooms(self) -> frozenset[int]:
        """Rooms without an entry; there is one at least (P2)."""
        return frozenset(room.number for room in self.rooms if room.is_free)

    def room(self, number: int) -> Room:
        """Raises UnknownRoom."""
        if not 1 <= number <= len(self.rooms):
            raise UnknownRoom(number)
        return self.rooms[number - 1]

    def refund_rule(self, day: date) -> RefundRule | None:
        """That of games that finished on `day` (P14); None: there is no refund."""
        return rule_of(self.refunds, day)

    def check(self) -> None:
        """Rooms in order, of names of their own, the first open to everybody; rules by their days. Raises Misfit."""
        for index, (before, after) in enumerate(pairwise(self.refunds), start=1):
            if after.since <= before.since:
                raise Misfit(f"refunds[{index}].since", f"must be after the rule before, {before.since}")
        for index, room in enumerate(self.rooms):
            earlier = self.rooms[:index]
            if room.number != index + 1:
                raise Misfit(f"rooms[{index}].number", f"must be {index + 1}, not {room.number}: rooms in order")
            if room.number == GUEST_ROOM:
                _open_to_everybody(room)
            if earlier and room.level < earlier[-1].level:
                raise Misfit(f"rooms[{index}].level", f"must not be below the room before, {earlier[-1].level}")
            if room.name in {other.name for other in earlier}:
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
