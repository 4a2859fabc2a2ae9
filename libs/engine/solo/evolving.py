"""From one state to the next. It trusts events: they were decided before."""

from typing import assert_never

from libs.engine.cards import Suit
from libs.engine.protocol import Seat
from libs.engine.solo.auction import Call, Called
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
from libs.engine.solo.state import State, leader, trump_of
from libs.engine.tricks.play import Play, clockwise, gather, lay, opening, winner_leads


def evolve(state: State, event: Event) -> State:  # noqa: PLR0911
    """The state after the event; the given one is untouched."""
    match event:
        case CardPlayed(seat=seat, card=card):
            play = _play(state)
            return state._replace(play=lay(play, seat, card, clockwise(play, seat)), turn=state.turn + 1)
        case TrickTaken(winner=winner):
            play = _play(state)
            return state._replace(play=gather(play, winner, winner_leads(play, winner)))
        case CallMade(seat=seat, call=call):
            return _called(state, seat, call)
        case TrumpsNamed(suit=suit):
            return _started(state._replace(named=suit, turn=state.turn + 1))
        case HandOpened():
            return state._replace(opened=True)
        case HandDealt(state=dealt):
            return dealt
        case HandScored(hand=hand):
            return state._replace(sheet=(*state.sheet, hand), opened=False)
        case DealerDrawn(seat=seat):
            return state._replace(first_dealer=seat)
        case GameEnded(ranking=ranking):
            return state._replace(ranking=ranking)
        case _:
            assert_never(event)


def _play(state: State) -> Play:
    assert state.play is not None, "no card before the first deal"
    return state.play


def _called(state: State, seat: Seat, call: Call) -> State:
    after = state._replace(calls=(*state.calls, Called(seat, call)), turn=state.turn + 1)
    auction = after.auction
    return _started(after) if auction.to_act is None and auction.contract and not after.naming else after


def _started(state: State) -> State:
    """The auction and any naming are over: trumps and the leader are fixed."""
    auction, deal = state.auction, state.deal
    assert auction.bid is not None and auction.declarer is not None and deal is not None
    trump: Suit | None = trump_of(auction.bid, deal.turn_up, state.named)
    lead = leader(auction.bid, auction.declarer, deal.dealer)
    return state._replace(play=opening(_play(state).hands, trump, lead))
