"""The pack of 52 and how it is dealt (W1, K1, G1); the draws that every game of S1 makes."""

from collections.abc import Sequence
from typing import Final

from libs.engine.cards import CARDS, Card, Hand, hand_of
from libs.engine.protocol import Draw, Seat

PACK: Final = CARDS  # a shuffle is a permutation of these indices
DEALER: Final = "dealer"


def dealer_draw(players: int) -> Draw:
    """The first dealer (W2); the seat is the permutation's first value."""
    return Draw(label=DEALER, size=players)


def deal_draw(index: int) -> Draw:
    """The shuffle of the deal with that 0-based index: "deal/1", "deal/2", …"""
    return Draw(label=f"deal/{index + 1}", size=len(PACK))


def check_order(draw: Draw | None, order: Sequence[int]) -> Draw:
    """Raises ValueError if `order` is not a permutation for the draw that is due."""
    if draw is None or sorted(order) != list(range(draw.size)):
        raise ValueError(f"not a permutation for {draw}")
    return draw


def shuffled(order: Sequence[int]) -> list[Card]:
    """The pack in dealing order, its first card goes to the dealer's left."""
    return [PACK[index] for index in order]


def deal_round(pack: Sequence[Card], dealer: Seat, sizes: Sequence[int]) -> tuple[tuple[Hand, ...], list[Card]]:
    """Hands by seat, dealt one card at a time clockwise from the dealer's left, and the rest of the pack.

    `sizes` are cards by seat; a seat that has its cards is passed over (K2's dogs, K1's seats that are out).
    """
    players = len(sizes)
    piles: list[list[Card]] = [[] for _ in sizes]
    rest = list(pack)
    for row in range(max(sizes)):
        for step in range(1, players + 1):
            seat = (dealer + step) % players
            if row < sizes[seat]:
                piles[seat].append(rest.pop(0))
    return tuple(hand_of(pile) for pile in piles), rest
