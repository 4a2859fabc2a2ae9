"""Prizes, experience and points go only to players who bid themselves (P16)."""

from typing import Literal

Kind = Literal["quick", "friends", "offline"]


def minimum_bids(kind: Kind, rounds: int) -> int:
    """Own bids needed: two thirds of the rounds in quick play, three quarters elsewhere, rounded up.

    4 of 6, 20 of 30; friends 18 of 24, 21 of 27, 23 of 30.
    """
    numerator, denominator = (2, 3) if kind == "quick" else (3, 4)
    return -(-rounds * numerator // denominator)


def counts(kind: Kind, rounds: int, own_bids: int, bid_lately: bool) -> bool:
    """Whether a game counts for a player who bid in `own_bids` of `rounds`, `bid_lately` in one of the last three.

    A game without rounds counts for nobody.
    """
    return rounds > 0 and bid_lately and own_bids >= minimum_bids(kind, rounds)
