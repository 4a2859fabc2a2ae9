"""Bidding on a card that its owner does not see (R11): one card a player, so that nothing is left to play out.

The rollouts need a whole hand of one's own. Here there is none, and none is needed: every card falls by itself, and the
chance of the trick can be counted to the last digit.
"""

from functools import lru_cache
from math import comb

from libs.engine.cards import RANK_TEXT, card_text, deck
from libs.engine.protocol import View
from libs.engine.romanian.options import Scoring
from libs.engine.romanian.scoring import points


def is_concealed(view: View) -> bool:
    """Whether the seat is to bid without having seen its card (R11's "forehead" and "hidden")."""
    return not view["hand"]


def bid_points(view: View, bid: int) -> float:
    """Own expected points of bidding 0 or 1, exact. Premiums hang on earlier rounds and are left out."""
    rule, chance = Scoring(view["options"]["scoring"]), trick_chance(view)
    return chance * points(bid, 1, rule) + (1 - chance) * points(bid, 0, rule)


def bid_chance(view: View, bid: int) -> float:
    """That the bid of 0 or 1 is made, 0..1."""
    chance = trick_chance(view)
    return chance if bid else 1 - chance


def trick_chance(view: View) -> float:
    """That the unseen card takes the one trick, by what the seat sees of the others; what they bid is not read."""
    players, trump = view["players"], view["trump"]
    first = (view["dealer"] + 1) % players
    foreheads = view.get("foreheads")
    if foreheads is None:
        leads = _leader_chance(players, trump)
        # Nobody sees anything, so that the followers are alike.
        return leads if view["seat"] == first else (1 - leads) / (players - 1)
    shown = [text for text in foreheads if text is not None]
    unseen = [text for text in _pack(players) if text != trump and text not in shown]
    return sum(not any(_beats(one, own, foreheads[first] or own, trump) for one in shown) for own in unseen) / len(
        unseen
    )


@lru_cache(maxsize=256)
def _leader_chance(players: int, trump: str) -> float:
    """That an unknown card which is led takes the trick from as unknown ones."""
    unseen = [text for text in _pack(players) if text != trump]
    rest, others = len(unseen) - 1, players - 1
    won = 0
    for own in unseen:
        higher = sum(_beats(one, own, own, trump) for one in unseen)
        won += comb(rest - higher, others)
    return won / (len(unseen) * comb(rest, others))


def _pack(players: int) -> list[str]:
    return [card_text(card) for card in deck(players)]


def _beats(one: str, other: str, led: str, trump: str) -> bool:
    """Whether `one` would take the trick from `other` (R6); the card led is on the table, so the rest cannot win."""
    return _order(one, led, trump) > _order(other, led, trump)


def _order(text: str, led: str, trump: str) -> tuple[int, int]:
    kind = 2 if text[1] == trump[1] else 1 if text[1] == led[1] else 0
    return kind, RANK_TEXT.index(text[0])
