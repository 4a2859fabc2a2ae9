"""A match of Solo Whist at one moment, and what a table may choose."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from libs.engine.cards import Card, Suit, suit_of
from libs.engine.protocol import Seat
from libs.engine.solo.auction import PLAYERS, TERMS, Call, Called, Standing, Trumps, standing
from libs.engine.tricks.choices import Fields, read_options
from libs.engine.tricks.play import Play

HAND_SIZE: Final = 13
FIELDS: Final[Fields] = {"hands": (16, 4, 8, 12)}  # L4; shorter matches are whole turns of the deal


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """A table's choices."""

    hands: int

    def dump(self) -> dict[str, Any]:
        """Plain form; `parse_options` reads it back."""
        return {"hands": self.hands}


def parse_options(players: object, plain: Mapping[str, object]) -> Options:
    """Raises RuleViolation(BAD_OPTIONS) naming the field."""
    return Options(**read_options(players, plain, seats=(PLAYERS,), fields=FIELDS))


class ScoredHand(NamedTuple):
    """One hand on the score sheet; tuples are by seat."""

    dealer: Seat
    bid: Call | None  # None: thrown in (L3)
    declarer: Seat | None
    partner: Seat | None
    trump: Suit | None
    taken: tuple[int, ...]
    made: bool
    levels: tuple[int, ...]  # each seat's highest call
    units: tuple[int, ...]

    @property
    def sides(self) -> tuple[Seat, ...]:
        """The seats of the contract."""
        return tuple(seat for seat in (self.declarer, self.partner) if seat is not None)


class Deal(NamedTuple):
    """What the deal fixed."""

    number: int  # 0-based
    dealer: Seat
    turn_up: Card


class State(NamedTuple):
    """The whole match. `play` stays in place after the hand until the next deal."""

    options: Options
    first_dealer: Seat | None
    sheet: tuple[ScoredHand, ...]
    deal: Deal | None
    calls: tuple[Called, ...]
    named: Suit | None  # an abundance's trumps (L2)
    play: Play | None
    opened: bool  # L2: the open misère's hand is shown
    turn: int
    ranking: tuple[Seat, ...] | None

    @property
    def live(self) -> Play | None:
        """The hand in play: dealt and not yet scored."""
        return None if self.deal is None or self.deal.number < len(self.sheet) else self.play

    @property
    def auction(self) -> Standing:
        """Of the hand on the table."""
        assert self.deal is not None
        return standing(self.calls, self.deal.dealer)

    @property
    def naming(self) -> bool:
        """The declarer of an abundance is to name trumps."""
        auction, bid = self.auction, self.auction.bid
        ended = auction.to_act is None and auction.contract
        return bid is not None and ended and self.named is None and TERMS[bid].trumps is Trumps.OWN

    @property
    def phase(self) -> str:
        """The auction and the naming of trumps are "bid"."""
        if self.ranking is not None:
            return "over"
        if self.live is None:
            return "draw"
        auction = self.auction
        return "bid" if auction.to_act is not None or self.naming or not auction.contract else "play"

    @property
    def to_act(self) -> Seat | None:
        if self.live is None:
            return None
        auction = self.auction
        if auction.to_act is not None:
            return auction.to_act
        return auction.declarer if self.naming else self.live.to_act

    @property
    def totals(self) -> tuple[int, ...]:
        return tuple(sum(hand.units[seat] for hand in self.sheet) for seat in range(PLAYERS))


def trump_of(bid: Call, turn_up: Card, named: Suit | None) -> Suit | None:
    """L2: the contract's trump suit."""
    match TERMS[bid].trumps:
        case Trumps.TURN_UP:
            return suit_of(turn_up)
        case Trumps.OWN:
            return named
        case Trumps.NONE:
            return None


def leader(bid: Call, declarer: Seat, dealer: Seat) -> Seat:
    """L4: the dealer's left, but the declarer in abundance declared."""
    return declarer if bid is Call.ABUNDANCE_DECLARED else (dealer + 1) % PLAYERS
