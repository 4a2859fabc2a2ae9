"""Who is out (K2) and the final order (K3)."""

from libs.engine.knockout.state import ScoredHand, State
from libs.engine.protocol import Seat

Sheet = tuple[ScoredHand, ...]
Key = tuple[int, int, Seat]


def score_hand(state: State) -> ScoredHand:
    """K2: who took nothing is out, or a dog if this is the game's first such hand and another hand follows."""
    play, deal = state.play, state.deal
    assert play is not None and play.trump is not None and deal is not None
    took = [bool(taken) for taken in play.taken]
    none = [alive and not won for alive, won in zip(state.alive, took, strict=True)]
    first = not any(loses_somebody(hand) for hand in state.sheet)
    reprieved = state.options.dogs_life and first and deal.cards > 1
    return ScoredHand(
        cards=deal.cards,
        dealer=deal.dealer,
        trump=play.trump,
        sizes=deal.sizes,
        taken=play.taken,
        alive=state.alive if reprieved else tuple(took),
        dogs=tuple(reprieved and one for one in none),
    )


def loses_somebody(hand: ScoredHand) -> bool:
    """Whether somebody who had cards took no trick."""
    return any(size and not taken for size, taken in zip(hand.sizes, hand.taken, strict=True))


def key(sheet: Sheet, seat: Seat) -> Key:
    """K3, smaller is better: hands survived, tricks in all, seat."""
    survived = sum(hand.alive[seat] for hand in sheet)
    return -survived, -sum(hand.taken[seat] for hand in sheet), seat


def ranking(sheet: Sheet) -> tuple[Seat, ...]:
    """Seats, best first."""
    return tuple(sorted(range(len(sheet[0].taken)), key=lambda seat: key(sheet, seat)))
