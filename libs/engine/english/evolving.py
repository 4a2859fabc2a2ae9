"""From one state to the next. It trusts events: they were decided before."""

from typing import assert_never

from libs.engine.english.events import (
    CardPlayed,
    ClaimsOpened,
    DealerDrawn,
    Event,
    GameEnded,
    HandDealt,
    HandScored,
    PenaltyChosen,
    RevokeClaimed,
    RevokeProven,
    TrickTaken,
)
from libs.engine.english.state import Proof, State, side_of
from libs.engine.tricks.play import Play, clockwise, gather, lay, revokes, winner_leads


def evolve(state: State, event: Event) -> State:  # noqa: PLR0911
    """The state after the event; the given one is untouched."""
    match event:
        case CardPlayed():
            return _card_played(state, event)
        case TrickTaken(winner=winner):
            play = _play(state)
            return state._replace(play=gather(play, winner, winner_leads(play, winner)))
        case HandDealt(state=dealt):
            return dealt
        case HandScored(hand=hand):
            return state._replace(sheet=(*state.sheet, hand), claiming=False, proof=None)
        case ClaimsOpened():
            return state._replace(claiming=True)
        case RevokeClaimed(seat=seat, claim=claim):
            claims = (*state.claims[:seat], claim, *state.claims[seat + 1 :])
            return state._replace(claims=claims, turn=state.turn + 1)
        case RevokeProven():
            return state._replace(proof=Proof(event.seat, event.points_swing, event.tricks_swing))
        case PenaltyChosen():
            return state._replace(turn=state.turn + 1)
        case DealerDrawn(seat=seat):
            return state._replace(first_dealer=seat)
        case GameEnded(ranking=ranking):
            return state._replace(ranking=ranking)
        case _:
            assert_never(event)


def _play(state: State) -> Play:
    assert state.play is not None, "no card before the first deal"
    return state.play


def _card_played(state: State, event: CardPlayed) -> State:
    play, seat = _play(state), event.seat
    revoked = state.revoked
    if revokes(play, seat, event.card):
        side = side_of(seat)
        revoked = (*revoked[:side], True, *revoked[side + 1 :])
    return state._replace(play=lay(play, seat, event.card, clockwise(play, seat)), revoked=revoked, turn=state.turn + 1)
