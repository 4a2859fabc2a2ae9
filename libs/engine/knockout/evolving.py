"""From one state to the next. It trusts events: they were decided before."""

from typing import assert_never

from libs.engine.knockout.events import (
    CardHeld,
    CardPlayed,
    DealerDrawn,
    Event,
    GameEnded,
    HandDealt,
    HandScored,
    NamerDrawn,
    TrickTaken,
    TrumpsNamed,
)
from libs.engine.knockout.state import State, due_in_trick, next_in
from libs.engine.protocol import Seat
from libs.engine.tricks.play import Play, gather, lay, opening


def evolve(state: State, event: Event) -> State:  # noqa: PLR0911
    """The state after the event; the given one is untouched."""
    match event:
        case CardPlayed(seat=seat, card=card):
            after = lay(_play(state), seat, card, None)
            return _moved(state, after, state.held, seat)
        case CardHeld(seat=seat):
            held = (*state.held[:seat], True, *state.held[seat + 1 :])
            return _moved(state, _play(state)._replace(last=None), held, seat)
        case TrickTaken(winner=winner):
            return _trick_taken(state, winner)
        case TrumpsNamed(seat=seat, suit=suit):
            return state._replace(play=opening(_play(state).hands, suit, seat), turn=state.turn + 1)
        case HandDealt(state=dealt):
            return dealt
        case HandScored(hand=hand):
            return state._replace(sheet=(*state.sheet, hand), namer=None)
        case DealerDrawn(seat=seat):
            return state._replace(first_dealer=seat)
        case NamerDrawn(seat=seat):
            return state._replace(namer=seat)
        case GameEnded(ranking=ranking):
            return state._replace(ranking=ranking)
        case _:
            assert_never(event)


def _play(state: State) -> Play:
    assert state.play is not None, "no card before the first deal"
    return state.play


def _moved(state: State, play: Play, held: tuple[bool, ...], seat: Seat) -> State:
    """After `seat` has played or kept its card: the next who is due, who leads if nothing lies yet."""
    laid = {one.seat for one in play.trick}
    due = due_in_trick(play.counts, [one in laid for one in range(state.players)], held)
    then = next_in(due, seat)
    lead = play.lead if play.trick or then is None else then
    return state._replace(play=play._replace(to_act=then, lead=lead), held=held, turn=state.turn + 1)


def _trick_taken(state: State, winner: Seat) -> State:
    """K2: the winner leads; a dog that wins has no card left, so the next to the left with cards does."""
    play = _play(state)
    with_cards = [bool(count) for count in play.counts]
    then = winner if with_cards[winner] else next_in(with_cards, winner)
    return state._replace(play=gather(play, winner, then), held=(False,) * state.players)
