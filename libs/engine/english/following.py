"""The same evolution on plain views, for clients that hold no state (see `libs.engine.follow`)."""

from collections.abc import Mapping
from typing import Any

from libs.engine.english.deciding import HAND_SIZE
from libs.engine.english.options import PLAYERS, Revokes
from libs.engine.english.scoring import PENALTIES
from libs.engine.english.state import next_claimant
from libs.engine.protocol import Action, View
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
    first = (told["dealer"] + 1) % PLAYERS
    return showing.dealt(view, told, [HAND_SIZE] * PLAYERS) | {
        "phase": "play",
        "round": told["round"],
        "cards": HAND_SIZE,
        "dealer": told["dealer"],
        "trump_suit": told["trump"][-1],
        "trick": showing.empty_trick(PLAYERS, first),
        "to_act": first,
        "taken": [0] * PLAYERS,
        "claims": [None] * PLAYERS,
    }


def _play(view: View, told: Mapping[str, Any]) -> View:
    changed = showing.laid(view, told)
    return changed | {"trump": None} if told["seat"] == view["dealer"] else changed


def _trick(view: View, told: Mapping[str, Any]) -> View:
    side = told["winner"] % 2
    taken = [tricks + (seat % 2 == side) for seat, tricks in enumerate(view["taken"])]
    return showing.gathered(view, told, showing.leader(view, told)) | {"taken": taken}


def _claims(view: View, told: Mapping[str, Any]) -> View:
    return {"phase": "claim", "to_act": (view["dealer"] + 1) % PLAYERS}


def _claim(view: View, told: Mapping[str, Any]) -> View:
    claims = showing.replaced(view["claims"], told["seat"], told["claim"])
    return {"claims": claims, "to_act": next_claimant(tuple(claims), view["dealer"]), "turn": view["turn"] + 1}


def _proven(view: View, told: Mapping[str, Any]) -> View:
    penalty = {field: told[field] for field in ("seat", "points", "tricks")}
    return {"penalty": penalty, "to_act": told["seat"]}


def _penalty(view: View, told: Mapping[str, Any]) -> View:
    return {"turn": view["turn"] + 1}


def _scored(view: View, told: Mapping[str, Any]) -> View:
    row, games = told["row"], view["games"]
    won = row["won"]
    return {
        "phase": "draw",
        "to_act": None,
        "penalty": None,
        "score": list(row["score"]) if won is None else [0, 0],
        "games": games if won is None else showing.replaced(games, won, games[won] + 1),
        "scores": [total + row["points"][seat % 2] for seat, total in enumerate(view["scores"])],
        "score_sheet": [*view["score_sheet"], row],
    }


def _over(view: View, told: Mapping[str, Any]) -> View:
    return {"phase": "over", "ranking": list(told["ranking"]), "scores": list(told["totals"])}


STEPS = {
    "dealer": _dealer,
    "dealt": _dealt,
    "play": _play,
    "trick": _trick,
    "claims": _claims,
    "claim": _claim,
    "proven": _proven,
    "penalty": _penalty,
    "scored": _scored,
    "over": _over,
}


def _legal(view: View) -> list[Action]:
    """The moves of the observer, who is to act."""
    if view["penalty"]:
        return [{"penalty": one} for one in PENALTIES]
    if view["phase"] == "claim":
        return [{"claim": False}, {"claim": True}]
    if view["options"]["revokes"] == Revokes.CLUB:
        return list(showing.plays(showing.shown_hand(view)))
    return showing.legal_plays(view)
