"""The same evolution on plain views, for clients that hold no state (see `libs.engine.follow`)."""

from collections.abc import Mapping
from typing import Any

from libs.engine.cards import hand_of, hand_texts, parse_card
from libs.engine.german.state import HAND_SIZE, PLAYERS
from libs.engine.german.views import STOCK_SIZE
from libs.engine.protocol import View
from libs.engine.tricks import showing


def follow(view: View, told: Mapping[str, Any]) -> View:
    """The observer's next view. Raises ValueError for an event of another game or release."""
    step = STEPS.get(told["k"])
    if step is None:
        raise ValueError(f"unknown event {told['k']!r}")
    after = view | step(view, told)
    after.pop("legal", None)
    if after["to_act"] is not None and after["to_act"] == after["seat"]:
        after["legal"] = showing.legal_plays(after)
    return after


def _dealer(view: View, told: Mapping[str, Any]) -> View:
    return {"dealer": told["seat"]}


def _dealt(view: View, told: Mapping[str, Any]) -> View:
    first = 1 - told["dealer"]
    return showing.dealt(view, told, [HAND_SIZE] * PLAYERS) | {
        "phase": "play",
        "round": 0,
        "cards": HAND_SIZE,
        "dealer": told["dealer"],
        "trump_suit": told["trump"][-1],
        "trick": showing.empty_trick(PLAYERS, first),
        "to_act": first,
        "prize": told["trump"],
        "stock": STOCK_SIZE,
    }


def _trick(view: View, told: Mapping[str, Any]) -> View:
    winner = told["winner"]
    changed = showing.gathered(view, told, showing.leader(view, told)) | {
        "taken": showing.replaced(view["taken"], winner, view["taken"][winner] + 1)
    }
    if view["stock"] and not view["options"]["count_all"]:
        return changed
    return changed | {"scores": showing.replaced(view["scores"], winner, view["scores"][winner] + 1)}


def _stock(view: View, told: Mapping[str, Any]) -> View:
    drawn = told["prize"] if view["seat"] == told["winner"] else told.get("card")
    changed: View = {
        "trump": None,
        "prize": told["turned"],
        "stock": view["stock"] - 2,
        "counts": [count + 1 for count in view["counts"]],
    }
    if drawn is None or "hand" not in view:
        return changed
    return changed | {"hand": hand_texts(hand_of(map(parse_card, [*view["hand"], drawn])))}


def _over(view: View, told: Mapping[str, Any]) -> View:
    row = {field: view[field] for field in ("dealer", "trump_suit", "taken")} | {"scores": list(told["totals"])}
    return {"phase": "over", "score_sheet": [row], "ranking": list(told["ranking"])}


STEPS = {
    "dealer": _dealer,
    "dealt": _dealt,
    "play": showing.laid,
    "trick": _trick,
    "stock": _stock,
    "over": _over,
}
