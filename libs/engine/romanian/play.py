"""Which cards may be played (R6)."""

from functools import cache

from libs.engine.cards import SUIT_MASKS, Card, Hand, suit_of
from libs.engine.errors import RuleViolation
from libs.engine.protocol import Seat
from libs.engine.romanian.events import CardPlayed
from libs.engine.romanian.state import Round


def playable(hand: Hand, led: Card | None, trumps: Hand) -> Hand:
    """The part of a hand that R6 allows: follow suit, else trump, else anything."""
    if led is None:
        return hand
    return Hand(hand & SUIT_MASKS[led >> 4] or hand & trumps or hand)


def decide_play(current: Round, seat: Seat, card: Card) -> CardPlayed:
    """Raises CARD_NOT_HELD, MUST_FOLLOW_SUIT or MUST_TRUMP."""
    hand = current.hands[seat]
    if not hand >> card & 1:
        raise RuleViolation("CARD_NOT_HELD")
    trick = current.trick
    led = trick[0] if trick else None
    if not playable(hand, led, current.deal.trumps) >> card & 1:
        raise _refusal(hand, led, current)
    return _played(seat, card)


@cache
def _played(seat: Seat, card: Card) -> CardPlayed:
    """Each made once, six seats' 52 cards at most: a frozen dataclass takes longer to make than to find."""
    return CardPlayed(seat=seat, card=card)


def _refusal(hand: Hand, led: Card | None, current: Round) -> RuleViolation:
    assert led is not None, "any card may be led"
    if hand & SUIT_MASKS[led >> 4]:
        return RuleViolation("MUST_FOLLOW_SUIT", suit=suit_of(led).value)
    trump = current.deal.trump_suit
    assert trump is not None, "without trump a void hand may play anything"
    return RuleViolation("MUST_TRUMP", suit=trump.value)
