"""From a player's move to its events: whose turn, which phase, then the rule itself."""

from dataclasses import replace
from typing import assert_never

from libs.engine.errors import RuleViolation
from libs.engine.protocol import Seat
from libs.engine.romanian.bidding import decide_bid
from libs.engine.romanian.commands import PlaceBid, PlayCard, parse_action
from libs.engine.romanian.events import CardPlayed, Event, GameEnded, RoundScored, TrickTaken
from libs.engine.romanian.evolving import evolve
from libs.engine.romanian.play import decide_play
from libs.engine.romanian.ranking import ranking
from libs.engine.romanian.scoring import score_round
from libs.engine.romanian.state import Round, State
from libs.engine.tricks.rules import winning_position


def decide(state: State, seat: Seat, action: object) -> tuple[Event, ...]:
    """All events of one move: (BidPlaced) or (CardPlayed[, TrickTaken[, RoundScored[, GameEnded]]]).

    Raises RuleViolation: BAD_ACTION, GAME_OVER, DRAW_DUE, OUT_OF_TURN, NOT_BIDDING, NOT_PLAYING,
    and the reasons of `decide_bid` and `decide_play`.
    """
    command = parse_action(action)
    current = _round_of(state, seat)
    match command:
        case PlayCard(card=card):
            if current.bidding:
                raise RuleViolation("NOT_PLAYING")
            played = decide_play(current, seat, card)
            if len(current.trick) + 1 < state.setup.players:
                return (played,)
            return _trick_ended(state, played)
        case PlaceBid(bid=bid):
            if not current.bidding:
                raise RuleViolation("NOT_BIDDING")
            placed = decide_bid(current, seat, bid)
            if state.concealed and seat == current.deal.dealer:
                placed = replace(placed, reveals=current.hands)
            return (placed,)
        case _:
            assert_never(command)


def _round_of(state: State, seat: Seat) -> Round:
    current = state.live
    if current is None:
        raise RuleViolation("DRAW_DUE" if state.ranking is None else "GAME_OVER")
    if seat != current.to_act:
        raise RuleViolation("OUT_OF_TURN", to_act=current.to_act)
    return current


def _trick_ended(state: State, played: CardPlayed) -> tuple[Event, ...]:
    """The last card of a trick brings what follows from it without anybody's decision."""
    current = state.live
    assert current is not None
    position = winning_position((*current.trick, played.card), current.deal.trumps)
    taken = TrickTaken(winner=(current.lead + position) % state.setup.players)
    if len(current.tricks) + 1 < current.deal.cards:
        return (played, taken)
    ended = evolve(evolve(state, played), taken)
    scored = _scored(ended)
    ended = evolve(ended, scored)
    if len(ended.sheet) < len(ended.setup.sizes):
        return (played, taken, scored)
    final = GameEnded(ranking=ranking(ended.sheet), totals=ended.totals)
    return (played, taken, scored, final)


def _scored(state: State) -> RoundScored:
    current = state.live
    assert current is not None
    bids = tuple(bid for bid in current.bids if bid is not None)
    cards = current.deal.cards
    scores = score_round(cards, bids, current.taken, state.sheet, state.setup.options)
    totals = tuple(before + new for before, new in zip(state.totals, scores, strict=True))
    return RoundScored(scores=scores, totals=totals)
