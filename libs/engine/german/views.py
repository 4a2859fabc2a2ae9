"""What one observer may know of German Whist (P71). Beside the fields of `tricks.showing`:

    game, options        "german", {"count_all"}
    phase                "draw" | "play" | "over"
    seat, players        whose view (null: spectator), 2
    round, cards         0 and 13; null before the deal
    dealer, to_act, turn seat or null; seat or null; number of the decision awaited
    prize, stock         the face-up card or null; cards left in the stock, it included
    taken                by seat: all tricks
    scores               by seat: the tricks that count (G2)
    score_sheet          [{"dealer", "trump_suit", "taken", "scores"}] when over, else []
    ranking              seats, best first, when over; else null
    hand, legal          own cards; own moves, for the observer who is to act

`trump` is the turned card while it is the prize. The card that a loser draws is told to that seat alone. Events:

    {"k": "dealer", "seat"}     {"k": "dealt", "dealer", "trump"[, "hand"]}
    {"k": "play", "seat", "card"}    {"k": "trick", "winner"}
    {"k": "stock", "winner", "prize", "turned"[, "card": what the observer drew unseen]}
    {"k": "over", "ranking", "totals"}
"""

from typing import Any, assert_never

from libs.engine.cards import CARD_TEXT, CARDS
from libs.engine.german.deciding import legal
from libs.engine.german.events import CardPlayed, DealerDrawn, Event, GameEnded, HandDealt, StockDrawn, TrickTaken
from libs.engine.german.state import HAND_SIZE, PLAYERS, State
from libs.engine.protocol import Seat, View
from libs.engine.tricks.showing import own_hand, table_view, text

GAME = "german"
STOCK_SIZE = len(CARDS) - PLAYERS * HAND_SIZE


def view(state: State, observer: Seat | None) -> View:
    """All that the observer may know; the schema is this module's docstring."""
    deal, play = state.deal, state.play
    shown: View = {
        "game": GAME,
        "options": state.options.dump(),
        "phase": state.phase,
        "seat": observer,
        "players": PLAYERS,
        "round": None if deal is None else 0,
        "cards": None if deal is None else HAND_SIZE,
        "dealer": state.first_dealer if deal is None else deal.dealer,
        "trump": text(state.prize) if len(state.stock) == STOCK_SIZE else None,
        "trump_suit": None if play is None or play.trump is None else play.trump.value,
        "to_act": state.to_act,
        "turn": state.turn,
        **table_view(play, PLAYERS),
        "prize": text(state.prize),
        "stock": len(state.stock),
        "taken": [0] * PLAYERS if play is None else list(play.taken),
        "scores": list(state.counted),
        "score_sheet": [] if state.ranking is None else [_row(state)],
        "ranking": None if state.ranking is None else list(state.ranking),
    }
    if observer is not None:
        shown["hand"] = own_hand(play, observer)
        if observer == shown["to_act"]:
            shown["legal"] = list(legal(state))
    return shown


def _row(state: State) -> View:
    assert state.deal is not None and state.play is not None and state.play.trump is not None
    return {
        "dealer": state.deal.dealer,
        "trump_suit": state.play.trump.value,
        "taken": list(state.play.taken),
        "scores": list(state.counted),
    }


def is_private(event: Event) -> bool:
    """The deal, and the cards drawn from the stock."""
    return isinstance(event, HandDealt | StockDrawn)


def project(event: Event, observer: Seat | None) -> dict[str, Any]:
    """What the observer is told of the event; the forms are in this module's docstring."""
    match event:
        case CardPlayed(seat=seat, card=card):
            return {"k": "play", "seat": seat, "card": CARD_TEXT[card]}
        case TrickTaken(winner=winner):
            return {"k": "trick", "winner": winner}
        case StockDrawn():
            return _drawn(event, observer)
        case HandDealt(state=state):
            return _dealt(state, observer)
        case DealerDrawn(seat=seat):
            return {"k": "dealer", "seat": seat}
        case GameEnded(ranking=ranking, totals=totals):
            return {"k": "over", "ranking": list(ranking), "totals": list(totals)}
        case _:
            assert_never(event)


def _drawn(event: StockDrawn, observer: Seat | None) -> dict[str, Any]:
    told: dict[str, Any] = {
        "k": "stock",
        "winner": event.winner,
        "prize": CARD_TEXT[event.prize],
        "turned": text(event.turned),
    }
    return told | {"card": CARD_TEXT[event.unseen]} if observer == 1 - event.winner else told


def _dealt(state: State, observer: Seat | None) -> dict[str, Any]:
    assert state.deal is not None
    told: dict[str, Any] = {"k": "dealt", "dealer": state.deal.dealer, "trump": CARD_TEXT[state.deal.turn_up]}
    return told if observer is None else told | {"hand": own_hand(state.play, observer)}
