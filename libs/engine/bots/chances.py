"""How likely a card is to take a trick, now or later, by counting what is unseen.

Unseen cards are taken to be spread evenly over hands and undealt cards, except for shown voids. The
constants were chosen by self-play at four seats; a tenth more or less changes little.
"""

from collections.abc import Iterable
from math import exp
from typing import NamedTuple

from libs.engine.bots.knowledge import Knowledge, Opponent, best_of
from libs.engine.cards import SUIT_MASKS, Card, Hand, cards_in
from libs.engine.tricks.rules import beats

GUARD = 0.45  # higher cards that one lower card of the suit may outlast
DROP = 1.1  # how fast a side card fades with each higher one in play
TRUMP_DROP = 0.55  # a trump fades slower: it also ruffs
LENGTH = 0.35  # higher trumps that one more trump of ours draws or outlasts
EAGER = 0.9  # chance that a seat short of its bid uses a card that wins
LAZY = 0.35  # the same for a seat that has its bid
STUCK = 0.9  # chance that a certain winner takes a trick although we try to lose with it
DUCK = 1.4  # how much better a doubtful winner can be got rid of
OFF_LEAD = 0.3  # chance that the suit of our last card is led


class Range(NamedTuple):
    """A card's chance of a trick when we try to lose with it, and when we try to win."""

    low: float
    high: float


def wins_now(known: Knowledge, card: Card) -> float:
    """Chance that `card`, played now, takes the trick on the table."""
    trick = known.trick
    if trick and not beats(card, best_of(trick, known.trumps), known.trumps):
        return 0.0
    return _stands(known, card, trick[0] if trick else card, known.after)


def wins_led(known: Knowledge, card: Card) -> float:
    """Chance that `card` takes a trick that it leads later."""
    return _stands(known, card, card, known.opponents)


def later(known: Knowledge, hand: Hand, *, leading: bool) -> list[Range]:
    """Each card of what will be our hand, once this trick is over."""
    if hand.bit_count() == 1:
        (card,) = cards_in(hand)
        return [_last(known, card, leading=leading)]
    return [_later(known, hand, card) for card in cards_in(hand)]


def _last(known: Knowledge, card: Card, *, leading: bool) -> Range:
    chance = wins_led(known, card)
    if not leading:
        chance *= 1.0 if known.trumps >> card & 1 else OFF_LEAD
    return Range(chance, chance)


def _later(known: Knowledge, hand: Hand, card: Card) -> Range:
    suit = SUIT_MASKS[card >> 4]
    higher = _above(known.unseen & suit, card) * known.density
    lower_own = (hand & suit & ((1 << card) - 1)).bit_count()
    if suit == known.trumps:
        high = exp(-TRUMP_DROP * max(0.0, higher - LENGTH * lower_own))
        return Range(high**DUCK, high)
    risk = 1.0
    for one in known.opponents:
        risk *= 1 - _ruffs(known, one, suit)
    high = exp(-DROP * max(0.0, higher - GUARD * lower_own)) * risk
    return Range(STUCK * high**DUCK, high)


def _stands(known: Knowledge, card: Card, led: Card, seats: Iterable[Opponent]) -> float:
    chance = 1.0
    for one in seats:
        chance *= 1 - _beaten_by(known, one, card, led)
    return chance


def _beaten_by(known: Knowledge, one: Opponent, card: Card, led: Card) -> float:
    suit = SUIT_MASKS[led >> 4]
    will = EAGER if one.wants else LAZY
    void = _void(known, one, suit)
    if card >> 4 != led >> 4:  # we ruff: only a void seat with a higher trump can beat us
        return void * will * _holds(known, one, _above(known.unseen & known.trumps, card))
    higher = 0 if one.void & suit else _above(known.unseen & suit, card)
    follows = will * _holds(known, one, higher)
    return follows + (0.0 if suit == known.trumps else _ruffs(known, one, suit))


def _ruffs(known: Knowledge, one: Opponent, suit: Hand) -> float:
    """Chance that the seat has none of the suit and a trump, which it must then play (R6)."""
    if one.void & known.trumps:
        return 0.0
    trumps = (known.unseen & known.trumps).bit_count()
    return _void(known, one, suit) * _holds(known, one, trumps)


def _void(known: Knowledge, one: Opponent, suit: Hand) -> float:
    if one.void & suit:
        return 1.0
    return 1 - _holds(known, one, (known.unseen & suit).bit_count())


def _holds(known: Knowledge, one: Opponent, cards: int) -> float:
    """Chance that the seat holds at least one of so many unseen cards."""
    share = one.cards / known.hidden if known.hidden else 0.0
    return float(1 - (1 - min(1.0, share)) ** cards)


def _above(cards: int, card: Card) -> int:
    return (cards >> card).bit_count()
