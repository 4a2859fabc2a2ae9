"""What one observer may know of Solo Whist (P71). Beside the fields of `tricks.showing`:

    game, options        "solo", {"hands"}
    phase                "draw" | "bid" (the auction, and naming trumps) | "play" | "over"
    seat, players        whose view (null: spectator), 4
    round, cards         0-based hand and its size 13; null before the first deal
    dealer, to_act, turn seat or null; seat or null; number of the decision awaited
    calls                [[seat, call]], oldest first; `auction.Call` has the words
    bid                  the highest so far, or the contract; null without
    declarer, partner    seats or null
    open                 {"seat", "cards"}: the open misère's hand after the first trick (L2), else null
    taken                by seat
    scores               units by seat
    score_sheet          [{"dealer", "bid", "declarer", "partner", "trump_suit", "taken", "made", "units"}]
    ranking              seats, best first, when over; else null
    hand, legal          own cards; own moves, for the observer who is to act

The turned card is shown until the dealer's first play (W1); trump_suit is null until the contract is set. Events:

    {"k": "dealer", "seat"}     {"k": "dealt", "round", "dealer", "trump"[, "hand"]}
    {"k": "call", "seat", "call"}    {"k": "trumps", "seat", "trumps"}
    {"k": "play", "seat", "card"}    {"k": "trick", "winner"}    {"k": "opened", "seat", "cards"}
    {"k": "scored", "row": as on the score sheet}    {"k": "over", "ranking", "totals"}
"""

from typing import Any, assert_never

from libs.engine.cards import CARD_TEXT, hand_texts
from libs.engine.protocol import Seat, View
from libs.engine.solo.auction import PLAYERS
from libs.engine.solo.deciding import legal
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
from libs.engine.solo.state import HAND_SIZE, ScoredHand, State
from libs.engine.tricks.showing import own_hand, table_view

GAME = "solo"


def view(state: State, observer: Seat | None) -> View:
    """All that the observer may know; the schema is this module's docstring."""
    deal, play = state.deal, state.play
    shown: View = {
        "game": GAME,
        "options": state.options.dump(),
        "phase": state.phase,
        "seat": observer,
        "players": PLAYERS,
        "round": None if deal is None else deal.number,
        "cards": None if deal is None else HAND_SIZE,
        "dealer": state.first_dealer if deal is None else deal.dealer,
        "trump": None if deal is None or _picked_up(state) else CARD_TEXT[deal.turn_up],
        "trump_suit": None if play is None or play.trump is None else play.trump.value,
        "to_act": state.to_act,
        "turn": state.turn,
        "calls": [[seat, call.value] for seat, call in state.calls],
        **_contract(state),
        "open": _open(state),
        **table_view(play, PLAYERS),
        "taken": [0] * PLAYERS if play is None else list(play.taken),
        "scores": list(state.totals),
        "score_sheet": [_row(hand) for hand in state.sheet],
        "ranking": None if state.ranking is None else list(state.ranking),
    }
    if observer is not None:
        shown["hand"] = own_hand(play, observer)
        if observer == shown["to_act"]:
            shown["legal"] = list(legal(state))
    return shown


def _picked_up(state: State) -> bool:
    assert state.play is not None and state.deal is not None
    return state.play.hands[state.deal.dealer].bit_count() < HAND_SIZE


def _contract(state: State) -> View:
    if state.deal is None:
        return {"bid": None, "declarer": None, "partner": None}
    auction = state.auction
    return {
        "bid": None if auction.bid is None else auction.bid.value,
        "declarer": auction.declarer,
        "partner": auction.partner,
    }


def _open(state: State) -> View | None:
    if not state.opened:
        return None
    declarer = state.auction.declarer
    assert declarer is not None
    return {"seat": declarer, "cards": own_hand(state.play, declarer)}


def _row(hand: ScoredHand) -> View:
    return {
        "dealer": hand.dealer,
        "bid": None if hand.bid is None else hand.bid.value,
        "declarer": hand.declarer,
        "partner": hand.partner,
        "trump_suit": None if hand.trump is None else hand.trump.value,
        "taken": list(hand.taken),
        "made": hand.made,
        "units": list(hand.units),
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
        case CallMade(seat=seat, call=call):
            return {"k": "call", "seat": seat, "call": call.value}
        case TrumpsNamed(seat=seat, suit=suit):
            return {"k": "trumps", "seat": seat, "trumps": suit.value}
        case HandOpened(seat=seat, hand=hand):
            return {"k": "opened", "seat": seat, "cards": hand_texts(hand)}
        case HandDealt(state=state):
            return _dealt(state, observer)
        case HandScored(hand=scored):
            return {"k": "scored", "row": _row(scored)}
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
