"""From a move or a draw to its events."""

from collections.abc import Sequence

from libs.engine.cards import Card, suit_of
from libs.engine.errors import RuleViolation
from libs.engine.german.events import CardPlayed, DealerDrawn, Event, GameEnded, HandDealt, StockDrawn, TrickTaken
from libs.engine.german.evolving import evolve
from libs.engine.german.state import HAND_SIZE, PLAYERS, Deal, State
from libs.engine.protocol import Action, Draw, Seat
from libs.engine.tricks.actions import card_in, one_key
from libs.engine.tricks.dealing import check_order, deal_draw, deal_round, dealer_draw, shuffled
from libs.engine.tricks.play import Laid, check_follows, opening, winner_with
from libs.engine.tricks.rules import follow_suit
from libs.engine.tricks.showing import plays


def due(state: State) -> Draw | None:
    """ "dealer", then "deal/1"."""
    if state.play is not None:
        return None
    return dealer_draw(PLAYERS) if state.first_dealer is None else deal_draw(0)


def decide_draw(state: State, order: Sequence[int]) -> tuple[Event, ...]:
    """Raises ValueError if `order` is not a permutation for the draw that is due."""
    check_order(due(state), order)
    dealer = state.first_dealer
    if dealer is None:
        return (DealerDrawn(seat=order[0]),)
    hands, stock = deal_round(shuffled(order), dealer, [HAND_SIZE] * PLAYERS)
    dealt = state._replace(
        deal=Deal(dealer=dealer, turn_up=stock[0]),
        play=opening(hands, suit_of(stock[0]), 1 - dealer),
        stock=tuple(stock),
    )
    return (HandDealt(state=dealt),)


def legal(state: State) -> tuple[Action, ...]:
    """Every legal move of the seat to act; empty when nobody is."""
    play = state.play
    if play is None or play.to_act is None:
        return ()
    return plays(follow_suit(play.hands[play.to_act], play.led))


def decide(state: State, seat: Seat, action: object) -> tuple[Event, ...]:
    """{"play": "QH"}.

    Raises RuleViolation: BAD_ACTION, GAME_OVER, DRAW_DUE, OUT_OF_TURN, CARD_NOT_HELD, MUST_FOLLOW_SUIT.
    """
    kind, value = one_key(action)
    if kind != "play":
        raise RuleViolation("BAD_ACTION")
    return _decide_play(state, seat, card_in(value))


def _decide_play(state: State, seat: Seat, card: Card) -> tuple[Event, ...]:
    play = state.play
    if play is None or state.ranking is not None:
        raise RuleViolation("DRAW_DUE" if play is None else "GAME_OVER")
    if seat != play.to_act:
        raise RuleViolation("OUT_OF_TURN", to_act=play.to_act)
    check_follows(play, seat, card)
    played = CardPlayed(seat=seat, card=card)
    if not play.trick:
        return (played,)
    winner = winner_with(play, Laid(seat, card))
    taken = TrickTaken(winner=winner)
    if state.stock:
        prize, unseen, *rest = state.stock
        return (played, taken, StockDrawn(winner=winner, prize=prize, unseen=unseen, turned=rest[0] if rest else None))
    if play.done + 1 < 2 * HAND_SIZE:
        return (played, taken)
    after = evolve(evolve(state, played), taken)
    return (played, taken, GameEnded(ranking=ranking(after), totals=after.counted))


def key(state: State, seat: Seat) -> tuple[int, bool]:
    """G2, smaller is better: the tricks that count, then (13–13) who took the last trick."""
    assert state.play is not None and state.play.last is not None
    return -state.counted[seat], state.play.last.winner != seat


def ranking(state: State) -> tuple[Seat, ...]:
    """The winner, then the other. After the last trick only."""
    return tuple(sorted(range(PLAYERS), key=lambda seat: key(state, seat)))
