"""What can happen in German Whist, past tense."""

from dataclasses import dataclass
from typing import TypeAlias

from libs.engine.cards import Card
from libs.engine.german.state import State
from libs.engine.protocol import Seat


@dataclass(frozen=True, slots=True, kw_only=True)
class DealerDrawn:
    seat: Seat


@dataclass(frozen=True, slots=True, kw_only=True)
class HandDealt:
    """The deal: the game's checkpoint is the state that it carries."""

    state: State


@dataclass(frozen=True, slots=True, kw_only=True)
class CardPlayed:
    seat: Seat
    card: Card


@dataclass(frozen=True, slots=True, kw_only=True)
class TrickTaken:
    winner: Seat


@dataclass(frozen=True, slots=True, kw_only=True)
class StockDrawn:
    """G2: the winner takes the prize, the other seat the next card unseen; the one after is turned."""

    winner: Seat
    prize: Card
    unseen: Card  # told to its taker alone
    turned: Card | None  # None: the stock is used up


@dataclass(frozen=True, slots=True, kw_only=True)
class GameEnded:
    """The winner first; totals are the tricks that count, by seat."""

    ranking: tuple[Seat, ...]
    totals: tuple[int, ...]


Event: TypeAlias = CardPlayed | TrickTaken | StockDrawn | HandDealt | DealerDrawn | GameEnded
KINDS: dict[str, type[Event]] = {
    "play": CardPlayed,
    "trick": TrickTaken,
    "stock": StockDrawn,
    "dealt": HandDealt,
    "dealer": DealerDrawn,
    "over": GameEnded,
}
