"""Cards as small integers, so that a hand is one integer and every rule a mask.

A card is `suit << 4 | rank` (suits C D H S = 0..3, ranks 2..14, ace high); its text is rank and
suit: "QH", "TS", "7C". A hand is the set of bits `1 << card`.
"""

from collections.abc import Iterable
from enum import IntEnum, StrEnum
from typing import Final, NewType

Card = NewType("Card", int)
Hand = NewType("Hand", int)


class Suit(StrEnum):
    """The four suits by their letter, in pack order."""

    CLUBS = "C"
    DIAMONDS = "D"
    HEARTS = "H"
    SPADES = "S"


class Rank(IntEnum):
    """The thirteen ranks, ace high."""

    TWO = 2
    THREE = 3
    FOUR = 4
    FIVE = 5
    SIX = 6
    SEVEN = 7
    EIGHT = 8
    NINE = 9
    TEN = 10
    JACK = 11
    QUEEN = 12
    KING = 13
    ACE = 14


SUITS: Final = tuple(Suit)
RANK_TEXT: Final = "__23456789TJQKA"
NO_CARDS: Final = Hand(0)
SUIT_MASKS: Final = tuple(Hand(0xFFFF << (16 * index)) for index in range(4))


def card(suit: Suit, rank: int) -> Card:
    """The card of that suit and rank (2..14)."""
    return Card(SUITS.index(suit) << 4 | rank)


CARDS: Final = tuple(card(suit, rank) for suit in SUITS for rank in Rank)
CARD_TEXT: Final = {one: RANK_TEXT[one & 15] + SUITS[one >> 4] for one in CARDS}
CARD_BY_TEXT: Final = {text: one for one, text in CARD_TEXT.items()}


def suit_of(one: Card) -> Suit:
    return SUITS[one >> 4]


def card_text(one: Card) -> str:
    """Rank and suit, e.g. "QH"; ten is T."""
    return CARD_TEXT[one]


def parse_card(text: object) -> Card:
    """The card that `text` names exactly. Raises ValueError for anything else."""
    if isinstance(text, str) and text in CARD_BY_TEXT:
        return CARD_BY_TEXT[text]
    raise ValueError(f"not a card: {text!r}")


def deck(players: int) -> tuple[Card, ...]:
    """The pack for 4, 5 or 6 players (R1): twice as many ranks a suit as players, ace high.

    Suits C D H S, within each the lowest first; a shuffle is a permutation of these indices.
    """
    lowest = Rank.ACE + 1 - 2 * players
    return tuple(one for one in CARDS if one & 15 >= lowest)


def hand_of(cards: Iterable[Card]) -> Hand:
    """The set of these cards."""
    hand = 0
    for one in cards:
        hand |= 1 << one
    return Hand(hand)


def cards_in(hand: Hand) -> list[Card]:
    """The cards of a hand, suits C D H S, within each the lowest first."""
    found, rest = [], int(hand)
    while rest:
        lowest = rest & -rest
        found.append(Card(lowest.bit_length() - 1))
        rest ^= lowest
    return found


def hand_texts(hand: Hand) -> list[str]:
    """The hand as JSON: card texts in `cards_in` order."""
    return [CARD_TEXT[one] for one in cards_in(hand)]
