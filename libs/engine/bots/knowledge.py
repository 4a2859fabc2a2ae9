"""What a seat of Romanian Whist can work out from its view: unseen cards, sizes of hands, voids."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from libs.engine.cards import (
    NO_CARDS,
    SUIT_MASKS,
    SUITS,
    Card,
    Hand,
    deck,
    hand_of,
    parse_card,
)
from libs.engine.protocol import Seat, View
from libs.engine.tricks.rules import winning_position


@dataclass(frozen=True, slots=True, kw_only=True)
class Opponent:
    """Another seat, by what it has shown."""

    seat: Seat
    cards: int  # in its hand
    void: Hand  # every suit that it has shown not to hold, as masks
    wants: bool  # still short of its bid, as far as bids are known


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """One moment as its own seat knows it."""

    hand: Hand
    trumps: Hand
    unseen: Hand  # in other hands or undealt
    trick: tuple[Card, ...]  # in order of play
    opponents: tuple[Opponent, ...]  # clockwise from own left
    after: tuple[Opponent, ...]  # those who play to this trick after us

    @property
    def hidden(self) -> int:
        """How many cards are unseen."""
        return self.unseen.bit_count()

    @property
    def density(self) -> float:
        """Chance that an unseen card is in somebody's hand."""
        held = sum(one.cards for one in self.opponents)
        return held / self.hidden if self.hidden else 0.0


def know(view: View) -> Knowledge:
    """Read a view in which its own seat is to act."""
    me, players = view["seat"], view["players"]
    hand = hand_of(map(parse_card, view["hand"]))
    trumps = NO_CARDS if (suit := view["trump_suit"]) is None else SUIT_MASKS[SUITS.index(suit)]
    piles = list(_piles(view))
    seen = hand | hand_of(card for pile in piles for _, card in pile)
    if view["trump"] is not None:
        seen |= 1 << parse_card(view["trump"])
    trick = piles[-1]
    played = {seat for seat, _ in trick}
    held = view["cards"] - len(view["tricks"])
    voids = _voids(piles, trumps, players)
    opponents = tuple(
        Opponent(
            seat=seat,
            cards=held - (seat in played),
            void=voids[seat],
            wants=view["bids"][seat] is None or view["bids"][seat] > view["taken"][seat],
        )
        for seat in ((me + step) % players for step in range(1, players))
    )
    return Knowledge(
        hand=hand,
        trumps=trumps,
        unseen=Hand(hand_of(deck(players)) & ~seen),
        trick=tuple(card for _, card in trick),
        opponents=opponents,
        after=tuple(one for one in opponents if one.seat not in played),
    )


def best_of(trick: Sequence[Card], trumps: Hand) -> Card:
    """The card that is winning so far."""
    return trick[winning_position(trick, trumps)]


def _piles(view: View) -> Iterator[list[tuple[Seat, Card]]]:
    """(seat, card) in order of play, trick by trick; the one on the table last."""
    for trick in (*view["tricks"], view["trick"]):
        lead, texts = trick["lead"] or 0, trick["cards"]
        seats = ((lead + step) % len(texts) for step in range(len(texts)))
        yield [(seat, parse_card(texts[seat])) for seat in seats if texts[seat] is not None]


def _voids(piles: list[list[tuple[Seat, Card]]], trumps: Hand, players: int) -> list[Hand]:
    """Who did not follow has none of the suit; who did not trump either has no trump (R6)."""
    voids = [NO_CARDS] * players
    for pile in piles:
        for seat, card in pile[1:]:
            led = SUIT_MASKS[pile[0][1] >> 4]
            if led >> card & 1:
                continue
            voids[seat] = Hand(voids[seat] | led)
            if not trumps >> card & 1:
                voids[seat] = Hand(voids[seat] | trumps)
    return voids
