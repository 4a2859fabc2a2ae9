"""From a seat's view of Romanian Whist to the kernel's position: nothing but the view is read (P63, P71)."""

import threading
from collections.abc import Mapping
from functools import lru_cache
from math import exp

from libs.engine.cards import CARD_BY_TEXT
from libs.engine.protocol import View
from libs.engine.romanian.options import Scoring
from libs.engine.romanian.scoring import points
from libs.search.rollouts import Rollouts

FULL = 8  # cards a player with which the whole pack is dealt: no trump (R4)
TRICKS_MAX = 8
RANKS_MAX = 12  # in a suit, at six players
LANE_MAX = 8  # of one suit in one hand
UNITS = 1024  # the kernel's fraction of a trick

# A card's chance of a trick is top * exp(-fade * density * max(0, higher - length * lower)): `higher` cards of its suit
# not in the hand, `lower` ones in it, `density` the chance that an unseen card is in another hand. By players, then
# cards a player: top, fade, length of a side suit, then of trumps. A long side suit is ruffed, so its length is
# negative. Fitted to the tricks that 20,000 rounds of each kind gave when everybody played by the kernel's rule.
FITTED: Mapping[int, tuple[tuple[float, ...], ...]] = {
    4: (
        (0.21, 2.29, 0.20, 1.00, 0.97, 0.48),
        (0.30, 1.49, -5.73, 0.98, 0.48, 0.04),
        (0.39, 1.30, -2.20, 1.00, 0.34, 0.08),
        (0.48, 1.16, -1.37, 0.99, 0.26, 0.00),
        (0.58, 0.98, -1.20, 0.99, 0.23, -0.04),
        (0.69, 0.81, -1.14, 0.98, 0.22, -0.06),
        (0.77, 0.69, -1.08, 0.98, 0.20, -0.11),
        (0.91, 0.57, -0.36, 1.00, 1.00, 0.50),
    ),
    5: (
        (0.15, 2.13, 0.62, 1.02, 1.03, 0.37),
        (0.21, 1.32, -7.30, 0.99, 0.51, 0.10),
        (0.28, 1.15, -3.05, 1.00, 0.35, -0.10),
        (0.37, 1.04, -1.95, 1.00, 0.27, -0.05),
        (0.47, 0.90, -1.55, 0.98, 0.23, -0.04),
        (0.59, 0.75, -1.42, 0.96, 0.20, -0.09),
        (0.69, 0.62, -1.41, 0.96, 0.19, -0.13),
        (0.99, 0.47, -0.79, 1.00, 1.00, 0.50),
    ),
    6: (
        (0.11, 2.13, 0.69, 1.01, 1.05, 0.36),
        (0.16, 1.17, -9.93, 1.00, 0.56, 0.16),
        (0.21, 1.01, -3.88, 1.00, 0.36, -0.08),
        (0.28, 0.90, -2.57, 0.99, 0.27, -0.08),
        (0.38, 0.81, -1.91, 0.97, 0.22, -0.03),
        (0.51, 0.70, -1.76, 0.95, 0.19, -0.07),
        (0.62, 0.58, -1.72, 0.94, 0.18, -0.14),
        (1.02, 0.41, -1.17, 1.00, 1.00, 0.50),
    ),
}

WILL = 0.7  # chance that a seat uses a card that wins
BID_SPREAD = 0.8  # tricks: how far a bid lies from what its hand is worth (standard deviation)
LIKELY_STEPS = 32
LIKELY_STEP = 1 / 8  # tricks

_own = threading.local()


@lru_cache(maxsize=64)
def _points(scoring: str) -> list[int]:
    """R7 (or R11's triangular rule) as [bid * 9 + taken]. Premiums hang on earlier rounds and are left out."""
    rule = Scoring(scoring)
    return [points(bid, taken, rule) for bid in range(TRICKS_MAX + 1) for taken in range(TRICKS_MAX + 1)]


@lru_cache(maxsize=64)
def chances(players: int, cards: int) -> list[int]:
    """[(left - 1) * 192 + trump * 96 + higher * 8 + lower]: chance of a trick in 1/1024 with `left` cards in hand."""
    return [
        _chance(players, cards, left, trump, higher, lower)
        for left in range(1, TRICKS_MAX + 1)
        for trump in (0, 1)
        for higher in range(RANKS_MAX)
        for lower in range(LANE_MAX)
    ]


def _chance(players: int, cards: int, left: int, trump: int, higher: int, lower: int) -> int:
    others, left = players - 1, min(left, cards)
    undealt = players * (FULL - cards) - (cards < FULL)
    density = left * others / (left * others + undealt)
    kind = FULL if cards == FULL else left  # a round without trump stays one to its end
    top, fade, length = FITTED[players][kind - 1][3 * trump : 3 * trump + 3]
    return round(UNITS * min(1.0, top * exp(-fade * density * max(0.0, higher - length * lower))))


@lru_cache(maxsize=64)
def standing(players: int, cards: int) -> list[int]:
    """[trump * 72 + higher * 6 + after]: chance, in 1/1024, that a winning card is not beaten by so many who follow."""
    share = cards / (8 * players - cards - (cards < FULL))
    suit = 2 * players
    ruffed = (1 - share) ** (suit - 2) * (1 - (1 - share) ** (suit - 1)) if cards < FULL else 0.0
    return [
        round(UNITS * (1 - WILL * (1 - (1 - share) ** higher) - (0.0 if trump else ruffed)) ** after)
        for trump in (False, True)
        for higher in range(RANKS_MAX)
        for after in range(6)
    ]


LIKELY = [max(0.01, exp(-((step * LIKELY_STEP / BID_SPREAD) ** 2) / 2)) for step in range(LIKELY_STEPS)]


@lru_cache(maxsize=8)
def codes(players: int) -> dict[str, int]:
    """The kernel's number of each card: ranks are counted from the lowest of the pack (R1)."""
    lowest = 15 - 2 * players
    return {text: card - lowest for text, card in CARD_BY_TEXT.items() if card & 15 >= lowest}


@lru_cache(maxsize=8)
def texts(players: int) -> dict[int, str]:
    """`codes`, the other way."""
    return {code: text for text, code in codes(players).items()}


def look(view: View, seed: int) -> Rollouts:
    """This thread's kernel for such a round, set to the view; `seed` 0..2^64-1.

    The view must be of a seat that is to act. Valid until the thread's next call. Raises ValueError when no deal
    agrees with the cards played.
    """
    players, cards = view["players"], view["cards"]
    kernel = _kernel(players, cards, view["options"]["scoring"])
    number = codes(players)
    plays: list[str] = []
    for trick in (*view["tricks"], view["trick"]):
        lead = trick["lead"] or 0
        shown = trick["cards"]
        plays += shown[lead:]
        plays += shown[:lead]
    hand = 0
    for text in view["hand"]:
        hand |= 1 << number[text]
    trump = view["trump"]
    kernel.look(
        view["seat"],
        view["dealer"],
        -1 if trump is None else number[trump],
        hand,
        [-1 if bid is None else bid for bid in view["bids"]],
        bytes([number[text] for text in plays if text is not None]),
        seed,
    )
    return kernel


def _kernel(players: int, cards: int, scoring: str) -> Rollouts:
    """Made once a thread: the kernel works without the GIL and is nobody else's meanwhile."""
    key = f"{players} {cards} {scoring}"
    kept: Rollouts | None = _own.__dict__.get(key)
    if kept is None:
        kept = Rollouts(players, cards, _points(scoring), chances(players, cards), standing(players, cards), LIKELY)
        _own.__dict__[key] = kept
    return kept
