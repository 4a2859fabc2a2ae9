"""The same evolution on plain views, for clients that hold no state (see `libs.engine.follow`)."""

from collections.abc import Mapping
from typing import Any

from libs.engine.cards import SUITS, Suit, parse_card
from libs.engine.protocol import Action, View
from libs.engine.solo.auction import PLAYERS, TERMS, Call, Called, Standing, Trumps, standing
from libs.engine.solo.state import HAND_SIZE, leader, trump_of
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


def _dealt(view: View, told: Mapping[str, Any]) -> View:
    return showing.dealt(view, told, [HAND_SIZE] * PLAYERS) | {
        "phase": "bid",
        "round": told["round"],
        "cards": HAND_SIZE,
        "dealer": told["dealer"],
        "trump_suit": None,
        "to_act": (told["dealer"] + 1) % PLAYERS,
        "calls": [],
        "bid": None,
        "declarer": None,
        "partner": None,
        "open": None,
        "taken": [0] * PLAYERS,
    }


def _auction(view: View) -> Standing:
    return standing(tuple(Called(seat, Call(call)) for seat, call in view["calls"]), view["dealer"])


def _call(view: View, told: Mapping[str, Any]) -> View:
    changed: View = {"calls": [*view["calls"], [told["seat"], told["call"]]], "turn": view["turn"] + 1}
    auction = _auction(view | changed)
    bid = auction.bid
    changed |= {
        "bid": None if bid is None else bid.value,
        "declarer": auction.declarer,
        "partner": auction.partner,
        "to_act": auction.to_act,
    }
    if auction.to_act is not None or bid is None or not auction.contract:
        return changed
    if TERMS[bid].trumps is Trumps.OWN:
        return changed | {"to_act": auction.declarer}
    return changed | _started(view | changed, None)


def _trumps(view: View, told: Mapping[str, Any]) -> View:
    return {"turn": view["turn"] + 1} | _started(view, Suit(told["trumps"]))


def _started(view: View, named: Suit | None) -> View:
    bid = Call(view["bid"])
    trump = trump_of(bid, parse_card(view["trump"]), named)
    lead = leader(bid, view["declarer"], view["dealer"])
    return {
        "phase": "play",
        "trump_suit": None if trump is None else trump.value,
        "trick": showing.empty_trick(PLAYERS, lead),
        "to_act": lead,
    }


def _play(view: View, told: Mapping[str, Any]) -> View:
    changed = showing.laid(view, told)
    shown = view["open"]
    if shown is not None and shown["seat"] == told["seat"]:
        changed["open"] = shown | {"cards": [one for one in shown["cards"] if one != told["card"]]}
    return changed | {"trump": None} if told["seat"] == view["dealer"] else changed


def _trick(view: View, told: Mapping[str, Any]) -> View:
    winner = told["winner"]
    taken = showing.replaced(view["taken"], winner, view["taken"][winner] + 1)
    return showing.gathered(view, told, showing.leader(view, told)) | {"taken": taken}


def _opened(view: View, told: Mapping[str, Any]) -> View:
    return {"open": {"seat": told["seat"], "cards": list(told["cards"])}}


def _scored(view: View, told: Mapping[str, Any]) -> View:
    row = told["row"]
    return {
        "phase": "draw",
        "to_act": None,
        "open": None,
        "scores": [total + units for total, units in zip(view["scores"], row["units"], strict=True)],
        "score_sheet": [*view["score_sheet"], row],
    }


def _over(view: View, told: Mapping[str, Any]) -> View:
    return {"phase": "over", "ranking": list(told["ranking"])}


STEPS = {
    "dealer": _dealer,
    "dealt": _dealt,
    "call": _call,
    "trumps": _trumps,
    "play": _play,
    "trick": _trick,
    "opened": _opened,
    "scored": _scored,
    "over": _over,
}


def _legal(view: View) -> list[Action]:
    """The moves of the observer, who is to act."""
    if view["phase"] == "play":
        return showing.legal_plays(view)
    calls = _auction(view).legal
    return [{"call": call.value} for call in calls] or [{"trumps": suit.value} for suit in SUITS]
