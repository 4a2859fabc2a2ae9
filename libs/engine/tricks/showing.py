"""Views and their followers: what the games of S1 show alike. All of it is public but the hands.

counts      cards held, by seat
trump       the turned card while it lies shown, else null; trump_suit: its letter, null without trump
trick       {"lead": seat or null, "cards": [text or null by seat]}
last_trick  {"lead", "cards", "winner"} until the next lead (W2), else null
"""

from collections.abc import Iterable, Mapping
from typing import Any

from libs.engine.cards import CARD_TEXT, Card, Hand, cards_in, hand_of, hand_texts, parse_card
from libs.engine.protocol import Action, Seat, View
from libs.engine.tricks.play import Laid, Play
from libs.engine.tricks.rules import follow_suit


def text(card: Card | None) -> str | None:
    return None if card is None else CARD_TEXT[card]


def plays(hand: Hand) -> tuple[Action, ...]:
    """One action a card."""
    return tuple([{"play": CARD_TEXT[card]} for card in cards_in(hand)])


def empty_trick(players: int, lead: Seat | None = None) -> View:
    return {"lead": lead, "cards": [None] * players}


def table_view(play: Play | None, players: int) -> View:
    """to_act is left to the game; before the first deal nothing lies on the table."""
    if play is None:
        return {"counts": [0] * players, "trick": empty_trick(players), "last_trick": None}
    last = play.last
    lead = play.lead if play.trick or play.to_act is not None else None
    return {
        "counts": play.counts,
        "trick": _trick_view(play.trick, lead, players),
        "last_trick": None
        if last is None
        else _trick_view(last.laid, last.laid[0].seat, players) | {"winner": last.winner},
    }


def _trick_view(laid: Iterable[Laid], lead: Seat | None, players: int) -> View:
    cards: list[str | None] = [None] * players
    for one in laid:
        cards[one.seat] = CARD_TEXT[one.card]
    return {"lead": lead, "cards": cards}


def dealt(view: View, told: Mapping[str, Any], counts: list[int]) -> View:
    """Follow a deal: everybody's counts and the observer's own hand."""
    changed: View = {"counts": counts, "trick": empty_trick(len(counts)), "last_trick": None, "trump": told["trump"]}
    # A seat that is told in public first has no cards until its own hand comes.
    return changed | {"hand": list(told.get("hand", ()))} if "hand" in view else changed


def laid(view: View, told: Mapping[str, Any]) -> View:
    """Follow a card; `to_act` is the next seat clockwise until each has played."""
    seat, card = told["seat"], told["card"]
    trick, players = view["trick"], view["players"]
    starts = all(one is None for one in trick["cards"])
    cards = replaced(trick["cards"], seat, card)
    changed: View = {
        "counts": replaced(view["counts"], seat, view["counts"][seat] - 1),
        "trick": {"lead": seat if starts else trick["lead"], "cards": cards},
        "last_trick": None if starts else view["last_trick"],
        "to_act": (seat + 1) % players if None in cards else None,
        "turn": view["turn"] + 1,
    }
    if card in view.get("hand", ()):
        changed["hand"] = [one for one in view["hand"] if one != card]
    return changed


def gathered(view: View, told: Mapping[str, Any], then: Seat | None) -> View:
    """Follow a finished trick; `then` leads the next."""
    return {
        "trick": empty_trick(view["players"], then),
        "last_trick": view["trick"] | {"winner": told["winner"]},
        "to_act": then,
    }


def leader(view: View, told: Mapping[str, Any]) -> Seat | None:
    """The winner leads while cards are left."""
    return told["winner"] if view["counts"][told["winner"]] else None


def shown_hand(view: View) -> Hand:
    """The observer's own cards."""
    return hand_of(map(parse_card, view["hand"]))


def led_card(view: View) -> Card | None:
    trick = view["trick"]
    led = None if trick["lead"] is None else trick["cards"][trick["lead"]]
    return None if led is None else parse_card(led)


def legal_plays(view: View) -> list[Action]:
    """The observer's cards that follow suit."""
    return list(plays(follow_suit(shown_hand(view), led_card(view))))


def own_hand(play: Play | None, seat: Seat) -> list[str]:
    return [] if play is None else hand_texts(play.hands[seat])


def replaced(values: list[Any], seat: int, value: object) -> list[Any]:
    return [*values[:seat], value, *values[seat + 1 :]]
