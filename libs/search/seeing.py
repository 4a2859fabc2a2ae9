"""From a seat's view of Romanian Whist to the kernel's position: nothing but the view is read (P63, P71)."""

import logging
import threading
from collections.abc import Mapping
from functools import cache, lru_cache
from math import exp

from libs.engine.cards import CARD_BY_TEXT
from libs.engine.protocol import View
from libs.engine.romanian.options import Scoring
from libs.engine.romanian.scoring import points
from libs.search.habits import habits
from libs.search.playouts import compiled
from libs.search.rollouts import Rollouts
from libs.search.soundness import require_romanian, require_seed

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
        (0.29, 1.65, -5.20, 1.00, 0.44, -0.32),
        (0.35, 1.20, -2.27, 1.00, 0.35, 0.59),
        (0.45, 1.18, -0.85, 0.98, 0.29, 0.89),
        (0.54, 1.18, -0.39, 0.96, 0.27, 1.35),
        (0.63, 1.20, -0.24, 0.94, 0.26, 1.40),
        (0.70, 1.25, -0.15, 0.94, 0.23, 0.91),
        (0.93, 1.02, 0.15, 1.00, 1.00, 0.50),
    ),
    5: (
        (0.15, 2.13, 0.62, 1.02, 1.03, 0.37),
        (0.21, 1.34, -7.21, 1.01, 0.52, 0.33),
        (0.27, 0.97, -3.54, 1.00, 0.39, 0.81),
        (0.36, 0.95, -1.38, 0.95, 0.33, 1.65),
        (0.47, 1.04, -0.56, 0.90, 0.30, 2.41),
        (0.56, 1.08, -0.29, 0.87, 0.28, 2.57),
        (0.65, 1.15, -0.17, 0.85, 0.27, 2.40),
        (0.94, 0.95, 0.10, 1.00, 1.00, 0.50),
    ),
    6: (
        (0.11, 2.13, 0.69, 1.01, 1.05, 0.36),
        (0.16, 1.14, -10.51, 1.01, 0.59, 0.60),
        (0.22, 0.80, -4.86, 0.98, 0.43, 1.38),
        (0.29, 0.73, -2.22, 0.92, 0.34, 2.31),
        (0.40, 0.83, -0.86, 0.85, 0.31, 3.34),
        (0.51, 0.95, -0.38, 0.83, 0.29, 2.74),
        (0.61, 1.09, -0.20, 0.81, 0.28, 2.67),
        (0.94, 0.92, 0.05, 1.00, 1.00, 0.50),
    ),
}

# How far a bid lies above what its hand is worth: mean and standard deviation in tricks, by cards a player from one on.
# Of 9,000 bids each that keen and calm made at shared tables of four.
BIDS = ((0.0, 0.4), (0.0, 0.38), (-0.13, 0.42), (-0.2, 0.48), (-0.2, 0.52), (-0.15, 0.58), (-0.1, 0.62), (0.0, 0.8))
LIKELY_STEPS, LIKELY_ZERO = 64, 32
LIKELY_STEP = 1 / 8  # tricks
ODD, ODD_WIDTH = 0.05, 3.0  # so many bids follow a judgement of their own, and so much wider those lie

_own = threading.local()
log = logging.getLogger(__name__)


@lru_cache(maxsize=64)
def _points(scoring: str) -> list[int]:
    """R7 (or R11's triangular rule) as [bid * 9 + taken]. Premiums hang on earlier rounds and are left out."""
    rule = Scoring(scoring)
    return [points(bid, taken, rule) for bid in range(TRICKS_MAX + 1) for taken in range(TRICKS_MAX + 1)]


@lru_cache(maxsize=64)
def chances(players: int, cards: int) -> list[int]:
    """[trump * 96 + higher * 8 + lower]: a card's chance of a trick, in 1/1024, as the hand is dealt."""
    density = (players - 1) * cards / (FULL * players - cards - (cards < FULL))
    row = FITTED[players][cards - 1]
    return [
        round(UNITS * min(1.0, top * exp(-fade * density * max(0.0, higher - length * lower))))
        for top, fade, length in (row[:3], row[3:])
        for higher in range(RANKS_MAX)
        for lower in range(LANE_MAX)
    ]


@cache
def likely(cards: int) -> list[float]:
    """[32 + k]: the relative likelihood of a bid from k / 8 to (k + 1) / 8 tricks above what its hand is worth."""
    mean, spread = BIDS[cards - 1]
    away = [((step - LIKELY_ZERO + 0.5) * LIKELY_STEP - mean) / spread for step in range(LIKELY_STEPS)]
    return [exp(-(one**2) / 2) + ODD * exp(-((one / ODD_WIDTH) ** 2) / 2) for one in away]


@lru_cache(maxsize=8)
def codes(players: int) -> dict[str, int]:
    """The kernel's number of each card: ranks are counted from the lowest of the pack (R1)."""
    lowest = 15 - 2 * players
    return {text: card - lowest for text, card in CARD_BY_TEXT.items() if card & 15 >= lowest}


@lru_cache(maxsize=8)
def texts(players: int) -> dict[int, str]:
    """`codes`, the other way."""
    return {code: text for text, code in codes(players).items()}


def look(view: View, seed: int, *, believing: bool = False) -> Rollouts:
    """This thread's kernel for such a round, set to the view; `seed` 0..2^64-1.

    The view must be of a seat that is to act. Believing, deals are sampled by how likely their hands would have bid as
    they did; else every deal that the play allows is as likely as any other. Valid until the thread's next call.
    Raises ValueError when no deal agrees with the cards played, or for a view that no table shows.
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
    turned = -1 if view["trump"] is None else number[view["trump"]]
    bids = [-1 if bid is None else bid for bid in view["bids"]]
    laid = bytes([number[text] for text in plays if text is not None])
    require_seed(seed)
    require_romanian(view, bids, laid, hand, turned)
    kernel.look(view["seat"], view["dealer"], turned, hand, bids, laid, seed, believing)
    return kernel


@cache
def _say_when_interpreted() -> None:
    """Once a process: whoever reads the log should know why bots and coach are slow."""
    if not compiled():
        log.warning("search_kernel_interpreted")


def _kernel(players: int, cards: int, scoring: str) -> Rollouts:
    """Made once a thread: the kernel works without the GIL and is nobody else's meanwhile."""
    key = f"{players} {cards} {scoring}"
    kept: Rollouts | None = _own.__dict__.get(key)
    if kept is None:
        _say_when_interpreted()
        kept = Rollouts(players, cards, _points(scoring), chances(players, cards), likely(cards), habits())
        _own.__dict__[key] = kept
    return kept
