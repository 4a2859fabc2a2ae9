"""What one observer may know of Knockout Whist (P71). Beside the fields of `tricks.showing`:

    game, options        "knockout", {"dogs_life"}
    phase                "draw" | "name" (trumps, K1) | "play" | "over"
    seat, players        whose view (null: spectator), 2..7
    round, cards         0-based hand and the size of a full one; null before the first deal
    dealer, to_act, turn seat or null; seat or null; number of the decision awaited
    namer                who names trumps in this hand, or null; the seat drawn before a deal
    sizes                cards dealt, by seat: 0 to who is out, 1 to a dog
    alive, dogs          by seat, after the last finished hand
    held                 dogs that have kept their card in the trick on the table
    taken, scores        by seat: tricks in this hand; in all
    score_sheet          [{"cards", "dealer", "trump_suit", "sizes", "taken", "alive", "dogs"}]
    ranking              seats, best first, when over; else null
    hand, legal          own cards; own moves, for the observer who is to act

The first hand's turned card stays shown; it is in nobody's hand (K1). Events:

    {"k": "dealer", "seat"}  {"k": "namer", "seat"}  {"k": "trumps", "seat", "trumps"}
    {"k": "dealt", "round", "cards", "dealer", "namer", "sizes", "trump"[, "hand"]}
    {"k": "play", "seat", "card"}    {"k": "hold", "seat"}    {"k": "trick", "winner"}
    {"k": "scored", "row": as on the score sheet}    {"k": "over", "ranking", "totals"}
"""

from typing import Any, assert_never

from libs.engine.cards import CARD_TEXT
from libs.engine.knockout.deciding import legal
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
from libs.engine.knockout.state import ScoredHand, State
from libs.engine.protocol import Seat, View
from libs.engine.tricks.showing import own_hand, table_view, text

GAME = "knockout"


def view(state: State, observer: Seat | None) -> View:
    """All that the observer may know; the schema is this module's docstring."""
    deal, play, players = state.deal, state.play, state.players
    shown: View = {
        "game": GAME,
        "options": state.options.dump(),
        "phase": state.phase,
        "seat": observer,
        "players": players,
        "round": None if deal is None else deal.number,
        "cards": None if deal is None else deal.cards,
        "dealer": state.first_dealer if deal is None else deal.dealer,
        "namer": state.namer if state.live is None else None if deal is None else deal.namer,
        "sizes": [0] * players if deal is None else list(deal.sizes),
        "trump": None if deal is None else text(deal.turn_up),
        "trump_suit": None if play is None or play.trump is None else play.trump.value,
        "to_act": state.to_act,
        "turn": state.turn,
        **table_view(play, players),
        "alive": list(state.alive),
        "dogs": list(state.dogs),
        "held": list(state.held),
        "taken": [0] * players if play is None else list(play.taken),
        "scores": list(state.totals),
        "score_sheet": [_row(hand) for hand in state.sheet],
        "ranking": None if state.ranking is None else list(state.ranking),
    }
    if observer is not None:
        shown["hand"] = own_hand(play, observer)
        if observer == shown["to_act"]:
            shown["legal"] = list(legal(state))
    return shown


def _row(hand: ScoredHand) -> View:
    return {
        "cards": hand.cards,
        "dealer": hand.dealer,
        "trump_suit": hand.trump.value,
        "sizes": list(hand.sizes),
        "taken": list(hand.taken),
        "alive": list(hand.alive),
        "dogs": list(hand.dogs),
    }


def is_private(event: Event) -> bool:
    """Only a deal is told differently to each seat."""
    return isinstance(event, HandDealt)


def project(event: Event, observer: Seat | None) -> dict[str, Any]:  # noqa: PLR0911
    """What the observer is told of the event; the forms are in this module's docstring."""
    match event:
        case CardPlayed(seat=seat, card=card):
            return {"k": "play", "seat": seat, "card": CARD_TEXT[card]}
        case CardHeld(seat=seat):
            return {"k": "hold", "seat": seat}
        case TrickTaken(winner=winner):
            return {"k": "trick", "winner": winner}
        case TrumpsNamed(seat=seat, suit=suit):
            return {"k": "trumps", "seat": seat, "trumps": suit.value}
        case HandDealt(state=state):
            return _dealt(state, observer)
        case HandScored(hand=hand):
            return {"k": "scored", "row": _row(hand)}
        case DealerDrawn(seat=seat):
            return {"k": "dealer", "seat": seat}
        case NamerDrawn(seat=seat):
            return {"k": "namer", "seat": seat}
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
        "cards": deal.cards,
        "dealer": deal.dealer,
        "namer": deal.namer,
        "sizes": list(deal.sizes),
        "trump": text(deal.turn_up),
    }
    return told if observer is None else told | {"hand": own_hand(state.play, observer)}
