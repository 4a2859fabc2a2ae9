"""Points of a round (R7) and the house rules that change them (R11)."""

from collections.abc import Sequence

from libs.engine.romanian.options import Options, Premium, Scoring
from libs.engine.romanian.state import ScoredRound, Sheet

MADE = 5  # points for a bid made, before the tricks themselves
PREMIUM = 10
PREMIUM_RUN = 5  # rounds made, or missed, in a row; the row then starts again


def points(bid: int, taken: int, scoring: Scoring = Scoring.LINEAR) -> int:
    """R7: made 5 + bid, else minus the difference; triangular (R11) sums 1…bid or 1…difference."""
    miss = abs(taken - bid)
    if scoring is Scoring.TRIANGULAR:
        return MADE + bid * (bid + 1) // 2 if miss == 0 else -(miss * (miss + 1) // 2)
    return MADE + bid if miss == 0 else -miss


def score_round(
    cards: int, bids: Sequence[int], taken: Sequence[int], sheet: Sheet, options: Options
) -> tuple[int, ...]:
    """The round's points by seat, premiums included."""
    scores = [points(bid, won, options.scoring) for bid, won in zip(bids, taken, strict=True)]
    if options.premium is not Premium.OFF:
        for seat, (bid, won) in enumerate(zip(bids, taken, strict=True)):
            row = [(one.cards, made(one, seat)) for one in sheet]
            scores[seat] += _premium(options.premium, [*row, (cards, bid == won)])
    return tuple(scores)


def made(scored: ScoredRound, seat: int) -> bool:
    return scored.bids[seat] == scored.taken[seat]


def _premium(premium: Premium, rounds: list[tuple[int, bool]]) -> int:
    """R11: what the last of these (cards, made) rounds adds."""
    run, was_made, bonus = 0, False, 0
    for cards, is_made in rounds:
        bonus = 0
        if cards == 1:
            run = 0 if premium is Premium.RESET else run
            continue
        run = run + 1 if is_made == was_made else 1
        was_made = is_made
        if run == PREMIUM_RUN:
            run, bonus = 0, PREMIUM if is_made else -PREMIUM
    return bonus
