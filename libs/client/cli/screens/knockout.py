"""Knockout Whist: who is still in, whose dog's life it is, and who names trumps (K1–K3)."""

from libs.client.cli.lettering import SIGNS, card, count, trumps
from libs.client.cli.screens.parts import GameScreen, Names, View, seat_heads


def headline(view: View) -> list[str]:
    parts = ["Knockout Whist"]
    if view["round"] is not None:
        parts += [f"hand {view['round'] + 1}", count(view["cards"], "card")]
        parts.append("trumps to be named" if view["phase"] == "name" else trumps(view["trump_suit"]))
    return parts


def cells(view: View, seat: int) -> tuple[str, ...]:
    state = "dog" if view["dogs"][seat] else "in" if view["alive"][seat] else "out"
    return state, str(view["counts"][seat]), str(view["taken"][seat]), str(view["scores"][seat])


def aside(view: View, seat: int) -> str:
    """Who is to name trumps, and which dog keeps its card in this trick (K2)."""
    if view["phase"] == "name" and seat == view["namer"]:
        return "names trumps"
    return "keeps its card" if view["held"][seat] else ""


def no_cards(view: View) -> str:
    """K2: who is out watches the others."""
    seat = view["seat"]
    return "You hold no cards." if seat is None or view["alive"][seat] else "You are out; the others play on."


def notes(view: View, names: Names) -> list[str]:
    return [_trumps(view, names), _last_hand(view, names)]


def _trumps(view: View, names: Names) -> str:
    if view["trump"] is not None:
        return f"{card(view['trump'])} was turned up for trumps and is in nobody's hand"
    if view["namer"] is None:
        return ""
    took = "took most tricks in the last hand"
    return f"Trumps are named by {names[view['namer']]}, who {took}"


def _last_hand(view: View, names: Names) -> str:
    """Who fell in the last hand, and who lives on as a dog."""
    if not view["score_sheet"]:
        return ""
    row = view["score_sheet"][-1]
    dogs = [names[seat] for seat, dog in enumerate(row["dogs"]) if dog]
    out = [names[seat] for seat, size in enumerate(row["sizes"]) if size and not row["alive"][seat]]
    parts = [f"out: {', '.join(out)}"] if out else []
    parts += [f"a dog's life: {', '.join(dogs)}"] if dogs else []
    return f"Hand {len(view['score_sheet'])}: {' · '.join(parts) or 'nobody is out'}"


def sheet(view: View, names: Names) -> list[str]:
    """Hands downwards, tricks by seat across: - for who was out, * for a dog."""
    head = "".join(f"{f'seat {seat}':>8}" for seat in range(1, len(names) + 1))
    lines = [*seat_heads(names), "", f"cards trump{head}"]
    for row in view["score_sheet"]:
        across = "".join(f"{_tricks(row, seat):>8}" for seat in range(len(names)))
        lines.append(f"{row['cards']:>5} {SIGNS[row['trump_suit']]:>5}{across}")
    return [*lines, "in all     " + "".join(f"{tricks:>8}" for tricks in view["scores"])]


def _tricks(row: View, seat: int) -> str:
    size = row["sizes"][seat]
    if not size:
        return "-"
    return f"{row['taken'][seat]}{'*' if size < row['cards'] else ''}"


SCREEN = GameScreen(
    headline=headline,
    columns=(("", 4), ("cards", 6), ("tricks", 6), ("in all", 7)),
    cells=cells,
    aside=aside,
    notes=notes,
    sheet=sheet,
    no_cards=no_cards,
    seat_columns=26,
)
