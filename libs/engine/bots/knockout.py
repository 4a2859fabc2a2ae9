"""The calm player of Knockout Whist: names its best suit, and as a dog waits for a trick it can win."""

from libs.engine.bots.card_play import read, take, wins
from libs.engine.bots.solo import best_suit
from libs.engine.cards import Rank, card_text, hand_of, parse_card
from libs.engine.protocol import Action, View


def choose(view: View) -> Action:
    """A legal move for the seat whose view this is; a pure function of the view."""
    if view["phase"] == "name":
        return {"trumps": best_suit(hand_of(map(parse_card, view["hand"]))).value}
    position = read(view)
    card = take(position)
    hold = next((action for action in view["legal"] if "hold" in action), None)
    sure = position.last or card & 15 == Rank.ACE or bool(position.trumps >> card & 1)
    if hold is not None and not (position.trick and wins(position, card) and sure):
        return dict(hold)
    return {"play": card_text(card)}
