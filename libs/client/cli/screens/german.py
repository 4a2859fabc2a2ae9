"""German Whist: the face-up prize, the stock, and the tricks that count (G1, G2)."""

from libs.client.cli.lettering import SIGNS, card, count, trumps
from libs.client.cli.screens.parts import GameScreen, Names, View, nothing
from libs.engine.german.state import HAND_SIZE


def headline(view: View) -> list[str]:
    parts = ["German Whist"]
    if view["round"] is not None:
        parts.append("first half: for the cards" if view["stock"] else "second half: for the tricks")
        parts.append(trumps(view["trump_suit"]))
    return parts


def cells(view: View, seat: int) -> tuple[str, ...]:
    return str(view["counts"][seat]), str(view["taken"][seat]), str(view["scores"][seat])


def notes(view: View, _names: Names) -> list[str]:
    return [_prize(view), _stock(view)]


def _prize(view: View) -> str:
    if view["prize"] is None:
        return "The stock is used up; every card is in a hand or was played." if view["trump_suit"] else ""
    return f"Face up: {card(view['prize'])}. The trick's winner takes it, the loser the next card, unseen."


def _stock(view: View) -> str:
    counted = f"all {2 * HAND_SIZE} tricks count" if view["options"]["count_all"] else f"the last {HAND_SIZE} count"
    return f"Stock: {count(view['stock'], 'card')} · {counted}"


def sheet(view: View, names: Names) -> list[str]:
    """The one deal: all tricks, and those that count."""
    lines = [f"{'seat':24} tricks  count"]
    for row in view["score_sheet"]:
        lines += [
            f"{name:24} {tricks:>6} {counted:>6}"
            for name, tricks, counted in zip(names, row["taken"], row["scores"], strict=True)
        ]
        lines.append(f"trump {SIGNS[row['trump_suit']]}")
    return lines


SCREEN = GameScreen(
    headline=headline,
    columns=(("cards", 6), ("tricks", 7), ("count", 6)),
    cells=cells,
    aside=nothing,
    notes=notes,
    sheet=sheet,
    hand_rows=2,
)
