"""The twelve rooms of quick play, from the village cottage to the palace (P2, P7, P9)."""

from dataclasses import dataclass

GUEST_ROOM = 1  # the only one guests may enter (P2)
ROOMS = 12


class UnknownRoom(LookupError):
    """There is no room of this number."""

    def __init__(self, number: int) -> None:
        super().__init__(f"no room {number}: rooms are 1 to {ROOMS}")
        self.number = number


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What a room costs, pays and asks for. `level` is the lowest that may enter; VIP rooms open on VIP days only."""

    number: int
    name: str
    entry_coins: int
    entry_bars: int
    prize_coins: int
    level: int
    vip: bool
