"""The twelve rooms of quick play, from the village cottage to the palace (P2, P7, P9)."""

from dataclasses import dataclass
from typing import Annotated

from libs.house.fields import COINS_MAX, Flag, Text, Whole

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

    number: Annotated[int, Whole(1, ROOMS, "1, 2, 3, … in order.", "P9")]
    name: Annotated[str, Text("Its name in English; clients translate it by the number.", "P9")]
    entry_coins: Annotated[int, Whole(0, COINS_MAX, "Coins taken at the deal.", "P2, P9")]
    entry_bars: Annotated[int, Whole(0, 1_000_000, "Gold bars taken at the deal.", "P7")]
    prize_coins: Annotated[int, Whole(1, COINS_MAX, "The first place's prize.", "P6, P9")]
    level: Annotated[int, Whole(1, 1000, "The lowest that may enter; not below the room before.", "P2, P9")]
    vip: Annotated[bool, Flag("Open on the player's VIP days only.", "P7")]

    @property
    def is_free(self) -> bool:
        """Neither coins nor bars are taken at the deal (P2)."""
        return not self.entry_coins and not self.entry_bars
