"""From a move or a draw to its events."""

from collections.abc import Sequence

from libs.engine.cards import SUITS, Card, Suit
from libs.engine.errors import RuleViolation
from libs.engine.protocol import Action, Draw, Seat
from libs.engine.solo.auction import PLAYERS, Call
from libs.engine.solo.events import (
    CallMade,
    CardPlayed,
    DealerDrawn,
    Event,
    GameEnded,
    HandDealt,
    HandOpened,
    HandScored,
    TrickTaken,
    TrumpsNamed,
)
from libs.engine.solo.evolving import evolve
from libs.engine.solo.scoring import decided, ranking, score_hand, thrown_in
from libs.engine.solo.state import HAND_SIZE, Deal, ScoredHand, State
from libs.engine.tricks.actions import card_in, one_key, suit_in
from libs.engine.tricks.dealing import check_order, deal_draw, deal_round, dealer_draw, shuffled
from libs.engine.tricks.play import Laid, Play, check_follows, opening, winner_with
from libs.engine.tricks.rules import follow_suit
from libs.engine.tricks.showing import plays

CALL_BY_TEXT = {call.value: call for call in Call}


def due(state: State) -> Draw | None:
    """ "dealer", then "deal/1", "deal/2", …"""
    if state.ranking is not None or state.live is not None:
        return None
    return dealer_draw(PLAYERS) if state.first_dealer is None else deal_draw(len(state.sheet))


def decide_draw(state: State, order: Sequence[int]) -> tuple[Event, ...]:
    """Raises ValueError if `order` is not a permutation for the draw that is due."""
    check_order(due(state), order)
    if state.first_dealer is None:
        return (DealerDrawn(seat=order[0]),)
    pack, index = shuffled(order), len(state.sheet)
    dealer = (state.first_dealer + index) % PLAYERS
    hands, _ = deal_round(pack, dealer, [HAND_SIZE] * PLAYERS)
    dealt = state._replace(
        deal=Deal(number=index, dealer=dealer, turn_up=pack[-1]),
        calls=(),
        named=None,
        play=opening(hands, None, (dealer + 1) % PLAYERS)._replace(to_act=None),  # nobody leads before the contract
        opened=False,
    )
    return (HandDealt(state=dealt),)


def legal(state: State) -> tuple[Action, ...]:
    """Every legal move of the seat to act; empty when nobody is."""
    play = state.live
    if play is None or state.to_act is None:
        return ()
    if calls := state.auction.legal:
        return tuple([{"call": call.value} for call in calls])
    if state.naming:
        return tuple([{"trumps": suit.value} for suit in SUITS])
    return plays(follow_suit(play.hands[state.to_act], play.led))


def decide(state: State, seat: Seat, action: object) -> tuple[Event, ...]:
    """{"call": "solo"}, {"trumps": "H"} or {"play": "QH"}.

    Raises RuleViolation: BAD_ACTION, GAME_OVER, DRAW_DUE, OUT_OF_TURN, NOT_BIDDING, CALL_TOO_LOW, NOT_NAMING,
    NOT_PLAYING, CARD_NOT_HELD, MUST_FOLLOW_SUIT.
    """
    kind, value = one_key(action)
    match kind:
        case "play":
            return _decide_play(state, seat, card_in(value))
        case "call" if type(value) is str and value in CALL_BY_TEXT:
            return _decide_call(state, seat, CALL_BY_TEXT[value])
        case "trumps":
            return _decide_trumps(state, seat, suit_in(value))
        case _:
            raise RuleViolation("BAD_ACTION")


def _turn_of(state: State, seat: Seat) -> Play:
    if state.live is None:
        raise RuleViolation("DRAW_DUE" if state.ranking is None else "GAME_OVER")
    if seat != state.to_act:
        raise RuleViolation("OUT_OF_TURN", to_act=state.to_act)
    return state.live


def _decide_call(state: State, seat: Seat, call: Call) -> tuple[Event, ...]:
    _turn_of(state, seat)
    auction = state.auction
    if auction.to_act is None:
        raise RuleViolation("NOT_BIDDING")
    if call not in auction.legal:
        raise RuleViolation("CALL_TOO_LOW", allowed=[one.value for one in auction.legal])
    called = CallMade(seat=seat, call=call)
    after = evolve(state, called)
    if after.auction.to_act is not None or after.auction.contract:
        return (called,)
    return (called, *_ended(after, thrown_in(after)))


def _decide_trumps(state: State, seat: Seat, suit: Suit) -> tuple[Event, ...]:
    _turn_of(state, seat)
    if not state.naming:
        raise RuleViolation("NOT_NAMING")
    return (TrumpsNamed(seat=seat, suit=suit),)


def _decide_play(state: State, seat: Seat, card: Card) -> tuple[Event, ...]:
    play = _turn_of(state, seat)
    if state.phase != "play":
        raise RuleViolation("NOT_PLAYING")
    check_follows(play, seat, card)
    played = CardPlayed(seat=seat, card=card)
    if len(play.trick) + 1 < PLAYERS:
        return (played,)
    taken = TrickTaken(winner=winner_with(play, Laid(seat, card)))
    after = evolve(evolve(state, played), taken)
    if decided(after):
        return (played, taken, *_ended(after, score_hand(after)))
    auction, cards = after.auction, after.play
    if auction.bid is Call.OPEN_MISERE and not after.opened:
        assert auction.declarer is not None and cards is not None
        return (played, taken, HandOpened(seat=auction.declarer, hand=cards.hands[auction.declarer]))
    return (played, taken)


def _ended(state: State, hand: ScoredHand) -> tuple[Event, ...]:
    """The hand's score, and the match's end after the last one."""
    scored = HandScored(hand=hand)
    after = evolve(state, scored)
    if len(after.sheet) < after.options.hands:
        return (scored,)
    return (scored, GameEnded(ranking=ranking(after.sheet), totals=after.totals))
