"""When a hand is decided, its units (L2), and the match's ranking (L4)."""

from libs.engine.protocol import Seat
from libs.engine.solo.auction import LEVEL, PLAYERS, TERMS, Call
from libs.engine.solo.state import HAND_SIZE, ScoredHand, State

Sheet = tuple[ScoredHand, ...]
Key = tuple[int, int, int, Seat]


def decided(state: State) -> bool:
    """L4: after thirteen tricks; misères and abundance declared as soon as they are lost."""
    play, auction = state.play, state.auction
    assert play is not None and auction.bid is not None and auction.declarer is not None
    taken = play.taken[auction.declarer]
    if TERMS[auction.bid].tricks == 0 and taken:
        return True
    if auction.bid is Call.ABUNDANCE_DECLARED and taken < play.done:
        return True
    return play.done == HAND_SIZE


def score_hand(state: State) -> ScoredHand:
    """The decided hand; over-tricks score nothing (L4)."""
    play, auction, deal = state.play, state.auction, state.deal
    assert play is not None and deal is not None and auction.bid is not None and auction.declarer is not None
    terms = TERMS[auction.bid]
    side = {auction.declarer} if auction.partner is None else {auction.declarer, auction.partner}
    taken = sum(play.taken[seat] for seat in side)
    made = taken == 0 if terms.tricks == 0 else taken >= terms.tricks
    # Each of the side settles with as many opponents as there are to each of it: three, or one.
    against = (PLAYERS - len(side)) // len(side)
    gain = terms.units if made else -terms.units
    return ScoredHand(
        dealer=deal.dealer,
        bid=auction.bid,
        declarer=auction.declarer,
        partner=auction.partner,
        trump=play.trump,
        taken=play.taken,
        made=made,
        levels=_levels(state),
        units=tuple(gain * against if seat in side else -gain for seat in range(PLAYERS)),
    )


def thrown_in(state: State) -> ScoredHand:
    """L3: no contract, no units; the hand counts."""
    assert state.deal is not None
    nothing = (0,) * PLAYERS
    return ScoredHand(
        dealer=state.deal.dealer,
        bid=None,
        declarer=None,
        partner=None,
        trump=None,
        taken=nothing,
        made=False,
        levels=_levels(state),
        units=nothing,
    )


def _levels(state: State) -> tuple[int, ...]:
    return tuple(max(LEVEL[one.call] for one in state.calls if one.seat == seat) for seat in range(PLAYERS))


def key(sheet: Sheet, seat: Seat) -> Key:
    """L4, smaller is better: units, contracts made, fewer lost, seat."""
    own = [hand.made for hand in sheet if seat in hand.sides]
    return -sum(hand.units[seat] for hand in sheet), -own.count(True), own.count(False), seat


def ranking(sheet: Sheet) -> tuple[Seat, ...]:
    """Seats, best first."""
    return tuple(sorted(range(PLAYERS), key=lambda seat: key(sheet, seat)))
