"""The calm player of German Whist: fights for trumps and court cards, ducks the rest, then takes tricks."""

from libs.engine.bots.card_play import duck, read, take
from libs.engine.cards import Rank, card_text, parse_card
from libs.engine.protocol import Action, View


def choose(view: View) -> Action:
    """A legal move for the seat whose view this is; a pure function of the view."""
    position = read(view)
    prize = None if view["prize"] is None else parse_card(view["prize"])
    worthless = prize is not None and not position.trumps >> prize & 1 and prize & 15 < Rank.JACK
    wanted = view["options"]["count_all"] or not worthless
    return {"play": card_text(take(position) if wanted else duck(position))}
