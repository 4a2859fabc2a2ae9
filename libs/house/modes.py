"""What a player chooses in quick play: the mode of the game (P1) and a cup of coffee (P11)."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType


class Mode(StrEnum):
    """The schedules of quick play."""

    QUICK = "quick"
    CLASSIC = "classic"

    @property
    def game(self) -> str:
        """The engine's game."""
        return "romanian"

    @property
    def options(self) -> Mapping[str, str]:
        """The engine's options for it."""
        return _OPTIONS[self]

    @property
    def seats(self) -> int:
        """Always six (P1)."""
        return 6


class Coffee(StrEnum):
    """At most one cup a game; it multiplies the prize."""

    NONE = ""
    X1_5 = "x1_5"
    X2 = "x2"
    X3 = "x3"
    X5 = "x5"

    @property
    def bp(self) -> int:
        """The multiplier in basis points, 10,000 = ×1."""
        return _MULTIPLIER_BP[self]


_OPTIONS: Mapping[Mode, Mapping[str, str]] = {
    Mode.QUICK: MappingProxyType({"mode": "quick"}),
    Mode.CLASSIC: MappingProxyType({"mode": "8-1-8"}),
}

_MULTIPLIER_BP: Mapping[Coffee, int] = {
    Coffee.NONE: 10_000,
    Coffee.X1_5: 15_000,
    Coffee.X2: 20_000,
    Coffee.X3: 30_000,
    Coffee.X5: 50_000,
}
