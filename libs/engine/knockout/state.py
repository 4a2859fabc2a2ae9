"""A game of Knockout Whist at one moment, and what a table may choose."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from libs.engine.cards import Card, Suit
from libs.engine.protocol import Seat
from libs.engine.tricks.choices import Fields, read_options
from libs.engine.tricks.play import Play

SEATS: Final = range(2, 8)
FIRST_SIZE: Final = 7
FIELDS: Final[Fields] = {"dogs_life": (False, True)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """`dogs_life` (K2): once in the game, who takes no trick lives on with one card."""

    dogs_life: bool

    def dump(self) -> dict[str, Any]:
        """Plain form; `parse_options` reads it back."""
        return {"dogs_life": self.dogs_life}


def parse_options(players: object, plain: Mapping[str, object]) -> Options:
    """Raises RuleViolation(BAD_OPTIONS) naming the field."""
    return Options(**read_options(players, plain, seats=SEATS, fields=FIELDS))


class ScoredHand(NamedTuple):
    """One hand on the score sheet; tuples are by seat."""

    cards: int  # of a full hand
    dealer: Seat
    trump: Suit
    sizes: tuple[int, ...]  # cards dealt: 0 to who is out, 1 to a dog
    taken: tuple[int, ...]
    alive: tuple[bool, ...]  # after the hand
    dogs: tuple[bool, ...]  # who lives on as a dog


class Deal(NamedTuple):
    """What the deal fixed."""

    number: int  # 0-based
    dealer: Seat
    turn_up: Card | None  # the first hand's trump
    namer: Seat | None  # who names trumps in the later ones
    sizes: tuple[int, ...]  # cards dealt, by seat

    @property
    def cards(self) -> int:
        """Of a full hand, and tricks to play."""
        return FIRST_SIZE - self.number


class State(NamedTuple):
    """The whole game. `play` stays in place after the hand until the next deal."""

    options: Options
    players: int
    first_dealer: Seat | None
    sheet: tuple[ScoredHand, ...]
    namer: Seat | None  # of the next deal; None until known
    deal: Deal | None
    play: Play | None
    held: tuple[bool, ...]  # dogs that have kept their card in the trick on the table
    turn: int
    ranking: tuple[Seat, ...] | None

    @property
    def live(self) -> Play | None:
        """The hand in play: dealt and not yet scored."""
        return None if self.deal is None or self.deal.number < len(self.sheet) else self.play

    @property
    def alive(self) -> tuple[bool, ...]:
        return self.sheet[-1].alive if self.sheet else (True,) * self.players

    @property
    def dogs(self) -> tuple[bool, ...]:
        """Of the hand on the table, or the next one."""
        return self.sheet[-1].dogs if self.sheet else (False,) * self.players

    @property
    def best(self) -> tuple[Seat, ...]:
        """K1: who took most tricks in the last hand."""
        taken = self.sheet[-1].taken
        return tuple(seat for seat in range(self.players) if taken[seat] == max(taken))

    @property
    def naming(self) -> bool:
        return self.live is not None and self.live.trump is None

    @property
    def phase(self) -> str:
        if self.ranking is not None:
            return "over"
        if self.live is None:
            return "draw"
        return "name" if self.naming else "play"

    @property
    def to_act(self) -> Seat | None:
        if self.live is None:
            return None
        return self.deal.namer if self.naming and self.deal is not None else self.live.to_act

    @property
    def totals(self) -> tuple[int, ...]:
        """Tricks taken in all."""
        return tuple(sum(hand.taken[seat] for hand in self.sheet) for seat in range(self.players))


def next_in(eligible: Sequence[bool], seat: Seat) -> Seat | None:
    """The first seat after `seat`, clockwise and itself last, that is eligible."""
    players = len(eligible)
    order = ((seat + step) % players for step in range(1, players + 1))
    return next((one for one in order if eligible[one]), None)


def due_in_trick(counts: Sequence[int], laid: Sequence[bool], held: Sequence[bool]) -> list[bool]:
    """Who has cards and has neither played to the trick on the table nor kept a dog's card."""
    return [bool(cards) and not (one or kept) for cards, one, kept in zip(counts, laid, held, strict=True)]


def may_hold(sizes: Sequence[int], cards: int, done: int, seat: Seat) -> bool:
    """K2: a dog keeps its one card at will, until the last trick. `done` tricks are finished."""
    return sizes[seat] == 1 < cards and done + 1 < cards
