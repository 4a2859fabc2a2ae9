"""What one observer may know: views of a state and projections of events (P71).

This is the only redaction there is, and the hands are the only secret. A view is plain JSON:

    game, mode, options  "romanian", "8-1-8", {"mode", "scoring", "premium"[, "one_card"][, "rounds"]}
    phase                "draw" | "bid" | "play" | "over"
    seat                 whose view it is; null for a spectator
    players, rounds      4..6; cards a player, round by round ([] until the schedule is set)
    round, cards         0-based index and size of the round on the table; null before the first deal
    dealer               seat; before the first deal the first dealer, null until drawn
    trump, trump_suit    turned card "9H" and "H"; null in rounds of eight
    to_act, turn         seat or null; number of the decision awaited
    bids, taken          by seat: int or null; int
    barred               the bid that the dealer, now to bid, may not make; else null
    trick                {"lead": seat or null, "cards": [text or null by seat]}: the trick on the table
    tricks               this round's finished ones [{"lead", "cards", "winner"}], oldest first
    last_trick           the newest of `tricks`, or null
    scores               totals by seat
    score_sheet          finished rounds [{"cards", "dealer", "trump", "bids", "taken", "scores"}]
    ranking              seats, best first, when over; else null
    hand                 own cards in pack order; absent for a spectator; empty while hidden by one_card (R11)
    foreheads            with one_card "forehead", for seats alone: while such a round is bid, the others' cards by
                         seat, own null; else null
    legal                every legal action; present only for the observer who is to act

After a round's last trick it stays in view (phase "draw") until the next deal. Events:

    {"k": "dealer", "seat"}                {"k": "schedule", "rounds"}
    {"k": "dealt", "round", "cards", "dealer", "trump"[, "hand": own cards only][, "foreheads"]}
    {"k": "bid", "seat", "bid"[, "hand": own cards, now shown (R11)]}    {"k": "play", "seat", "card"}
    {"k": "trick", "winner"}               {"k": "scored", "scores", "totals"}
    {"k": "over", "ranking", "totals"}
"""

from typing import Any, assert_never

from libs.engine.cards import CARD_TEXT, Card, Hand, card_text, hand_texts
from libs.engine.protocol import Action, Seat, View
from libs.engine.romanian.bidding import barred_bid, legal_bids
from libs.engine.romanian.events import (
    BidPlaced,
    CardPlayed,
    DealerDrawn,
    Event,
    GameEnded,
    RoundDealt,
    RoundScored,
    ScheduleSet,
    TrickTaken,
)
from libs.engine.romanian.options import OneCard
from libs.engine.romanian.play import playable
from libs.engine.romanian.state import Round, ScoredRound, State, Trick, by_seat, conceals

GAME = "romanian"
_TEXTS = {1 << card: text for card, text in CARD_TEXT.items()}  # by the card's bit in a hand


def legal(state: State) -> tuple[Action, ...]:
    """Every legal move of the seat to act; empty when nobody is."""
    current = state.live
    if current is None or current.to_act is None:
        return ()
    deal = current.deal
    if current.bidding:
        barred = barred_bid(current.bids, deal.dealer, deal.cards)
        return tuple([{"bid": bid} for bid in legal_bids(deal.cards, barred)])
    led = current.trick[0] if current.trick else None
    allowed = playable(current.hands[current.to_act], led, deal.trumps)
    # As `cards_in`, without a generator: this runs at every move.
    rest, found = int(allowed), []
    while rest:
        lowest = rest & -rest
        found.append({"play": _TEXTS[lowest]})
        rest ^= lowest
    return tuple(found)


def view(state: State, observer: Seat | None) -> View:
    """All that the observer may know; the schema is this module's docstring."""
    setup = state.setup
    shown: View = {
        "game": GAME,
        "mode": setup.options.mode.value,
        "options": setup.options.dump(),
        "phase": state.phase,
        "seat": observer,
        "players": setup.players,
        "rounds": list(setup.sizes),
        **_round_view(state),
        "turn": state.turn,
        "scores": list(state.totals),
        "score_sheet": [_scored_view(one) for one in state.sheet],
        "ranking": None if state.ranking is None else list(state.ranking),
    }
    if observer is not None:
        hand = state.round.hands[observer] if state.round and not state.concealed else None
        shown["hand"] = [] if hand is None else hand_texts(hand)
        if setup.options.one_card is OneCard.FOREHEAD:
            shown["foreheads"] = _foreheads(state.round.hands, observer) if state.round and state.concealed else None
        if observer == shown["to_act"]:
            shown["legal"] = list(legal(state))
    return shown


def _foreheads(hands: tuple[Hand, ...], observer: Seat) -> list[str | None]:
    """R11: the one card of each other seat."""
    return [None if seat == observer else "".join(hand_texts(hand)) for seat, hand in enumerate(hands)]


def _round_view(state: State) -> View:
    players, current = state.setup.players, state.round
    if current is None:
        return {
            "round": None,
            "cards": None,
            "dealer": state.setup.first_dealer,
            "trump": None,
            "trump_suit": None,
            "to_act": None,
            "bids": [None] * players,
            "taken": [0] * players,
            "barred": None,
            "trick": {"lead": None, "cards": [None] * players},
            "tricks": [],
            "last_trick": None,
        }
    deal = current.deal
    tricks = [_trick_view(trick, players) for trick in current.tricks]
    return {
        "round": deal.index,
        "cards": deal.cards,
        "dealer": deal.dealer,
        "trump": _text(deal.turn_up),
        "trump_suit": None if deal.trump_suit is None else deal.trump_suit.value,
        "to_act": current.to_act,
        "bids": list(current.bids),
        "taken": list(current.taken),
        "barred": barred_bid(current.bids, deal.dealer, deal.cards),
        "trick": _table_view(current, players, playing=state.phase == "play"),
        "tricks": tricks,
        "last_trick": tricks[-1] if tricks else None,
    }


def _table_view(current: Round, players: int, *, playing: bool) -> View:
    texts = tuple(card_text(card) for card in current.trick)
    return {
        "lead": current.lead if playing else None,
        "cards": by_seat(texts, current.lead, players),
    }


def _trick_view(trick: Trick, players: int) -> View:
    texts = tuple(card_text(card) for card in trick.cards)
    return {
        "lead": trick.lead,
        "cards": by_seat(texts, trick.lead, players),
        "winner": trick.winner,
    }


def _scored_view(scored: ScoredRound) -> View:
    return {
        "cards": scored.cards,
        "dealer": scored.dealer,
        "trump": _text(scored.turn_up),
        "bids": list(scored.bids),
        "taken": list(scored.taken),
        "scores": list(scored.scores),
    }


def _text(card: Card | None) -> str | None:
    return None if card is None else card_text(card)


def is_private(event: Event) -> bool:
    """A deal, and a bid that reveals hidden cards (R11), are told differently to each seat."""
    return isinstance(event, RoundDealt) or (isinstance(event, BidPlaced) and bool(event.reveals))


def project(event: Event, observer: Seat | None) -> dict[str, Any]:  # noqa: PLR0911
    """What the observer is told of the event; the forms are in this module's docstring."""
    match event:
        case CardPlayed(seat=seat, card=card):
            return {"k": "play", "seat": seat, "card": CARD_TEXT[card]}
        case TrickTaken(winner=winner):
            return {"k": "trick", "winner": winner}
        case BidPlaced(seat=seat, bid=bid, reveals=reveals):
            told = {"k": "bid", "seat": seat, "bid": bid}
            return told | {"hand": hand_texts(reveals[observer])} if reveals and observer is not None else told
        case RoundScored(scores=scores, totals=totals):
            return {"k": "scored", "scores": list(scores), "totals": list(totals)}
        case RoundDealt():
            return _dealt(event, observer)
        case DealerDrawn(seat=seat):
            return {"k": "dealer", "seat": seat}
        case ScheduleSet(sizes=sizes):
            return {"k": "schedule", "rounds": list(sizes)}
        case GameEnded(ranking=ranking, totals=totals):
            return {"k": "over", "ranking": list(ranking), "totals": list(totals)}
        case _:
            assert_never(event)


def _dealt(event: RoundDealt, observer: Seat | None) -> dict[str, Any]:
    told: dict[str, Any] = {
        "k": "dealt",
        "round": event.index,
        "cards": event.cards,
        "dealer": event.dealer,
        "trump": _text(event.turn_up),
    }
    if observer is None:
        return told
    options = event.setup.options
    if not conceals(options, event.cards):
        return told | {"hand": hand_texts(event.hands[observer])}
    told["hand"] = []
    return told | {"foreheads": _foreheads(event.hands, observer)} if options.one_card is OneCard.FOREHEAD else told
