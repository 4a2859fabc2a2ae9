"""The calm player of Solo Whist: calls what its tricks are worth, then plays for or against the contract."""

from libs.engine.bots.card_play import duck, length, read, take
from libs.engine.cards import (
    NO_CARDS,
    SUIT_MASKS,
    SUITS,
    Card,
    Hand,
    Rank,
    Suit,
    card_text,
    cards_in,
    hand_of,
    parse_card,
)
from libs.engine.protocol import Action, View
from libs.engine.solo.auction import TERMS, Call

SIDE_TRICKS = {Rank.ACE: 0.9, Rank.KING: 0.6, Rank.QUEEN: 0.25}  # beside trumps, guarded
TRUMP_TRICKS = {Rank.ACE: 1.0, Rank.KING: 0.85, Rank.QUEEN: 0.6, Rank.JACK: 0.35}
FREE_LENGTH = 3  # trumps past these take a trick each
RUFF = 0.4  # a short suit while trumps are held
NEEDED = {  # tricks expected from which a call is made, dearest first
    Call.ABUNDANCE_DECLARED: 12.0,
    Call.ROYAL_ABUNDANCE: 8.0,
    Call.ABUNDANCE: 8.0,
    Call.SOLO: 4.2,
    Call.PROPOSAL: 3.2,
    Call.ACCEPTANCE: 2.8,
}
HARMLESS = (4, 7, 9)  # a suit whose lowest cards are no higher takes no trick in a misère


def choose(view: View) -> Action:
    """A legal move for the seat whose view this is; a pure function of the view."""
    hand = hand_of(map(parse_card, view["hand"]))
    if view["phase"] == "play":
        return {"play": card_text(_card(view))}
    if "trumps" in view["legal"][0]:
        return {"trumps": best_suit(hand).value}
    allowed = {Call(action["call"]) for action in view["legal"]}
    return {"call": _call(hand, Suit(view["trump"][-1]), allowed).value}


def _card(view: View) -> Card:
    me, side = view["seat"], [seat for seat in (view["declarer"], view["partner"]) if seat is not None]
    allies = side if me in side else [seat for seat in range(view["players"]) if seat not in side]
    position = read(view, allies)
    # In a misère nobody wants the trick: the others duck so that the declarer must take one.
    return duck(position) if TERMS[Call(view["bid"])].tricks == 0 else take(position)


def _call(hand: Hand, turned: Suit, allowed: set[Call]) -> Call:
    worth = {
        Call.ABUNDANCE_DECLARED: tricks(hand, None),
        Call.ABUNDANCE: tricks(hand, best_suit(hand)),
    }
    for call, needed in NEEDED.items():
        if call in allowed and worth.get(call, tricks(hand, turned)) >= needed:
            return call
    return Call.MISERE if Call.MISERE in allowed and harmless(hand) else Call.PASS


def best_suit(hand: Hand) -> Suit:
    """The suit with which the hand expects most tricks."""
    return max(SUITS, key=lambda suit: tricks(hand, suit))


def tricks(hand: Hand, trump: Suit | None) -> float:
    """Tricks that the hand expects with these trumps."""
    trumps = NO_CARDS if trump is None else Hand(hand & SUIT_MASKS[SUITS.index(trump)])
    expected = float(max(0, trumps.bit_count() - FREE_LENGTH))
    for card in cards_in(hand):
        own = bool(trumps >> card & 1)
        values = TRUMP_TRICKS if own else SIDE_TRICKS
        guarded = length(hand, card) > Rank.ACE - (card & 15)
        expected += values.get(Rank(card & 15), 0.0) if own or guarded else 0.0
    if trumps.bit_count() >= FREE_LENGTH:
        expected += RUFF * sum(1 for mask in SUIT_MASKS if (hand & mask).bit_count() <= 1)
    return expected


def harmless(hand: Hand) -> bool:
    """Whether every suit can be ducked with its lowest cards."""
    for mask in SUIT_MASKS:
        ranks = sorted(card & 15 for card in cards_in(Hand(hand & mask)))
        if any(one > most for one, most in zip(ranks, HARMLESS, strict=False)):
            return False
    return True
