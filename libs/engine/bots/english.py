"""The calm player of English Whist: knows its partner, claims always (W7), takes the larger swing."""

from libs.engine.bots.card_play import read, take
from libs.engine.cards import card_text
from libs.engine.english.scoring import POINTS, TRICKS
from libs.engine.protocol import Action, View


def choose(view: View) -> Action:
    """A legal move for the seat whose view this is; a pure function of the view. It never revokes."""
    if (swings := view["penalty"]) is not None:
        return {"penalty": TRICKS if swings["tricks"] > swings["points"] else POINTS}
    if view["phase"] == "claim":
        return {"claim": True}
    sides = view["sides"]
    allies = [seat for seat in range(view["players"]) if sides[seat] == sides[view["seat"]]]
    return {"play": card_text(take(read(view, allies)))}
