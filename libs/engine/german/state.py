"""A deal of German Whist at one moment, and what a table may choose."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from libs.engine.cards import Card
from libs.engine.protocol import Seat
from libs.engine.tricks.choices import Fields, read_options
from libs.engine.tricks.play import Play

PLAYERS: Final = 2
HAND_SIZE: Final = 13
FIELDS: Final[Fields] = {"count_all": (False, True)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """`count_all` (G2): all 26 tricks count, not the last thirteen."""

    count_all: bool

    def dump(self) -> dict[str, Any]:
        """Plain form; `parse_options` reads it back."""
        return {"count_all": self.count_all}


def parse_options(players: object, plain: Mapping[str, object]) -> Options:
    """Raises RuleViolation(BAD_OPTIONS) naming the field."""
    return Options(**read_options(players, plain, seats=(PLAYERS,), fields=FIELDS))


class Deal(NamedTuple):
    """What the deal fixed."""

    dealer: Seat
    turn_up: Card  # trump for the deal, and the first prize (G1)


class State(NamedTuple):
    """The whole match, which is one deal."""

    options: Options
    first_dealer: Seat | None
    deal: Deal | None
    play: Play | None
    stock: tuple[Card, ...]  # the first one lies face up
    early: tuple[int, ...]  # tricks 1–13, by seat
    turn: int
    ranking: tuple[Seat, ...] | None

    @property
    def phase(self) -> str:
        if self.ranking is not None:
            return "over"
        return "draw" if self.play is None else "play"

    @property
    def to_act(self) -> Seat | None:
        return None if self.play is None else self.play.to_act

    @property
    def prize(self) -> Card | None:
        return self.stock[0] if self.stock else None

    @property
    def counted(self) -> tuple[int, ...]:
        """G2: the tricks that win the deal, so far."""
        if self.play is None:
            return self.early
        if self.options.count_all:
            return self.play.taken
        return tuple(won - early for won, early in zip(self.play.taken, self.early, strict=True))
