"""Bids (R5): once each from the dealer's left, and the dealer may not make the sum come out."""

from collections.abc import Sequence

from libs.engine.errors import RuleViolation
from libs.engine.protocol import Seat
from libs.engine.romanian.events import BidPlaced
from libs.engine.romanian.state import Round


def barred_bid(bids: Sequence[int | None], dealer: Seat, cards: int) -> int | None:
    """The one bid that the dealer may not make; None unless the dealer alone is left to bid."""
    if bids[dealer] is not None:
        return None
    others = [bid for bid in bids if bid is not None]
    rest = cards - sum(others)
    return rest if len(others) == len(bids) - 1 and rest >= 0 else None


def legal_bids(cards: int, barred: int | None) -> list[int]:
    """0…cards without the barred one; never empty."""
    return [bid for bid in range(cards + 1) if bid != barred]


def decide_bid(current: Round, seat: Seat, bid: int) -> BidPlaced:
    """Raises BID_OUT_OF_RANGE or BID_BARRED."""
    deal = current.deal
    if not 0 <= bid <= deal.cards:
        raise RuleViolation("BID_OUT_OF_RANGE", least=0, most=deal.cards)
    if bid == barred_bid(current.bids, deal.dealer, deal.cards):
        raise RuleViolation("BID_BARRED", barred=bid)
    return BidPlaced(seat=seat, bid=bid)
