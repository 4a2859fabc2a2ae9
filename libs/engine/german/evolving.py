"""From one state to the next. It trusts events: they were decided before."""

from typing import assert_never

from libs.engine.cards import Hand
from libs.engine.german.events import CardPlayed, DealerDrawn, Event, GameEnded, HandDealt, StockDrawn, TrickTaken
from libs.engine.german.state import State
from libs.engine.tricks.play import Play, clockwise, gather, lay, winner_leads


def evolve(state: State, event: Event) -> State:
    """The state after the event; the given one is untouched."""
    match event:
        case CardPlayed(seat=seat, card=card):
            play = _play(state)
            return state._replace(play=lay(play, seat, card, clockwise(play, seat)), turn=state.turn + 1)
        case TrickTaken(winner=winner):
            return _trick_taken(state, gather(_play(state), winner, winner_leads(_play(state), winner)))
        case StockDrawn():
            return _stock_drawn(state, event)
        case HandDealt(state=dealt):
            return dealt
        case DealerDrawn(seat=seat):
            return state._replace(first_dealer=seat)
        case GameEnded(ranking=ranking):
            return state._replace(ranking=ranking)
        case _:
            assert_never(event)


def _play(state: State) -> Play:
    assert state.play is not None, "no card before the deal"
    return state.play


def _trick_taken(state: State, play: Play) -> State:
    return state._replace(play=play, early=play.taken if state.stock else state.early)


def _stock_drawn(state: State, event: StockDrawn) -> State:
    play, winner = _play(state), event.winner
    drawn = {winner: event.prize, 1 - winner: event.unseen}
    hands = tuple(Hand(hand | 1 << drawn[seat]) for seat, hand in enumerate(play.hands))
    return state._replace(play=play._replace(hands=hands), stock=state.stock[2:])
