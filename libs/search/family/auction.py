"""Solo Whist's auction (L1-L3): what a contract earns by sampled deals, and what calls say about hands."""

from collections.abc import Mapping
from functools import lru_cache
from math import exp
from typing import Final

from libs.engine.bots.solo import best_suit, tricks
from libs.engine.cards import SUITS, Suit, hand_of, parse_card
from libs.engine.protocol import Seat, View
from libs.engine.solo.auction import PLAYERS, TERMS, Call, Trumps
from libs.engine.solo.state import HAND_SIZE, leader
from libs.search.family.rollouts import FamilyRollouts
from libs.search.family.seeing import LANE, NO_TRUMP, look, suit_of, weights

START: Final = 69  # the kernel's action: play it out as it stands
UNIT: Final = 100  # the kernel's worth
NOBODY: Final = 7  # the kernel's seat that must take no trick, where the contract is no misère
LEAN: Final[Mapping[Call, float]] = {  # how much a call speaks for high cards and trumps: of the weight's logarithm
    Call.PASS: -0.15,
    Call.ACCEPTANCE: 0.3,
    Call.PROPOSAL: 0.35,
    Call.SOLO: 0.6,
    Call.MISERE: -1.0,
    Call.ABUNDANCE: 0.8,
    Call.ROYAL_ABUNDANCE: 0.8,
    Call.OPEN_MISERE: -1.2,
    Call.ABUNDANCE_DECLARED: 1.2,
}
MIDDLE: Final = 6  # the rank, an eight, of which no call says anything
TRUMP_LEAN: Final = 0.5  # what a trump speaks more than the same rank of a side suit
HOPE: Final[Mapping[Call, float]] = {  # tricks by calm's count below which a contract is not even tried
    Call.PROPOSAL: 2.0,
    Call.ACCEPTANCE: 1.8,
    Call.SOLO: 3.0,
    Call.ABUNDANCE: 6.0,
    Call.ROYAL_ABUNDANCE: 6.0,
    Call.ABUNDANCE_DECLARED: 4.0,  # without trumps calm counts no length
}
DOUBT: Final[Mapping[Call, float]] = {  # units that rollouts promise too much: found by play against calm
    Call.PROPOSAL: 0.1,
    Call.ACCEPTANCE: 0.1,
    Call.SOLO: -0.1,
    Call.MISERE: 0.6,
    Call.ABUNDANCE: 0.1,
    Call.ROYAL_ABUNDANCE: 0.1,
    Call.OPEN_MISERE: 2.2,
    Call.ABUNDANCE_DECLARED: 0.1,
}


def call(view: View, deals: int, seed: int) -> Call:
    """The call that earns most, so many deals to each contract; to pass earns nothing and is best in doubt."""
    hand = hand_of(map(parse_card, view["hand"]))
    best, most = Call.PASS, 0.0
    for action in view["legal"]:
        one = Call(action["call"])
        if one is Call.PASS:
            continue
        trump = _trump(one, view, best_suit(hand))
        if tricks(hand, trump) < HOPE.get(one, 0.0):
            continue
        earns = _earns(view, one, trump, deals, seed) - DOUBT[one]
        if earns > most:
            best, most = one, earns
    return best


def aim(kernel: FamilyRollouts, bid: Call, declarer: Seat, partner: Seat | None, me: Seat) -> None:
    """Play for the contract's units (L2), in UNITs to the own seat and opponent; over-tricks count next to nothing."""
    side = 1 << declarer | (0 if partner is None else 1 << partner)
    others = (1 << PLAYERS) - 1 ^ side
    terms, sign = TERMS[bid], 1 if side >> me & 1 else -1
    misere = terms.tricks == 0
    worth = [
        terms.units * UNIT * (1 if (won == 0 if misere else won >= terms.tricks) else -1) + (0 if misere else 2 * won)
        for won in range(27)  # the kernel's entries; a side of Solo uses fourteen
    ]
    kernel.aim(
        [side if side >> seat & 1 else others for seat in range(PLAYERS)],
        side,
        [sign * one for one in worth],
        declarer if misere else NOBODY,
        side if misere else others if bid is Call.ABUNDANCE_DECLARED else 0,
    )


def beliefs(view: View) -> list[int]:
    """`weights`, and what each seat's last call says, the less the fewer cards it holds."""
    table = weights(view)
    trump = suit_of(view["trump_suit"] or (view["trump"] and view["trump"][-1]))
    for seat, said in {seat: Call(said) for seat, said in view["calls"]}.items():
        of_contract = seat in (view["declarer"], view["partner"])
        if seat != view["seat"] and not (said is Call.PASS and of_contract):
            _lean(table, seat, said, view["counts"][seat], trump)
    return table


def _trump(one: Call, view: View, own: Suit) -> Suit | None:
    match Trumps.TURN_UP if one is Call.ACCEPTANCE else TERMS[one].trumps:
        case Trumps.TURN_UP:
            return Suit(view["trump"][-1])
        case Trumps.OWN:
            return own
        case Trumps.NONE:
            return None


def _earns(view: View, one: Call, trump: Suit | None, deals: int, seed: int) -> float:
    """Units that the contract is expected to bring the caller; a proposal is taken to be accepted opposite."""
    me, opposite = view["seat"], (view["seat"] + 2) % PLAYERS
    accepts = one is Call.ACCEPTANCE
    bid = Call.PROPOSAL if accepts else one
    declarer: Seat = view["declarer"] if accepts else me
    partner = me if accepts else opposite if one is Call.PROPOSAL else None
    suit = NO_TRUMP if trump is None else SUITS.index(trump)
    kernel = look(view, seed, trump=suit, left=HAND_SIZE, first=leader(bid, declarer, view["dealer"]))
    aim(kernel, bid, declarer, partner, me)
    table = beliefs(view)
    if one is Call.PROPOSAL:
        _lean(table, opposite, Call.ACCEPTANCE, HAND_SIZE, suit)
    kernel.believe(table)
    earned: int = kernel.attempt([START], deals, 0)[0]
    return earned / deals / UNIT


def _lean(table: list[int], seat: Seat, said: Call, cards: int, trump: int) -> None:
    row = seat * LANE
    for at, factor in enumerate(_factors(said, cards, trump), start=row):
        table[at] = round(table[at] * factor)


@lru_cache(maxsize=1_024)  # nine calls, thirteen sizes of hand, five trumps
def _factors(said: Call, cards: int, trump: int) -> tuple[float, ...]:
    """What the call makes of each card's weight."""
    lean = LEAN[said] * cards / HAND_SIZE
    return tuple(
        exp(lean * ((rank - MIDDLE) / MIDDLE + (TRUMP_LEAN if suit == trump else 0)))
        for suit in range(4)
        for rank in range(16)
    )
