"""The final order: one key of seven steps, so that there is never a tie (R9)."""

from libs.engine.protocol import Seat
from libs.engine.romanian.schedule import FULL
from libs.engine.romanian.state import Sheet

Key = tuple[int, int, int, int, int, tuple[int, ...], int]


def key(sheet: Sheet, seat: Seat) -> Key:
    """Smaller is better: R9's steps 1 to 7 in order. The sheet must not be empty."""
    rounds = [(one.cards, one.bids[seat], one.taken[seat]) for one in sheet]
    misses = [abs(taken - bid) for _, bid, taken in rounds if taken != bid]
    return (
        -sheet[-1].totals[seat],
        len(misses),
        sum(1 for cards, bid, taken in rounds if cards == FULL and taken != bid),
        sum(max(0, bid - taken) for _, bid, taken in rounds),
        max(misses, default=0),
        tuple(-one.totals[seat] for one in reversed(sheet)),
        seat,
    )


def ranking(sheet: Sheet) -> tuple[Seat, ...]:
    """Seats, best first."""
    return tuple(sorted(range(len(sheet[-1].totals)), key=lambda seat: key(sheet, seat)))


def decided_by(sheet: Sheet, a: Seat, b: Seat) -> int:
    """Which of R9's seven steps (1..7) parts two different seats."""
    pairs = zip(key(sheet, a), key(sheet, b), strict=True)
    return next(step for step, (one, other) in enumerate(pairs, start=1) if one != other)
