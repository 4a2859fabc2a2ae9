"""The same evolution on plain views, for clients that hold no state (see `libs.engine.follow`)."""

from collections.abc import Mapping
from typing import Any

from libs.engine.cards import NO_CARDS, SUIT_MASKS, SUITS, hand_of, hand_texts, parse_card
from libs.engine.protocol import Action, View
from libs.engine.romanian.bidding import barred_bid, legal_bids
from libs.engine.romanian.play import playable


def follow(view: View, told: Mapping[str, Any]) -> View:
    """The observer's next view. Raises ValueError for an event of another game or release."""
    step = STEPS.get(told["k"])
    if step is None:
        raise ValueError(f"unknown event {told['k']!r}")
    after = view | step(view, told)
    after.pop("legal", None)
    after["barred"] = _barred(after)
    if after["to_act"] is not None and after["to_act"] == after["seat"]:
        after["legal"] = _legal(after)
    return after


def _dealer(view: View, told: Mapping[str, Any]) -> View:
    return {"dealer": told["seat"]}


def _schedule(view: View, told: Mapping[str, Any]) -> View:
    return {"rounds": list(told["rounds"])}


def _dealt(view: View, told: Mapping[str, Any]) -> View:
    players, trump = view["players"], told["trump"]
    changed: View = {
        "phase": "bid",
        "round": told["round"],
        "cards": told["cards"],
        "dealer": told["dealer"],
        "trump": trump,
        "trump_suit": None if trump is None else trump[-1],
        "to_act": (told["dealer"] + 1) % players,
        "bids": [None] * players,
        "taken": [0] * players,
        "trick": {"lead": None, "cards": [None] * players},
        "tricks": [],
        "last_trick": None,
    }
    if "foreheads" in view:
        changed["foreheads"] = told.get("foreheads")
    # A seat that is told in public first has no cards until its own hand comes.
    return changed | {"hand": list(told.get("hand", ()))} if "hand" in view else changed


def _bid(view: View, told: Mapping[str, Any]) -> View:
    seat = told["seat"]
    after = (seat + 1) % view["players"]
    changed: View = {
        "bids": _with(view["bids"], seat, told["bid"]),
        "to_act": after,
        "turn": view["turn"] + 1,
    }
    if "hand" in told:
        changed["hand"] = list(told["hand"])
    if seat == view["dealer"]:
        changed |= {"foreheads": None} if "foreheads" in view else {}
        changed |= {"phase": "play", "trick": view["trick"] | {"lead": after}}
    return changed


def _play(view: View, told: Mapping[str, Any]) -> View:
    seat, text = told["seat"], told["card"]
    cards = _with(view["trick"]["cards"], seat, text)
    changed: View = {
        "trick": view["trick"] | {"cards": cards},
        "to_act": (seat + 1) % view["players"] if None in cards else None,
        "turn": view["turn"] + 1,
    }
    if text in view.get("hand", ()):
        changed["hand"] = [card for card in view["hand"] if card != text]
    return changed


def _trick(view: View, told: Mapping[str, Any]) -> View:
    winner = told["winner"]
    trick = view["trick"] | {"winner": winner}
    tricks = [*view["tricks"], trick]
    return {
        "taken": _with(view["taken"], winner, view["taken"][winner] + 1),
        "trick": {"lead": winner, "cards": [None] * view["players"]},
        "tricks": tricks,
        "last_trick": trick,
        "to_act": winner if len(tricks) < view["cards"] else None,
    }


def _scored(view: View, told: Mapping[str, Any]) -> View:
    row = {field: view[field] for field in ("cards", "dealer", "trump", "bids", "taken")}
    return {
        "phase": "draw",
        "scores": list(told["totals"]),
        "score_sheet": [*view["score_sheet"], row | {"scores": list(told["scores"])}],
        "trick": {"lead": None, "cards": [None] * view["players"]},
    }


def _over(view: View, told: Mapping[str, Any]) -> View:
    return {"phase": "over", "ranking": list(told["ranking"])}


STEPS = {
    "dealer": _dealer,
    "schedule": _schedule,
    "dealt": _dealt,
    "bid": _bid,
    "play": _play,
    "trick": _trick,
    "scored": _scored,
    "over": _over,
}


def _with(values: list[Any], seat: int, value: object) -> list[Any]:
    return [*values[:seat], value, *values[seat + 1 :]]


def _barred(view: View) -> int | None:
    if view["phase"] != "bid":
        return None
    return barred_bid(view["bids"], view["dealer"], view["cards"])


def _legal(view: View) -> list[Action]:
    """The moves of the observer, who is to act."""
    if view["phase"] == "bid":
        return [{"bid": bid} for bid in legal_bids(view["cards"], view["barred"])]
    led = view["trick"]["cards"][view["trick"]["lead"]]
    suit = view["trump_suit"]
    allowed = playable(
        hand_of(map(parse_card, view["hand"])),
        None if led is None else parse_card(led),
        NO_CARDS if suit is None else SUIT_MASKS[SUITS.index(suit)],
    )
    return [{"play": text} for text in hand_texts(allowed)]
