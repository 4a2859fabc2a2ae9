"""English and American Whist: partners, tricks by side, the running game and the rubber (W3–W7)."""

from collections.abc import Sequence
from typing import Any

from libs.client.cli.lettering import SIGNS, card, count, trumps
from libs.client.cli.screens.parts import GameScreen, Names, View

AMERICAN_TARGET = 7  # W5: with this target and without honours the game is American Whist
CLAIMS = {None: "", True: "claims a revoke", False: "no claim"}


def headline(view: View) -> list[str]:
    options = view["options"]
    american = options["target"] == AMERICAN_TARGET and not options["honours"]
    parts = ["American Whist" if american else "English Whist", options["match"]]
    if view["round"] is not None:
        parts.append(f"hand {view['round'] + 1}")
        parts.append(trumps(view["trump_suit"]))
        parts += [f"{card(view['trump'])} turned up"] if view["trump"] else []
    return parts


def cells(view: View, seat: int) -> tuple[str, ...]:
    side = "" if view["seat"] is None else ("we" if view["sides"][seat] == _own(view) else "they")
    return side, str(view["counts"][seat]), str(view["taken"][seat])


def aside(view: View, seat: int) -> str:
    """W7: what the seat has said to the question for revokes."""
    return CLAIMS[view["claims"][seat]]


def notes(view: View, _names: Names) -> list[str]:
    own = _own(view)
    return [_standing("We", view, own), _standing("They", view, 1 - own), _last_hand(view)]


def _own(view: View) -> int:
    """Our side; a spectator sees side 0 as "we"."""
    seat = view["seat"]
    side: int = 0 if seat is None else view["sides"][seat]
    return side


def _standing(who: str, view: View, side: int) -> str:
    seat, options = view["sides"].index(side), view["options"]
    parts = [
        f"{who + ':':5} {count(view['taken'][seat], 'trick')} in this hand",
        f"game {view['score'][side]} of {options['target']}",
    ]
    if options["match"] == "rubber":
        parts.append(f"{count(view['games'][side], 'game')} won")
    return " · ".join([*parts, f"{count(view['scores'][seat], 'point')} in all"])


def _last_hand(view: View) -> str:
    """The newest row of the score sheet."""
    if not view["score_sheet"]:
        return ""
    row, own = view["score_sheet"][-1], _own(view)
    said = f"Hand {len(view['score_sheet'])} {SIGNS[row['trump_suit']]}"
    if row["void"]:
        return f"{said}: void, no score"
    game = "game" if row["won"] is None else "game won" if row["won"] == own else "game lost"
    pairs = [f"{field} {_pair(row[field], own)}" for field in _fields(view)]
    return " ".join([f"{said} (we:they)", *pairs, f"{game} {_pair(row['score'], own)}"])


def _fields(view: View) -> list[str]:
    """Honours and penalties where the table's options have them."""
    options = view["options"]
    asked = {"honours": options["honours"], "penalty": options["revokes"] == "club"}
    return ["tricks", *(field for field, shown in asked.items() if shown), "points"]


def _pair(pair: Sequence[Any], own: int) -> str:
    """The observer's side first, with a sign that a minus cannot be taken for."""
    return f"{pair[own]}:{pair[1 - own]}"


def sheet(view: View, names: Names) -> list[str]:
    """Hands downwards; each pair is we:they."""
    own, fields = _own(view), _fields(view)
    sides = [[name for seat, name in enumerate(names) if view["sides"][seat] == side] for side in (own, 1 - own)]
    heads = "".join(f"{field:>9}" for field in fields)
    lines = [f"we: {' and '.join(sides[0])}   they: {' and '.join(sides[1])}", "", f"hand trump{heads}     game"]
    for number, row in enumerate(view["score_sheet"], start=1):
        across = "".join(f"{'void' if row['void'] else _pair(row[field], own):>9}" for field in fields)
        won = "" if row["won"] is None else ("  won by us" if row["won"] == own else "  won by them")
        lines.append(f"{number:>4} {SIGNS[row['trump_suit']]:>5}{across}{_pair(row['score'], own):>9}{won}")
    return lines


SCREEN = GameScreen(
    headline=headline,
    columns=(("side", 5), ("cards", 6), ("tricks", 7)),
    cells=cells,
    aside=aside,
    notes=notes,
    sheet=sheet,
    hand_rows=2,
)
