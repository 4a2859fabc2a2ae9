"""What can happen in Solo Whist, past tense."""

from dataclasses import dataclass
from typing import TypeAlias

from libs.engine.cards import Card, Hand, Suit
from libs.engine.protocol import Seat
from libs.engine.solo.auction import Call
from libs.engine.solo.state import ScoredHand, State


@dataclass(frozen=True, slots=True, kw_only=True)
class DealerDrawn:
    seat: Seat


@dataclass(frozen=True, slots=True, kw_only=True)
class HandDealt:
    """A deal and all that came before it: the game's checkpoint is the state that it carries."""

    state: State


@dataclass(frozen=True, slots=True, kw_only=True)
class CallMade:
    seat: Seat
    call: Call


@dataclass(frozen=True, slots=True, kw_only=True)
class TrumpsNamed:
    seat: Seat
    suit: Suit


@dataclass(frozen=True, slots=True, kw_only=True)
class CardPlayed:
    seat: Seat
    card: Card


@dataclass(frozen=True, slots=True, kw_only=True)
class TrickTaken:
    winner: Seat


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOpened:
    """L2: after the first trick the open misère's hand is everybody's to see."""

    seat: Seat
    hand: Hand


@dataclass(frozen=True, slots=True, kw_only=True)
class HandScored:
    """A hand decided or thrown in."""

    hand: ScoredHand


@dataclass(frozen=True, slots=True, kw_only=True)
class GameEnded:
    """The ranking (L4), best first, and the units by seat."""

    ranking: tuple[Seat, ...]
    totals: tuple[int, ...]


Event: TypeAlias = (
    CardPlayed | TrickTaken | CallMade | TrumpsNamed | HandOpened | HandScored | HandDealt | DealerDrawn | GameEnded
)
KINDS: dict[str, type[Event]] = {
    "play": CardPlayed,
    "trick": TrickTaken,
    "call": CallMade,
    "trumps": TrumpsNamed,
    "opened": HandOpened,
    "scored": HandScored,
    "dealt": HandDealt,
    "dealer": DealerDrawn,
    "over": GameEnded,
}
