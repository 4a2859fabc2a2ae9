"""What each legal move of a seat can expect (P60), judged by sampled deals and never by the cards as they lay."""

from dataclasses import dataclass
from math import sqrt
from typing import Any, Final

from libs.engine.protocol import Action, View
from libs.search.concealed import bid_chance, bid_points, is_concealed
from libs.search.rollouts import Rollouts
from libs.search.seeing import codes, look

SAMPLES_MAX: Final = 10**6  # half a minute; more is a typing error
SAMPLES = 1000  # a standard error of about 0.1 points
EXACT = 0  # tricks solved with all hands known: none, a person doesn't know them either
CANDIDATES = 1  # every deal that the play allows counts alike: what was bid and played is not weighed
ADVISED: Final = frozenset({"romanian"})  # the games whose every move can be told in expected points


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """One legal move."""

    action: Action
    points: float  # own expected points of the round
    error: float  # standard error of `points`
    chance: float  # that the bid is made, 0..1


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """All legal moves of one decision, and how sure the differences between them are."""

    advice: tuple[Advice, ...]  # in the order of the view's "legal"
    errors: tuple[float, ...]  # standard error of each one's distance from the best
    best: int


def advise(view: View, samples: int = SAMPLES, seed: int = 0) -> tuple[Advice, ...]:
    """Every legal move in the order of the view's "legal", over `samples` (1..10^6) deals that the view allows.

    The same for the same view and seed (0..2^64-1). Points are those of R7 (or R11's triangular rule); premiums are
    left out. Raises ValueError when the view's cards contradict each other.
    """
    return consider(view, samples, seed).advice


def consider(view: View, samples: int, seed: int) -> Thought:
    """`advise`, with the standard errors of differences: moves are played out on the same deals."""
    if not 1 <= samples <= SAMPLES_MAX:
        raise ValueError(f"{samples} samples: 1 to {SAMPLES_MAX} are possible")
    if is_concealed(view):
        return _consider_concealed(view)
    kernel = look(view, seed)
    bidding = view["phase"] == "bid"
    tried = (kernel.bid if bidding else kernel.play)(samples, CANDIDATES, EXACT)
    if len(tried) == 1 and not bidding:
        kernel.narrow(1, samples, CANDIDATES, EXACT)
    legal: list[Action] = view["legal"]
    places = [_place(view, action, tried) for action in legal]
    points, chances = kernel.worth(samples, 0.0), kernel.chance(samples)
    best = max(range(len(tried)), key=points.__getitem__)
    return Thought(
        advice=tuple(
            Advice(action=action, points=points[at], error=_error(kernel, at, at, samples), chance=chances[at])
            for action, at in zip(legal, places, strict=True)
        ),
        errors=tuple(0.0 if at == best else _error(kernel, at, best, samples) for at in places),
        best=places.index(best),
    )


def _consider_concealed(view: View) -> Thought:
    """A bid on a card that one does not see (R11): counted, not sampled, so that nothing is uncertain."""
    bids: list[int] = [action["bid"] for action in view["legal"]]
    advice = tuple(
        Advice(action={"bid": bid}, points=bid_points(view, bid), error=0.0, chance=bid_chance(view, bid))
        for bid in bids
    )
    best = max(range(len(advice)), key=lambda at: advice[at].points)
    return Thought(advice=advice, errors=(0.0,) * len(advice), best=best)


def _place(view: View, action: Action, tried: list[int]) -> int:
    """Where the move, or the card that stands for it, is among those tried."""
    if "bid" in action:
        return tried.index(action["bid"])
    number: Any = codes(view["players"])[action["play"]]
    return max(at for at, card in enumerate(tried) if card <= number)


def _error(kernel: Rollouts, one: int, other: int, samples: int) -> float:
    return sqrt(kernel.spread(one, other, samples) / samples)
