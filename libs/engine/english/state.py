"""A match of English Whist at one moment. Seats {0, 2} are side 0, seats {1, 3} side 1 (W1)."""

from typing import NamedTuple

from libs.engine.cards import Card, Suit
from libs.engine.english.options import PLAYERS, Options
from libs.engine.protocol import Seat
from libs.engine.tricks.play import Play

Side = int  # 0 or 1


def side_of(seat: Seat) -> Side:
    return seat % 2


class Pair(NamedTuple):
    """One number a side."""

    zero: int
    one: int

    def plus(self, side: Side, more: int) -> "Pair":
        return Pair(self.zero + more, self.one) if side == 0 else Pair(self.zero, self.one + more)


NONE = Pair(0, 0)


class ScoredHand(NamedTuple):
    """One hand on the score sheet."""

    dealer: Seat
    trump: Suit
    void: bool  # W8: no score; tricks are those taken until then
    tricks: Pair  # after tricks moved by a penalty
    honours: Pair  # honours held as dealt; 0 where they do not count
    penalty: Pair  # points, 0 or negative
    points: Pair  # all points of the hand
    score: Pair  # of the running game, after the hand
    won: Side | None  # who won a game by this hand


class Deal(NamedTuple):
    """What the deal fixed."""

    number: int  # 0-based, across the games of a rubber
    dealer: Seat
    turn_up: Card
    honours: Pair  # held as dealt: secret until the hand is scored (W3)


class Proof(NamedTuple):
    """W7: a proven revoke whose penalty is to be chosen. A swing is points gained against the other side."""

    seat: Seat  # who claimed first, and chooses
    points_swing: int
    tricks_swing: int


class State(NamedTuple):
    """The whole match. `deal` and `play` stay in place after the hand until the next deal."""

    options: Options
    first_dealer: Seat | None  # None until drawn
    sheet: tuple[ScoredHand, ...]
    deal: Deal | None
    play: Play | None
    revoked: tuple[bool, ...]  # by side; never shown (W7)
    claiming: bool  # W7: the thirteen tricks are over and claims are open
    claims: tuple[bool | None, ...]  # by seat
    proof: Proof | None
    turn: int
    ranking: tuple[Seat, ...] | None

    @property
    def live(self) -> Play | None:
        """The hand in play: dealt and not yet scored."""
        return None if self.deal is None or self.deal.number < len(self.sheet) else self.play

    @property
    def score(self) -> Pair:
        """The running game's; both start at 0 (W5)."""
        return self.sheet[-1].score if self.sheet and self.sheet[-1].won is None else NONE

    @property
    def games(self) -> Pair:
        won = [hand.won for hand in self.sheet]
        return Pair(won.count(0), won.count(1))

    @property
    def phase(self) -> str:
        if self.ranking is not None:
            return "over"
        if self.live is None:
            return "draw"
        return "claim" if self.claiming else "play"

    @property
    def to_act(self) -> Seat | None:
        if self.live is None:
            return None
        if not self.claiming:
            return self.live.to_act
        assert self.deal is not None
        return self.proof.seat if self.proof else next_claimant(self.claims, self.deal.dealer)


def next_claimant(claims: tuple[bool | None, ...], dealer: Seat) -> Seat | None:
    """W7: asked clockwise from the dealer's left; a side that has claimed is asked no more."""
    for step in range(1, PLAYERS + 1):
        seat = (dealer + step) % PLAYERS
        if claims[seat] is None and not claims[(seat + 2) % PLAYERS]:
            return seat
    return None
