"""What can happen in Knockout Whist, past tense."""

from dataclasses import dataclass
from typing import TypeAlias

from libs.engine.cards import Card, Suit
from libs.engine.knockout.state import ScoredHand, State
from libs.engine.protocol import Seat


@dataclass(frozen=True, slots=True, kw_only=True)
class DealerDrawn:
    seat: Seat


@dataclass(frozen=True, slots=True, kw_only=True)
class NamerDrawn:
    """K1: drawn among those who tied for most tricks."""

    seat: Seat


@dataclass(frozen=True, slots=True, kw_only=True)
class HandDealt:
    """A deal and all that came before it: the game's checkpoint is the state that it carries."""

    state: State


@dataclass(frozen=True, slots=True, kw_only=True)
class TrumpsNamed:
    seat: Seat
    suit: Suit


@dataclass(frozen=True, slots=True, kw_only=True)
class CardPlayed:
    seat: Seat
    card: Card


@dataclass(frozen=True, slots=True, kw_only=True)
class CardHeld:
    """K2: a dog keeps its card; to lead, it passes the lead on."""

    seat: Seat


@dataclass(frozen=True, slots=True, kw_only=True)
class TrickTaken:
    winner: Seat


@dataclass(frozen=True, slots=True, kw_only=True)
class HandScored:
    """Who took what, who is out, who lives as a dog (K2)."""

    hand: ScoredHand


@dataclass(frozen=True, slots=True, kw_only=True)
class GameEnded:
    """The ranking (K3), best first, and tricks taken in all by seat."""

    ranking: tuple[Seat, ...]
    totals: tuple[int, ...]


Event: TypeAlias = (
    CardPlayed | CardHeld | TrickTaken | TrumpsNamed | HandScored | HandDealt | DealerDrawn | NamerDrawn | GameEnded
)
KINDS: dict[str, type[Event]] = {
    "play": CardPlayed,
    "hold": CardHeld,
    "trick": TrickTaken,
    "trumps": TrumpsNamed,
    "scored": HandScored,
    "dealt": HandDealt,
    "dealer": DealerDrawn,
    "namer": NamerDrawn,
    "over": GameEnded,
}
