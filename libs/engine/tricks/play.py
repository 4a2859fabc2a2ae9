"""The cards of one hand on the table, for the games of S1; the trick may skip seats (K2).

Older tricks lie face down (W2): the state keeps the last one alone, so that no view can show more.
"""

from typing import NamedTuple

from libs.engine.cards import NO_CARDS, SUIT_MASKS, SUITS, Card, Hand, Suit, suit_of
from libs.engine.errors import RuleViolation
from libs.engine.protocol import Seat
from libs.engine.tricks.rules import follow_suit, winning_position


class Laid(NamedTuple):
    """One card of a trick and who played it."""

    seat: Seat
    card: Card


class Trick(NamedTuple):
    """A finished trick in order of play."""

    laid: tuple[Laid, ...]
    winner: Seat


class Play(NamedTuple):
    """Hands and tricks of one deal; tuples are by seat."""

    hands: tuple[Hand, ...]
    trump: Suit | None
    lead: Seat  # who leads, or led, the trick on the table
    trick: tuple[Laid, ...]  # in order of play
    last: Trick | None  # until the next lead (W2)
    taken: tuple[int, ...]
    to_act: Seat | None  # None: a trick or the hand is being counted

    @property
    def trumps(self) -> Hand:
        """Every card of the trump suit; empty without trump."""
        return NO_CARDS if self.trump is None else SUIT_MASKS[SUITS.index(self.trump)]

    @property
    def led(self) -> Card | None:
        return self.trick[0].card if self.trick else None

    @property
    def done(self) -> int:
        """Tricks finished."""
        return sum(self.taken)

    @property
    def counts(self) -> list[int]:
        """Cards held, by seat: public."""
        return [hand.bit_count() for hand in self.hands]


def opening(hands: tuple[Hand, ...], trump: Suit | None, lead: Seat) -> Play:
    """The table before the first lead."""
    return Play(hands=hands, trump=trump, lead=lead, trick=(), last=None, taken=(0,) * len(hands), to_act=lead)


def check_held(play: Play, seat: Seat, card: Card) -> None:
    """Raises CARD_NOT_HELD."""
    if not play.hands[seat] >> card & 1:
        raise RuleViolation("CARD_NOT_HELD")


def check_follows(play: Play, seat: Seat, card: Card) -> None:
    """Raises CARD_NOT_HELD or MUST_FOLLOW_SUIT."""
    check_held(play, seat, card)
    if revokes(play, seat, card):
        assert play.led is not None, "any card may be led"
        raise RuleViolation("MUST_FOLLOW_SUIT", suit=suit_of(play.led).value)


def revokes(play: Play, seat: Seat, card: Card) -> bool:
    """Whether the card is not of the suit led although the hand could follow."""
    return not follow_suit(play.hands[seat], play.led) >> card & 1


def winner_with(play: Play, laid: Laid | None = None) -> Seat:
    """Who takes the trick on the table, once that card too lies on it."""
    trick = play.trick if laid is None else (*play.trick, laid)
    return trick[winning_position([one.card for one in trick], play.trumps)].seat


def clockwise(play: Play, seat: Seat) -> Seat | None:
    """Who plays after `seat`, where every seat plays to every trick; None: `seat` plays last."""
    players = len(play.hands)
    return (seat + 1) % players if len(play.trick) + 1 < players else None


def lay(play: Play, seat: Seat, card: Card, then: Seat | None) -> Play:
    """The card goes from the hand to the trick; `then` is to act. The next lead turns the last trick down."""
    hands = list(play.hands)
    hands[seat] = Hand(hands[seat] & ~(1 << card))
    return Play(
        hands=tuple(hands),
        trump=play.trump,
        lead=play.lead if play.trick else seat,
        trick=(*play.trick, Laid(seat, card)),
        last=play.last if play.trick else None,
        taken=play.taken,
        to_act=then,
    )


def gather(play: Play, winner: Seat, then: Seat | None) -> Play:
    """The trick goes to its winner; `then` leads the next, None when no card is left."""
    taken = list(play.taken)
    taken[winner] += 1
    return Play(
        hands=play.hands,
        trump=play.trump,
        lead=winner if then is None else then,
        trick=(),
        last=Trick(laid=play.trick, winner=winner),
        taken=tuple(taken),
        to_act=then,
    )


def winner_leads(play: Play, winner: Seat) -> Seat | None:
    """Who leads next where everybody holds as many cards as everybody else."""
    return winner if play.hands[winner] else None
