"""The same evolution on plain views, for clients that hold no state (see `libs.engine.follow`)."""

from collections.abc import Mapping
from typing import Any

from libs.engine.cards import SUITS
from libs.engine.knockout.deciding import HOLD
from libs.engine.knockout.state import due_in_trick, may_hold, next_in
from libs.engine.protocol import Action, Seat, View
from libs.engine.tricks import showing


def follow(view: View, told: Mapping[str, Any]) -> View:
    """The observer's next view. Raises ValueError for an event of another game or release."""
    step = STEPS.get(told["k"])
    if step is None:
        raise ValueError(f"unknown event {told['k']!r}")
    after = view | step(view, told)
    after.pop("legal", None)
    if after["to_act"] is not None and after["to_act"] == after["seat"]:
        after["legal"] = _legal(after)
    return after


def _dealer(view: View, told: Mapping[str, Any]) -> View:
    return {"dealer": told["seat"]}


def _namer(view: View, told: Mapping[str, Any]) -> View:
    return {"namer": told["seat"]}


def _dealt(view: View, told: Mapping[str, Any]) -> View:
    players, namer = view["players"], told["namer"]
    changed = showing.dealt(view, told, list(told["sizes"])) | {
        "phase": "name",
        "round": told["round"],
        "cards": told["cards"],
        "dealer": told["dealer"],
        "namer": namer,
        "sizes": list(told["sizes"]),
        "trump_suit": None,
        "to_act": namer,
        "held": [False] * players,
        "taken": [0] * players,
    }
    if namer is not None:
        return changed
    first = next_in(view["alive"], told["dealer"])
    return changed | {
        "phase": "play",
        "trump_suit": told["trump"][-1],
        "to_act": first,
        "trick": showing.empty_trick(players, first),
    }


def _trumps(view: View, told: Mapping[str, Any]) -> View:
    return {
        "phase": "play",
        "trump_suit": told["trumps"],
        "trick": showing.empty_trick(view["players"], told["seat"]),
        "turn": view["turn"] + 1,
    }


def _play(view: View, told: Mapping[str, Any]) -> View:
    changed = showing.laid(view, told)
    return changed | {"to_act": _next(view | changed, told["seat"])}


def _hold(view: View, told: Mapping[str, Any]) -> View:
    held = showing.replaced(view["held"], told["seat"], True)
    then = _next(view | {"held": held}, told["seat"])
    starts = all(card is None for card in view["trick"]["cards"])
    return {
        "held": held,
        "to_act": then,
        "turn": view["turn"] + 1,
        "trick": view["trick"] | {"lead": then} if starts else view["trick"],
        "last_trick": None,
    }


def _next(view: View, seat: Seat) -> Seat | None:
    laid = [card is not None for card in view["trick"]["cards"]]
    return next_in(due_in_trick(view["counts"], laid, view["held"]), seat)


def _trick(view: View, told: Mapping[str, Any]) -> View:
    winner, with_cards = told["winner"], [bool(count) for count in view["counts"]]
    then = winner if with_cards[winner] else next_in(with_cards, winner)
    return showing.gathered(view, told, then) | {
        "taken": showing.replaced(view["taken"], winner, view["taken"][winner] + 1),
        "held": [False] * view["players"],
    }


def _scored(view: View, told: Mapping[str, Any]) -> View:
    row = told["row"]
    return {
        "phase": "draw",
        "namer": None,
        "alive": list(row["alive"]),
        "dogs": list(row["dogs"]),
        "scores": [total + taken for total, taken in zip(view["scores"], row["taken"], strict=True)],
        "score_sheet": [*view["score_sheet"], row],
    }


def _over(view: View, told: Mapping[str, Any]) -> View:
    return {"phase": "over", "ranking": list(told["ranking"])}


STEPS = {
    "dealer": _dealer,
    "namer": _namer,
    "dealt": _dealt,
    "trumps": _trumps,
    "play": _play,
    "hold": _hold,
    "trick": _trick,
    "scored": _scored,
    "over": _over,
}


def _legal(view: View) -> list[Action]:
    """The moves of the observer, who is to act."""
    if view["phase"] == "name":
        return [{"trumps": suit.value} for suit in SUITS]
    cards = showing.legal_plays(view)
    holds = may_hold(view["sizes"], view["cards"], sum(view["taken"]), view["seat"])
    return [*cards, dict(HOLD)] if holds else cards
