"""What can happen in English Whist, past tense."""

from dataclasses import dataclass
from typing import TypeAlias

from libs.engine.cards import Card
from libs.engine.english.state import ScoredHand, State
from libs.engine.protocol import Seat


@dataclass(frozen=True, slots=True, kw_only=True)
class DealerDrawn:
    seat: Seat


@dataclass(frozen=True, slots=True, kw_only=True)
class HandDealt:
    """A deal and all that came before it: the game's checkpoint is the state that it carries."""

    state: State


@dataclass(frozen=True, slots=True, kw_only=True)
class CardPlayed:
    seat: Seat
    card: Card


@dataclass(frozen=True, slots=True, kw_only=True)
class TrickTaken:
    winner: Seat


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimsOpened:
    """W7, club: after every hand, so that its coming says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokeClaimed:
    """A seat's answer: whether it claims that the other side revoked."""

    seat: Seat
    claim: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokeProven:
    """The seat chooses the penalty; swings are what each choice is worth, in points (see `Proof`)."""

    seat: Seat
    points_swing: int
    tricks_swing: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PenaltyChosen:
    seat: Seat
    penalty: str  # "points" | "tricks"


@dataclass(frozen=True, slots=True, kw_only=True)
class HandScored:
    """W3–W8; a void hand is scored too, with nothing."""

    hand: ScoredHand


@dataclass(frozen=True, slots=True, kw_only=True)
class GameEnded:
    """The winners' seats first; totals by seat, the rubber's bonus included (W6)."""

    ranking: tuple[Seat, ...]
    totals: tuple[int, ...]


Event: TypeAlias = (
    CardPlayed
    | TrickTaken
    | ClaimsOpened
    | RevokeClaimed
    | RevokeProven
    | PenaltyChosen
    | HandScored
    | HandDealt
    | DealerDrawn
    | GameEnded
)
KINDS: dict[str, type[Event]] = {
    "play": CardPlayed,
    "trick": TrickTaken,
    "claims": ClaimsOpened,
    "claim": RevokeClaimed,
    "proven": RevokeProven,
    "penalty": PenaltyChosen,
    "scored": HandScored,
    "dealt": HandDealt,
    "dealer": DealerDrawn,
    "over": GameEnded,
}
