"""Points of a hand, games, the rubber and its ranking (W3–W8)."""

from libs.engine.cards import Hand, Rank, Suit, card, hand_of
from libs.engine.english.options import PLAYERS, Options
from libs.engine.english.state import NONE, Pair, ScoredHand, Side, State, side_of
from libs.engine.protocol import Seat

BOOK = 6  # tricks that score nothing
HONOURS = (Rank.ACE, Rank.KING, Rank.QUEEN, Rank.JACK)
HONOUR_POINTS = {4: 4, 3: 2}
REVOKE_POINTS = 3
REVOKE_TRICKS = 3
RUBBER_BONUS = 2
POINTS, TRICKS = "points", "tricks"  # what a proven revoke may cost
PENALTIES = (POINTS, TRICKS)


def honours_held(hands: tuple[Hand, ...], trump: Suit) -> Pair:
    """W3: A K Q J of trumps that each side was dealt, the turn-up included."""
    honours = hand_of(card(trump, rank) for rank in HONOURS)
    held = [(hand & honours).bit_count() for hand in hands]
    return Pair(held[0] + held[2], held[1] + held[3])


def tricks_taken(state: State) -> Pair:
    """So far in the hand on the table."""
    assert state.play is not None
    taken = state.play.taken
    return Pair(taken[0] + taken[2], taken[1] + taken[3])


def score_hand(state: State, penalty: str | None = None, revoker: Side | None = None) -> ScoredHand:
    """W5: penalties, tricks, honours; the first side to the target at a step wins, the rest is not scored."""
    assert state.deal is not None and state.play is not None and state.play.trump is not None
    options, before = state.options, state.score
    tricks, score = tricks_taken(state), before
    if penalty == POINTS and revoker is not None:
        score = score.plus(revoker, -REVOKE_POINTS)
    if penalty == TRICKS and revoker is not None:
        moved = min(REVOKE_TRICKS, tricks[revoker])
        tricks = tricks.plus(revoker, -moved).plus(1 - revoker, moved)
    for step in (_trick_points(tricks), _honour_points(state)):
        if winner(score, options) is None:
            score = _scored(score, step, options, revoker)
    won = winner(score, options)
    return ScoredHand(
        dealer=state.deal.dealer,
        trump=state.play.trump,
        void=False,
        tricks=tricks,
        honours=state.deal.honours if options.honours else NONE,
        penalty=NONE.plus(revoker, -REVOKE_POINTS) if penalty == POINTS and revoker is not None else NONE,
        points=Pair(score.zero - before.zero, score.one - before.one),
        score=score,
        won=won,
    )


def void_hand(state: State) -> ScoredHand:
    """W8: no score; the deal passes."""
    assert state.deal is not None and state.play is not None and state.play.trump is not None
    return ScoredHand(
        dealer=state.deal.dealer,
        trump=state.play.trump,
        void=True,
        tricks=tricks_taken(state),
        honours=NONE,
        penalty=NONE,
        points=NONE,
        score=state.score,
        won=None,
    )


def _trick_points(tricks: Pair) -> Pair:
    return Pair(max(0, tricks.zero - BOOK), max(0, tricks.one - BOOK))


def _honour_points(state: State) -> Pair:
    """W3, and W4: a side one short of the target, as read before the deal, scores none."""
    assert state.deal is not None
    if not state.options.honours:
        return NONE
    points = [
        HONOUR_POINTS.get(held, 0) if had < state.options.target - 1 else 0
        for held, had in zip(state.deal.honours, state.score, strict=True)
    ]
    return Pair(*points)


def _scored(score: Pair, step: Pair, options: Options, revoker: Side | None) -> Pair:
    """W7: a revoking side cannot reach the target on that hand."""
    after = [had + more for had, more in zip(score, step, strict=True)]
    if revoker is not None:
        after[revoker] = min(after[revoker], options.target - 1)
    return Pair(*after)


def winner(score: Pair, options: Options) -> Side | None:
    """The side that is at the target; never both, since no step scores for both."""
    return next((side for side in (0, 1) if score[side] >= options.target), None)


def swing(state: State, penalty: str, revoker: Side) -> int:
    """What the penalty makes of the hand for the claiming side: its points minus the revoking side's."""
    points = score_hand(state, penalty, revoker).points
    return points[1 - revoker] - points[revoker]


def rubber_points(sheet: tuple[ScoredHand, ...], bonus_to: Side | None = None) -> Pair:
    """W6: the points scored in all games, and the rubber's bonus where it is given."""
    total = Pair(sum(hand.points.zero for hand in sheet), sum(hand.points.one for hand in sheet))
    return total if bonus_to is None else total.plus(bonus_to, RUBBER_BONUS)


def match_winner(state: State) -> Side | None:
    """W6: the side with as many games as the match asks for."""
    return next((side for side in (0, 1) if state.games[side] == state.options.games), None)


def totals(state: State) -> tuple[int, ...]:
    """By seat, each its side's points so far; with the bonus (W6) when the rubber is won."""
    bonus_to = match_winner(state) if state.options.rubber_bonus else None
    return by_seat(rubber_points(state.sheet, bonus_to))


def by_seat(pair: Pair) -> tuple[int, ...]:
    return tuple(pair[side_of(seat)] for seat in range(PLAYERS))


def ranking(winners: Side) -> tuple[Seat, ...]:
    """The winners' two seats, then the losers'; partners by seat."""
    return (winners, winners + 2, 1 - winners, 3 - winners)
