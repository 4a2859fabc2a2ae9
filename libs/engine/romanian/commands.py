"""A player's move, parsed once from its plain form; whatever is not one is BAD_ACTION."""

from dataclasses import dataclass
from typing import TypeAlias

from libs.engine.cards import CARD_BY_TEXT, Card
from libs.engine.errors import RuleViolation


@dataclass(frozen=True, slots=True)
class PlaceBid:
    bid: int


@dataclass(frozen=True, slots=True)
class PlayCard:
    card: Card


Command: TypeAlias = PlayCard | PlaceBid

# Made once: a frozen dataclass takes longer to make than to find.
_PLAYS = {text: PlayCard(card) for text, card in CARD_BY_TEXT.items()}


def parse_action(action: object) -> Command:
    """{"bid": 3} or {"play": "QH"}, exactly one key. Raises RuleViolation(BAD_ACTION)."""
    if type(action) is dict and len(action) == 1:
        ((kind, value),) = action.items()
        if kind == "play" and type(value) is str and value in _PLAYS:
            return _PLAYS[value]
        if kind == "bid" and type(value) is int:
            return PlaceBid(value)
    raise RuleViolation("BAD_ACTION")
