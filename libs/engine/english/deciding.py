"""From a move, a draw or a fault to its events."""

from collections.abc import Sequence

from libs.engine.cards import Card, Suit, suit_of
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
from libs.engine.english.evolving import evolve
from libs.engine.english.options import PLAYERS, Revokes
from libs.engine.english.scoring import (
    PENALTIES,
    POINTS,
    TRICKS,
    honours_held,
    match_winner,
    ranking,
    score_hand,
    swing,
    totals,
    void_hand,
)
from libs.engine.english.state import Deal, ScoredHand, State, side_of
from libs.engine.errors import RuleViolation
from libs.engine.protocol import Action, Draw, Seat
from libs.engine.tricks.actions import card_in, flag_in, one_key
from libs.engine.tricks.dealing import check_order, deal_draw, deal_round, dealer_draw, shuffled
from libs.engine.tricks.play import Laid, Play, check_follows, check_held, opening, winner_with
from libs.engine.tricks.rules import follow_suit
from libs.engine.tricks.showing import plays

HAND_SIZE = 13


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
    play = opening(hands, trump_of(pack), (dealer + 1) % PLAYERS)
    assert play.trump is not None
    honours = honours_held(hands, play.trump)
    dealt = state._replace(
        deal=Deal(number=index, dealer=dealer, turn_up=pack[-1], honours=honours),
        play=play,
        revoked=(False, False),
        claiming=False,
        claims=(None,) * PLAYERS,
        proof=None,
    )
    return (HandDealt(state=dealt),)


def trump_of(pack: Sequence[Card]) -> Suit:
    """W1: the dealer's own last card, the last of the pack, names trumps."""
    return suit_of(pack[-1])


def legal(state: State) -> tuple[Action, ...]:
    """Every legal move of the seat to act; empty when nobody is."""
    play = state.live
    if play is None or state.to_act is None:
        return ()
    if state.proof:
        return tuple([{"penalty": one} for one in PENALTIES])
    if state.claiming:
        return ({"claim": False}, {"claim": True})
    hand = play.hands[state.to_act]
    return plays(hand if state.options.revokes is Revokes.CLUB else follow_suit(hand, play.led))


def decide(state: State, seat: Seat, action: object) -> tuple[Event, ...]:
    """{"play": "QH"}; in a club (W7) also {"claim": true | false} and {"penalty": "points" | "tricks"}.

    Raises RuleViolation: BAD_ACTION, GAME_OVER, DRAW_DUE, OUT_OF_TURN, NOT_PLAYING, NOT_CLAIMING, NO_PENALTY_DUE,
    CARD_NOT_HELD, MUST_FOLLOW_SUIT.
    """
    kind, value = one_key(action)
    match kind:
        case "play":
            return _decide_play(state, seat, card_in(value))
        case "claim":
            return _decide_claim(state, seat, flag_in(value))
        case "penalty" if value in PENALTIES:
            return _decide_penalty(state, seat, str(value))
        case _:
            raise RuleViolation("BAD_ACTION")


def decide_void(state: State) -> tuple[Event, ...]:
    """W8: end the hand on the table without a score, after a fault. Raises DRAW_DUE or GAME_OVER without one."""
    _turn_of(state, state.to_act)
    return (HandScored(hand=void_hand(state)),)


def _turn_of(state: State, seat: Seat | None) -> Play:
    if state.live is None:
        raise RuleViolation("DRAW_DUE" if state.ranking is None else "GAME_OVER")
    if seat != state.to_act:
        raise RuleViolation("OUT_OF_TURN", to_act=state.to_act)
    return state.live


def _decide_play(state: State, seat: Seat, card: Card) -> tuple[Event, ...]:
    play = _turn_of(state, seat)
    if state.claiming:
        raise RuleViolation("NOT_PLAYING")
    check = check_held if state.options.revokes is Revokes.CLUB else check_follows
    check(play, seat, card)
    played = CardPlayed(seat=seat, card=card)
    if len(play.trick) + 1 < PLAYERS:
        return (played,)
    taken = TrickTaken(winner=winner_with(play, Laid(seat, card)))
    if play.done + 1 < HAND_SIZE:
        return (played, taken)
    if state.options.revokes is Revokes.CLUB:
        return (played, taken, ClaimsOpened())
    ended = evolve(evolve(state, played), taken)
    return (played, taken, *_ended(ended, score_hand(ended)))


def _decide_claim(state: State, seat: Seat, claim: bool) -> tuple[Event, ...]:
    _turn_of(state, seat)
    if not state.claiming or state.proof:
        raise RuleViolation("NOT_CLAIMING")
    claimed = RevokeClaimed(seat=seat, claim=claim)
    after = evolve(state, claimed)
    if after.to_act is not None:
        return (claimed,)
    proven = [one for one in range(PLAYERS) if after.claims[one] and state.revoked[1 - side_of(one)]]
    if not proven:
        return (claimed, *_ended(after, score_hand(after)))
    if len(proven) > 1:  # a side claims once: both sides have revoked
        return (claimed, HandScored(hand=void_hand(after)))
    revoker = 1 - side_of(proven[0])
    return (
        claimed,
        RevokeProven(
            seat=proven[0],
            points_swing=swing(after, POINTS, revoker),
            tricks_swing=swing(after, TRICKS, revoker),
        ),
    )


def _decide_penalty(state: State, seat: Seat, penalty: str) -> tuple[Event, ...]:
    _turn_of(state, seat)
    if not state.proof:
        raise RuleViolation("NO_PENALTY_DUE")
    chosen = PenaltyChosen(seat=seat, penalty=penalty)
    after = evolve(state, chosen)
    return (chosen, *_ended(after, score_hand(after, penalty, 1 - side_of(seat))))


def _ended(state: State, hand: ScoredHand) -> tuple[Event, ...]:
    """The hand's score, and the match's end where it brings that."""
    scored = HandScored(hand=hand)
    after = evolve(state, scored)
    winners = match_winner(after)
    if winners is None:
        return (scored,)
    return (scored, GameEnded(ranking=ranking(winners), totals=totals(after)))
