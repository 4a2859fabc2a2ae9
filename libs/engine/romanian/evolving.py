"""From one state to the next. It trusts events: they were decided before."""

from dataclasses import replace
from typing import TypeVar, assert_never

from libs.engine.cards import Hand
from libs.engine.protocol import Seat
from libs.engine.romanian.events import (
    BidPlaced,
    CardPlayed,
    DealerDrawn,
    Event,
    GameEnded,
    RoundDealt,
    RoundScored,
    ScheduleSet,
    TrickTaken,
)
from libs.engine.romanian.state import Deal, Round, ScoredRound, State, Trick

Value = TypeVar("Value")


def evolve(state: State, event: Event) -> State:  # noqa: PLR0911
    """The state after the event; the given one is untouched."""
    match event:
        case CardPlayed():
            return _moved(state, _card_played(_round(state), event, state.setup.players))
        case TrickTaken():
            return _with_round(state, _trick_taken(_round(state), event))
        case BidPlaced():
            return _moved(state, _bid_placed(_round(state), event, state.setup.players))
        case RoundDealt():
            return state_from(event)
        case RoundScored():
            return _round_scored(state, event)
        case DealerDrawn(seat=seat):
            return state._replace(setup=replace(state.setup, first_dealer=seat))
        case ScheduleSet(sizes=sizes):
            return state._replace(setup=replace(state.setup, sizes=sizes))
        case GameEnded(ranking=ranking):
            return state._replace(ranking=ranking)
        case _:
            assert_never(event)


def state_from(event: RoundDealt) -> State:
    """The state after a deal, from that event alone: it carries all that came before."""
    players = event.setup.players
    first = (event.dealer + 1) % players
    dealt = Round(
        deal=Deal(index=event.index, cards=event.cards, dealer=event.dealer, turn_up=event.turn_up),
        hands=event.hands,
        bids=(None,) * players,
        taken=(0,) * players,
        lead=first,
        trick=(),
        tricks=(),
        to_act=first,
    )
    return State(setup=event.setup, sheet=event.sheet, round=dealt, turn=event.turn, ranking=None)


def _round(state: State) -> Round:
    assert state.round is not None, "no card or bid before the first deal"
    return state.round


# What runs on every card: constructors instead of `_replace`, which takes twice as long.


def _with_round(state: State, current: Round) -> State:
    return State(state.setup, state.sheet, current, state.turn, None)


def _moved(state: State, current: Round) -> State:
    return State(state.setup, state.sheet, current, state.turn + 1, None)


def _with(values: tuple[Value, ...], seat: Seat, value: Value) -> tuple[Value, ...]:
    changed = list(values)
    changed[seat] = value
    return tuple(changed)


def _card_played(current: Round, event: CardPlayed, players: int) -> Round:
    seat, hands = event.seat, current.hands
    held = Hand(hands[seat] & ~(1 << event.card))
    trick = (*current.trick, event.card)
    return Round(
        current.deal,
        _with(hands, seat, held),
        current.bids,
        current.taken,
        current.lead,
        trick,
        current.tricks,
        to_act=(seat + 1) % players if len(trick) < players else None,
    )


def _trick_taken(current: Round, event: TrickTaken) -> Round:
    winner, taken = event.winner, current.taken
    trick = Trick(lead=current.lead, cards=current.trick, winner=winner)
    tricks = (*current.tricks, trick)
    return Round(
        current.deal,
        current.hands,
        current.bids,
        _with(taken, winner, taken[winner] + 1),
        winner,
        (),
        tricks,
        to_act=winner if len(tricks) < current.deal.cards else None,
    )


def _bid_placed(current: Round, event: BidPlaced, players: int) -> Round:
    seat = event.seat
    return current._replace(
        bids=_with(current.bids, seat, event.bid),
        to_act=(seat + 1) % players,  # after the dealer's bid this is the dealer's left, who leads
    )


def _round_scored(state: State, event: RoundScored) -> State:
    current = _round(state)
    scored = ScoredRound(
        cards=current.deal.cards,
        dealer=current.deal.dealer,
        turn_up=current.deal.turn_up,
        bids=tuple(bid for bid in current.bids if bid is not None),
        taken=current.taken,
        scores=event.scores,
        totals=event.totals,
    )
    return state._replace(sheet=(*state.sheet, scored))
