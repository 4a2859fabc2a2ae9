"""Cards by rule of thumb for the games of S1: second hand low, third high, never over a partner who wins.

A position is read from a view alone. Older tricks lie face down, so nothing is counted: what these rules of
thumb know is the hand, the trick on the table and who plays after.
"""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from libs.engine.cards import NO_CARDS, SUIT_MASKS, SUITS, Card, Hand, Rank, cards_in, hand_of, parse_card
from libs.engine.protocol import Seat, View
from libs.engine.tricks.rules import beats, follow_suit, winning_position

LONG = 5  # trumps from which drawing the others' is worth the lead
SAFE = Rank.QUEEN  # a partner's card that is left to win although an opponent plays after us


class Position(NamedTuple):
    """One moment as its own seat sees it."""

    hand: Hand
    allowed: Hand  # the part of the hand that follows suit
    trumps: Hand
    trick: tuple[tuple[Seat, Card], ...]  # in order of play
    allies: frozenset[Seat]
    last: bool  # nobody plays to the trick after us


def read(view: View, allies: Collection[Seat] = ()) -> Position:
    """The position of a view whose own seat is to play."""
    hand = hand_of(map(parse_card, view["hand"]))
    suit, lead, texts = view["trump_suit"], view["trick"]["lead"], view["trick"]["cards"]
    players, me = view["players"], view["seat"]
    order = [(lead + step) % players for step in range(players)]
    trick = tuple((seat, parse_card(texts[seat])) for seat in order if texts[seat] is not None)
    waiting = [seat for seat in order if texts[seat] is None and view["counts"][seat] and seat != me]
    return Position(
        hand=hand,
        allowed=follow_suit(hand, trick[0][1] if trick else None),
        trumps=NO_CARDS if suit is None else SUIT_MASKS[SUITS.index(suit)],
        trick=trick,
        allies=frozenset(allies),
        last=bool(trick) and not waiting,
    )


def take(position: Position) -> Card:
    """The card of a seat that wants tricks for itself and its allies."""
    if not position.trick:
        return _lead(position)
    winner, best = _winning(position)
    winners = [card for card in cards_in(position.allowed) if beats(card, best, position.trumps)]
    if not winners or _ally_stands(position, winner, best):
        return lowest(position)
    follows = bool(position.allowed & SUIT_MASKS[position.trick[0][1] >> 4])
    cheapest = min(winners, key=rank)
    if position.last or not follows:
        return cheapest
    second = len(position.trick) == 1 and len(position.allies) > 0
    if second and rank(best) < Rank.JACK and rank(max(winners, key=rank)) < Rank.ACE:
        return lowest(position)
    return max(winners, key=rank)


def duck(position: Position) -> Card:
    """The card of a seat that wants no trick."""
    if not position.trick:
        return min(cards_in(position.allowed), key=rank)
    _, best = _winning(position)
    losers = [card for card in cards_in(position.allowed) if not beats(card, best, position.trumps)]
    if losers:
        return max(losers, key=rank)
    pick = max if position.last else min
    return pick(cards_in(position.allowed), key=rank)


def wins(position: Position, card: Card) -> bool:
    """Whether the card, played now, would be winning."""
    return not position.trick or beats(card, _winning(position)[1], position.trumps)


def lowest(position: Position) -> Card:
    """What is missed least: a low card, side suits before trumps, the shorter suit first."""
    return min(
        cards_in(position.allowed),
        key=lambda card: (bool(position.trumps >> card & 1), rank(card), length(position.hand, card)),
    )


def rank(card: Card) -> int:
    return card & 15


def length(hand: Hand, card: Card) -> int:
    """Cards of that card's suit in the hand."""
    return (hand & SUIT_MASKS[card >> 4]).bit_count()


def _winning(position: Position) -> tuple[Seat, Card]:
    at = winning_position([card for _, card in position.trick], position.trumps)
    return position.trick[at]


def _ally_stands(position: Position, winner: Seat, best: Card) -> bool:
    """An ally's card that wins, or very likely will, is left alone."""
    return winner in position.allies and (position.last or rank(best) >= SAFE or bool(position.trumps >> best & 1))


def _lead(position: Position) -> Card:
    """Draw trumps when long in them; else an ace, else low from the longest side suit."""
    trumps = Hand(position.allowed & position.trumps)
    side = cards_in(Hand(position.allowed & ~position.trumps))
    if not side or trumps.bit_count() >= LONG:
        return max(cards_in(trumps), key=rank)
    aces = [card for card in side if rank(card) == Rank.ACE]
    return max(aces, key=lambda card: length(position.hand, card)) if aces else _from_longest(position.hand, side)


def _from_longest(hand: Hand, side: Iterable[Card]) -> Card:
    return max(side, key=lambda card: (length(hand, card), -rank(card)))
