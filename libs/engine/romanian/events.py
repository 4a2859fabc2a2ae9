"""What can happen in a game, past tense. The journal keeps these; everything else is derived."""

from dataclasses import dataclass
from typing import TypeAlias

from libs.engine.cards import Card, Hand
from libs.engine.protocol import Seat
from libs.engine.romanian.state import Setup, Sheet


@dataclass(frozen=True, slots=True, kw_only=True)
class DealerDrawn:
    """The first dealer (R3)."""

    seat: Seat


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleSet:
    """The whole list of round sizes, public from the start (R2)."""

    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundDealt:
    """A deal, with the cards themselves and everything brought forward.

    It is the game's checkpoint: `state_from(event)` needs no earlier event.
    """

    setup: Setup
    sheet: Sheet
    turn: int
    index: int
    cards: int
    dealer: Seat
    turn_up: Card | None
    hands: tuple[Hand, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BidPlaced:
    """A bid. Where own cards were hidden (R11) the last one reveals them, to each seat its own."""

    seat: Seat
    bid: int
    reveals: tuple[Hand, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CardPlayed:
    seat: Seat
    card: Card


@dataclass(frozen=True, slots=True, kw_only=True)
class TrickTaken:
    winner: Seat


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundScored:
    """Points of the round and totals after it, by seat (R7)."""

    scores: tuple[int, ...]
    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GameEnded:
    """The ranking (R9), best first, and the totals by seat."""

    ranking: tuple[Seat, ...]
    totals: tuple[int, ...]


Event: TypeAlias = (
    CardPlayed | BidPlaced | TrickTaken | RoundScored | RoundDealt | DealerDrawn | ScheduleSet | GameEnded
)
