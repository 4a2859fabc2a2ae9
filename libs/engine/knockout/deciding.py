"""From a move or a draw to its events."""

from collections.abc import Sequence

from libs.engine.cards import SUITS, Suit, suit_of
from libs.engine.errors import RuleViolation
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
from libs.engine.knockout.evolving import evolve
from libs.engine.knockout.scoring import ranking, score_hand
from libs.engine.knockout.state import FIRST_SIZE, Deal, State, may_hold, next_in
from libs.engine.protocol import Action, Draw, Seat
from libs.engine.tricks.actions import card_in, one_key, suit_in
from libs.engine.tricks.dealing import check_order, deal_draw, deal_round, dealer_draw, shuffled
from libs.engine.tricks.play import Play, check_follows, opening, winner_with
from libs.engine.tricks.rules import follow_suit
from libs.engine.tricks.showing import plays

HOLD: Action = {"hold": True}


def due(state: State) -> Draw | None:
    """ "dealer"; before each deal but the first, among those who tied, "namer/2", …; "deal/1", …"""
    if state.ranking is not None or state.live is not None:
        return None
    if state.first_dealer is None:
        return dealer_draw(state.players)
    index = len(state.sheet)
    if index and state.namer is None and len(state.best) > 1:
        return Draw(label=f"namer/{index + 1}", size=len(state.best))
    return deal_draw(index)


def decide_draw(state: State, order: Sequence[int]) -> tuple[Event, ...]:
    """Raises ValueError if `order` is not a permutation for the draw that is due."""
    draw = check_order(due(state), order)
    if state.first_dealer is None:
        return (DealerDrawn(seat=order[0]),)
    if draw.label.startswith("namer/"):
        return (NamerDrawn(seat=state.best[order[0]]),)
    return (HandDealt(state=_dealt(state, order, state.first_dealer)),)


def _dealt(state: State, order: Sequence[int], first_dealer: Seat) -> State:
    index = len(state.sheet)
    dealer = next_in(state.alive, state.sheet[-1].dealer) if index else first_dealer
    assert dealer is not None, "somebody is alive"
    full = FIRST_SIZE - index
    sizes = [(1 if dog else full) if alive else 0 for alive, dog in zip(state.alive, state.dogs, strict=True)]
    hands, rest = deal_round(shuffled(order), dealer, sizes)
    namer = None if not index else state.best[0] if state.namer is None else state.namer
    turn_up = None if index else rest[0]
    lead = next_in(state.alive, dealer) if namer is None else namer
    assert lead is not None
    play = opening(hands, None if turn_up is None else suit_of(turn_up), lead)
    return state._replace(
        deal=Deal(number=index, dealer=dealer, turn_up=turn_up, namer=namer, sizes=tuple(sizes)),
        play=play if namer is None else play._replace(to_act=None),
        held=(False,) * state.players,
    )


def legal(state: State) -> tuple[Action, ...]:
    """Every legal move of the seat to act; empty when nobody is."""
    play, seat = state.live, state.to_act
    if play is None or seat is None:
        return ()
    if state.naming:
        return tuple([{"trumps": suit.value} for suit in SUITS])
    cards = plays(follow_suit(play.hands[seat], play.led))
    return (*cards, dict(HOLD)) if _may_hold(state, play, seat) else cards


def _may_hold(state: State, play: Play, seat: Seat) -> bool:
    assert state.deal is not None
    return may_hold(state.deal.sizes, state.deal.cards, play.done, seat)


def decide(state: State, seat: Seat, action: object) -> tuple[Event, ...]:
    """{"play": "QH"}, {"trumps": "H"} (K1) or {"hold": true} (K2).

    Raises RuleViolation: BAD_ACTION, GAME_OVER, DRAW_DUE, OUT_OF_TURN, NOT_NAMING, NOT_PLAYING, MUST_PLAY,
    CARD_NOT_HELD, MUST_FOLLOW_SUIT.
    """
    kind, value = one_key(action)
    match kind:
        case "play":
            card = card_in(value)
            check_follows(_playing(state, seat), seat, card)
            return _moved(state, CardPlayed(seat=seat, card=card))
        case "hold" if value is True:
            if not _may_hold(state, _playing(state, seat), seat):
                raise RuleViolation("MUST_PLAY")
            return _moved(state, CardHeld(seat=seat))
        case "trumps":
            return _named(state, seat, suit_in(value))
        case _:
            raise RuleViolation("BAD_ACTION")


def _turn_of(state: State, seat: Seat) -> Play:
    if state.live is None:
        raise RuleViolation("DRAW_DUE" if state.ranking is None else "GAME_OVER")
    if seat != state.to_act:
        raise RuleViolation("OUT_OF_TURN", to_act=state.to_act)
    return state.live


def _playing(state: State, seat: Seat) -> Play:
    play = _turn_of(state, seat)
    if state.naming:
        raise RuleViolation("NOT_PLAYING")
    return play


def _named(state: State, seat: Seat, suit: Suit) -> tuple[Event, ...]:
    _turn_of(state, seat)
    if not state.naming:
        raise RuleViolation("NOT_NAMING")
    return (TrumpsNamed(seat=seat, suit=suit),)


def _moved(state: State, moved: CardPlayed | CardHeld) -> tuple[Event, ...]:
    """The move, and what follows from it without anybody's decision."""
    after = evolve(state, moved)
    if after.to_act is not None:
        return (moved,)
    assert after.play is not None and after.deal is not None
    taken = TrickTaken(winner=winner_with(after.play))
    after = evolve(after, taken)
    assert after.play is not None
    if after.play.to_act is not None:
        return (moved, taken)
    scored = HandScored(hand=score_hand(after))
    after = evolve(after, scored)
    if after.alive.count(True) > 1:
        return (moved, taken, scored)
    return (moved, taken, scored, GameEnded(ranking=ranking(after.sheet), totals=after.totals))
