"""A player's move in plain form, {"play": "QH"}: exactly one key; whatever is not one is BAD_ACTION."""

from libs.engine.cards import CARD_BY_TEXT, SUITS, Card, Suit
from libs.engine.errors import RuleViolation

SUIT_BY_TEXT = {suit.value: suit for suit in SUITS}


def one_key(action: object) -> tuple[str, object]:
    """The move's kind and value. Raises BAD_ACTION."""
    if type(action) is dict and len(action) == 1:
        ((kind, value),) = action.items()
        if type(kind) is str:
            return kind, value
    raise RuleViolation("BAD_ACTION")


def card_in(value: object) -> Card:
    """The card that {"play": value} names. Raises BAD_ACTION."""
    if type(value) is str and value in CARD_BY_TEXT:
        return CARD_BY_TEXT[value]
    raise RuleViolation("BAD_ACTION")


def suit_in(value: object) -> Suit:
    """The suit that {"trumps": value} names. Raises BAD_ACTION."""
    if type(value) is str and value in SUIT_BY_TEXT:
        return SUIT_BY_TEXT[value]
    raise RuleViolation("BAD_ACTION")


def flag_in(value: object) -> bool:
    """Raises BAD_ACTION for anything but true and false."""
    if type(value) is bool:
        return value
    raise RuleViolation("BAD_ACTION")
