"""The calm player: counts, bids what it expects, takes what it needs, ducks the rest.

One thought serves bidding and play: from each card's chance of a trick, the number of tricks to come
has a distribution; a bid, or a card, is worth the points to be expected under it (R7). What it can
steer (try to win with a card, or to lose with it) it will steer towards its bid.
"""

from collections.abc import Sequence

from libs.engine.bots.chances import Range, later, wins_now
from libs.engine.bots.knowledge import Knowledge, know
from libs.engine.cards import Card, Hand, cards_in, parse_card
from libs.engine.protocol import Action, View
from libs.engine.romanian.scoring import points

STEERING = (0.0, 0.5, 1.0)  # from ducking with every card to trying with every card


def choose(view: View) -> Action:
    """A legal move for the seat whose view this is. Deterministic; knows nothing but the view."""
    known = know(view)
    if view["phase"] == "bid":
        return {"bid": _bid(view, known)}
    return {"play": _play(view, known)}


def _bid(view: View, known: Knowledge) -> int:
    """The best legal bid in both directions from a barred one, and never below the sure tricks."""
    bids: list[int] = [action["bid"] for action in view["legal"]]
    sure = sure_tricks(known)
    first_to_lead = view["to_act"] == (view["dealer"] + 1) % view["players"]
    chances = later(known, known.hand, leading=first_to_lead)
    return max(
        (bid for bid in bids if bid >= sure or bid == bids[-1]),
        key=lambda bid: (_worth(bid, bid, chances), -bid),
    )


def sure_tricks(known: Knowledge) -> int:
    """Trumps that nothing unseen can beat."""
    above = known.unseen & known.trumps
    return sum(1 for card in cards_in(Hand(known.hand & known.trumps)) if not above >> card)


def _play(view: View, known: Knowledge) -> str:
    texts = [action["play"] for action in view["legal"]]
    if len(texts) == 1:
        return str(texts[0])
    seat = view["seat"]
    bid = view["bids"][seat]
    need = bid - view["taken"][seat]
    if need >= len(view["hand"]):
        return str(max(texts, key=lambda text: _surest(known, parse_card(text))))
    return str(max(texts, key=lambda text: _rank_card(known, parse_card(text), bid, need)))


def _surest(known: Knowledge, card: Card) -> tuple[float, bool, int]:
    """Every trick left is needed: the likeliest winner; led, top trumps first; else the cheapest."""
    strength = card & 15
    if known.trick:
        return round(wins_now(known, card), 6), False, -strength
    return round(wins_now(known, card), 6), bool(known.trumps >> card & 1), strength


def _rank_card(known: Knowledge, card: Card, bid: int, need: int) -> tuple[float, int]:
    """Expected points; between equals, the low card when we want tricks, the high one when not."""
    rest = Hand(known.hand & ~(1 << card))
    now = wins_now(known, card)
    won = _worth(bid, need - 1, later(known, rest, leading=True)) if now > 0 else 0.0
    lost = _worth(bid, need, later(known, rest, leading=False)) if now < 1 else 0.0
    worth = now * won + (1 - now) * lost
    strength = card & 15
    return round(worth, 6), -strength if need > 0 else strength


def _worth(bid: int, need: int, chances: Sequence[Range]) -> float:
    """Points to be expected when `need` more tricks make the bid, steered as well as we can."""
    return max(_expected(bid, need, chances, steer) for steer in STEERING)


def _expected(bid: int, need: int, chances: Sequence[Range], steer: float) -> float:
    taken = bid - need
    spread = _spread([one.low + steer * (one.high - one.low) for one in chances])
    return sum(chance * points(bid, taken + more) for more, chance in enumerate(spread))


def _spread(chances: Sequence[float]) -> list[float]:
    """Distribution of the number of successes."""
    spread = [1.0]
    for chance in chances:
        lost = [one * (1 - chance) for one in spread] + [0.0]
        won = [0.0] + [one * chance for one in spread]
        spread = [one + other for one, other in zip(lost, won, strict=True)]
    return spread
