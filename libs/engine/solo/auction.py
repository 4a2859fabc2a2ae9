"""Calls and contracts (L1–L3), read from the list of calls alone, so that a client reads them alike."""

from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple

from libs.engine.protocol import Seat

PLAYERS: Final = 4


class Call(StrEnum):
    """Pass and acceptance, then L2's bids from low to high."""

    PASS = "pass"  # noqa: S105
    ACCEPTANCE = "acceptance"
    PROPOSAL = "proposal"
    SOLO = "solo"
    MISERE = "misere"
    ABUNDANCE = "abundance"
    ROYAL_ABUNDANCE = "royal_abundance"
    OPEN_MISERE = "open_misere"
    ABUNDANCE_DECLARED = "abundance_declared"


class Trumps(StrEnum):
    """Where a contract's trumps come from (L2)."""

    TURN_UP = "turn_up"
    OWN = "own"
    NONE = "none"


class Terms(NamedTuple):
    """A contract (L2): tricks to take, none at all in the misères; units from, or to, each opponent."""

    tricks: int
    units: int
    trumps: Trumps


TERMS: Final = {
    Call.PROPOSAL: Terms(8, 1, Trumps.TURN_UP),
    Call.SOLO: Terms(5, 1, Trumps.TURN_UP),
    Call.MISERE: Terms(0, 2, Trumps.NONE),
    Call.ABUNDANCE: Terms(9, 3, Trumps.OWN),
    Call.ROYAL_ABUNDANCE: Terms(9, 3, Trumps.TURN_UP),
    Call.OPEN_MISERE: Terms(0, 4, Trumps.NONE),
    Call.ABUNDANCE_DECLARED: Terms(13, 6, Trumps.NONE),
}
BIDS: Final = tuple(TERMS)
LEVEL: Final = {Call.PASS: 0, Call.ACCEPTANCE: 1} | {bid: level for level, bid in enumerate(BIDS, start=1)}


class Called(NamedTuple):
    """One call."""

    seat: Seat
    call: Call


class Standing(NamedTuple):
    """The auction after some calls."""

    bid: Call | None  # the highest
    declarer: Seat | None
    partner: Seat | None  # who accepted the proposal
    to_act: Seat | None  # None: the auction is over
    legal: tuple[Call, ...]

    @property
    def contract(self) -> bool:
        """Whether the bid stands; a proposal needs its acceptance (L3)."""
        return self.bid is not None and (self.bid is not Call.PROPOSAL or self.partner is not None)


@lru_cache(maxsize=1_024)  # asked several times at each card of every live table; pure, so old answers hold
def standing(calls: tuple[Called, ...], dealer: Seat) -> Standing:
    """L1 and L3: who is to call, and what."""
    passes = [0] * PLAYERS
    bid: Call | None = None
    declarer: Seat | None = None
    partner: Seat | None = None
    for seat, call in calls:
        if call is Call.PASS:
            passes[seat] += 1
        elif call is Call.ACCEPTANCE:
            partner = seat
        else:
            bid, declarer, partner = call, seat, None
    asked = calls[-1].seat if calls else dealer
    to_act = _next(asked, passes, bid, declarer, partner, (dealer + 1) % PLAYERS)
    return Standing(bid, declarer, partner, to_act, _legal(to_act, passes, bid, declarer, partner))


def _next(
    asked: Seat, passes: Sequence[int], bid: Call | None, declarer: Seat | None, partner: Seat | None, eldest: Seat
) -> Seat | None:
    unaccepted = bid is Call.PROPOSAL and partner is None
    for step in range(1, PLAYERS + 1):
        seat = (asked + step) % PLAYERS
        if seat in (declarer, partner):
            continue
        again = unaccepted and seat == eldest and passes[seat] == 1  # L3: it may accept after having passed
        if not passes[seat] or again:
            return seat
    return declarer if unaccepted and declarer is not None and not passes[declarer] else None


def _legal(
    to_act: Seat | None, passes: Sequence[int], bid: Call | None, declarer: Seat | None, partner: Seat | None
) -> tuple[Call, ...]:
    if to_act is None:
        return ()
    calls = [Call.PASS]
    if bid is Call.PROPOSAL and partner is None and to_act != declarer:
        calls.append(Call.ACCEPTANCE)
    if not passes[to_act]:
        calls += BIDS[0 if bid is None else BIDS.index(bid) + 1 :]
    return tuple(calls)
