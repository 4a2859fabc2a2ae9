"""A game at one moment. Split by how often a part changes, so that a move copies little.

`Round` and `State` are made anew on every move: named tuples, because a frozen dataclass of that
size takes twice as long to construct (1.3 against 0.5 us), a third of the whole move.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from libs.engine.cards import NO_CARDS, SUIT_MASKS, SUITS, Card, Hand, Suit
from libs.engine.protocol import Seat
from libs.engine.romanian.options import OneCard, Options


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What holds for the whole game once drawn."""

    players: int
    options: Options
    first_dealer: Seat | None = None  # until DealerDrawn
    sizes: tuple[int, ...] = ()  # until ScheduleSet


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredRound:
    """One finished round on the score sheet; all tuples are by seat."""

    cards: int
    dealer: Seat
    turn_up: Card | None
    bids: tuple[int, ...]
    taken: tuple[int, ...]
    scores: tuple[int, ...]
    totals: tuple[int, ...]  # after this round


Sheet = tuple[ScoredRound, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trick:
    """A finished trick; `cards` are in order of play from `lead`."""

    lead: Seat
    cards: tuple[Card, ...]
    winner: Seat


@dataclass(frozen=True, slots=True, kw_only=True)
class Deal:
    """What the deal fixed for its round."""

    index: int
    cards: int
    dealer: Seat
    turn_up: Card | None  # None: eight cards each, no trump (R4)

    trumps: Hand = field(init=False)  # every card of the trump suit; empty without trump

    def __post_init__(self) -> None:
        trumps = NO_CARDS if self.turn_up is None else SUIT_MASKS[self.turn_up >> 4]
        object.__setattr__(self, "trumps", trumps)

    @property
    def trump_suit(self) -> Suit | None:
        return None if self.turn_up is None else SUITS[self.turn_up >> 4]


class Round(NamedTuple):
    """The round on the table. The dealer bids last, so their bid ends the bidding (R5)."""

    deal: Deal
    hands: tuple[Hand, ...]
    bids: tuple[int | None, ...]
    taken: tuple[int, ...]
    lead: Seat  # who leads the trick on the table
    trick: tuple[Card, ...]  # in order of play from `lead`
    tricks: tuple[Trick, ...]
    to_act: Seat | None  # None: a trick or the round is being counted

    @property
    def bidding(self) -> bool:
        return self.bids[self.deal.dealer] is None


class State(NamedTuple):
    """The whole game. `round` stays in place after its last trick until the next deal."""

    setup: Setup
    sheet: Sheet
    round: Round | None  # None before the first deal
    turn: int  # decisions made so far
    ranking: tuple[Seat, ...] | None  # set by GameEnded

    @property
    def totals(self) -> tuple[int, ...]:
        return self.sheet[-1].totals if self.sheet else (0,) * self.setup.players

    @property
    def concealed(self) -> bool:
        """R11: the cards of a one-card round are not seen by their owners before the bids are made."""
        current = self.live
        return current is not None and current.bidding and conceals(self.setup.options, current.deal.cards)

    @property
    def live(self) -> Round | None:
        """The round in play: dealt and not yet scored."""
        current = self.round
        return None if current is None or current.deal.index < len(self.sheet) else current

    @property
    def phase(self) -> str:
        if self.ranking is not None:
            return "over"
        current = self.live
        if current is None:
            return "draw"
        return "bid" if current.bidding else "play"


def conceals(options: Options, cards: int) -> bool:
    """Whether a round of so many cards is bid without one's own card (R11)."""
    return cards == 1 and options.one_card is not OneCard.OFF


def by_seat(order: tuple[Any, ...], first: Seat, players: int) -> list[Any]:
    """Values given clockwise from `first`, as a list by seat; None for seats not reached."""
    seats: list[Any] = [None] * players
    for position, value in enumerate(order):
        seats[(first + position) % players] = value
    return seats
