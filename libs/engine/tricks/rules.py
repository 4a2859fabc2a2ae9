"""Who must follow and who takes the trick: the rules that no variant changes (R6, W2, L4, K1, G1)."""

from collections.abc import Sequence

from libs.engine.cards import SUIT_MASKS, Card, Hand


def follow_suit(hand: Hand, led: Card | None) -> Hand:
    """The part of a hand that may be played where a void hand is free (W2); all of it to lead."""
    if led is None:
        return hand
    return Hand(hand & SUIT_MASKS[led >> 4] or hand)


def winning_position(trick: Sequence[Card], trumps: Hand) -> int:
    """Index, in order of play, of the card that takes the trick as it lies."""
    best = trick[0]
    at = 0
    for position, card in enumerate(trick):
        if beats(card, best, trumps):
            best, at = card, position
    return at


def beats(card: Card, best: Card, trumps: Hand) -> bool:
    """Whether `card`, played later, beats the card that is winning so far."""
    if card >> 4 == best >> 4:
        return card > best
    return bool(trumps >> card & 1)
