"""What one observer may know of English Whist (P71). Beside the fields of `tricks.showing`:

    game, options        "english", {"target", "honours", "match", "rubber_bonus", "revokes"}
    phase                "draw" | "play" | "claim" | "over"
    seat, players, sides whose view (null: spectator), 4, [0, 1, 0, 1]
    round, cards         0-based hand and its size 13; null before the first deal
    dealer, to_act, turn seat or null; seat or null; number of the decision awaited
    taken                by seat: tricks of its side
    claims, penalty      answers by seat (W7: true, false, null); {"seat", "points", "tricks"} swings or null
    score, games         of the running game, by side; games won, by side
    scores               by seat: its side's points in all games
    score_sheet          [{"dealer", "trump_suit", "void", "tricks", "honours", "penalty", "points", "score", "won"}]
    ranking              seats, best first, when over; else null
    hand, legal          own cards; own moves, for the observer who is to act

The turned card is shown until the dealer's first play (W2); honours with the hand's score, never earlier (W3). Events:

    {"k": "dealer", "seat"}     {"k": "dealt", "round", "dealer", "trump"[, "hand"]}
    {"k": "play", "seat", "card"}    {"k": "trick", "winner"}
    {"k": "claims"}  {"k": "claim", "seat", "claim"}  {"k": "proven", "seat", "points", "tricks"}
    {"k": "penalty", "seat", "penalty"}
    {"k": "scored", "row": as on the score sheet}    {"k": "over", "ranking", "totals"}
"""

from typing import Any, assert_never

from libs.engine.cards import CARD_TEXT
from libs.engine.english import scoring
from libs.engine.english.deciding import HAND_SIZE, legal
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
from libs.engine.english.options import PLAYERS
from libs.engine.english.state import ScoredHand, State, side_of
from libs.engine.protocol import Seat, View
from libs.engine.tricks.showing import own_hand, table_view

GAME = "english"


def view(state: State, observer: Seat | None) -> View:
    """All that the observer may know; the schema is this module's docstring."""
    deal, play = state.deal, state.play
    shown: View = {
        "game": GAME,
        "options": state.options.dump(),
        "phase": state.phase,
        "seat": observer,
        "players": PLAYERS,
        "sides": [side_of(seat) for seat in range(PLAYERS)],
        "round": None if deal is None else deal.number,
        "cards": None if deal is None else HAND_SIZE,
        "dealer": state.first_dealer if deal is None else deal.dealer,
        "trump": None if deal is None or _picked_up(state) else CARD_TEXT[deal.turn_up],
        "trump_suit": None if play is None or play.trump is None else play.trump.value,
        "to_act": state.to_act,
        "turn": state.turn,
        **table_view(play, PLAYERS),
        "taken": [0] * PLAYERS if play is None else list(scoring.by_seat(scoring.tricks_taken(state))),
        "claims": list(state.claims),
        "penalty": None if state.proof is None else _penalty(*state.proof),
        "score": list(state.score),
        "games": list(state.games),
        "scores": list(scoring.totals(state) if state.ranking else scoring.by_seat(scoring.rubber_points(state.sheet))),
        "score_sheet": [_row(hand) for hand in state.sheet],
        "ranking": None if state.ranking is None else list(state.ranking),
    }
    if observer is not None:
        shown["hand"] = own_hand(play, observer)
        if observer == shown["to_act"]:
            shown["legal"] = list(legal(state))
    return shown


def _picked_up(state: State) -> bool:
    """W2: the turned card goes back into the hand with the dealer's first play."""
    assert state.play is not None and state.deal is not None
    return state.play.hands[state.deal.dealer].bit_count() < HAND_SIZE


def _penalty(seat: Seat, points: int, tricks: int) -> View:
    return {"seat": seat, "points": points, "tricks": tricks}


def _row(hand: ScoredHand) -> View:
    return {
        "dealer": hand.dealer,
        "trump_suit": hand.trump.value,
        "void": hand.void,
        "tricks": list(hand.tricks),
        "honours": list(hand.honours),
        "penalty": list(hand.penalty),
        "points": list(hand.points),
        "score": list(hand.score),
        "won": hand.won,
    }


def is_private(event: Event) -> bool:
    """Only a deal is told differently to each seat."""
    return isinstance(event, HandDealt)


def project(event: Event, observer: Seat | None) -> dict[str, Any]:  # noqa: PLR0911
    """What the observer is told of the event; the forms are in this module's docstring."""
    match event:
        case CardPlayed(seat=seat, card=card):
            return {"k": "play", "seat": seat, "card": CARD_TEXT[card]}
        case TrickTaken(winner=winner):
            return {"k": "trick", "winner": winner}
        case HandDealt(state=state):
            return _dealt(state, observer)
        case ClaimsOpened():
            return {"k": "claims"}
        case RevokeClaimed(seat=seat, claim=claim):
            return {"k": "claim", "seat": seat, "claim": claim}
        case RevokeProven(seat=seat, points_swing=points, tricks_swing=tricks):
            return {"k": "proven", **_penalty(seat, points, tricks)}
        case PenaltyChosen(seat=seat, penalty=penalty):
            return {"k": "penalty", "seat": seat, "penalty": penalty}
        case HandScored(hand=hand):
            return {"k": "scored", "row": _row(hand)}
        case DealerDrawn(seat=seat):
            return {"k": "dealer", "seat": seat}
        case GameEnded(ranking=ranking, totals=totals):
            return {"k": "over", "ranking": list(ranking), "totals": list(totals)}
        case _:
            assert_never(event)


def _dealt(state: State, observer: Seat | None) -> dict[str, Any]:
    deal = state.deal
    assert deal is not None
    told: dict[str, Any] = {
        "k": "dealt",
        "round": deal.number,
        "dealer": deal.dealer,
        "trump": CARD_TEXT[deal.turn_up],
    }
    return told if observer is None else told | {"hand": own_hand(state.play, observer)}
