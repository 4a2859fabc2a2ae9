"""Romanian Whist: bids against tricks taken (R5, R7)."""

from collections.abc import Mapping, Sequence
from typing import Any

from libs.client.cli.lettering import card, count
from libs.client.cli.screens.parts import GameScreen, Names, View, seat_heads


def headline(view: View) -> list[str]:
    parts = ["Whist", view["mode"]]
    if view["round"] is not None:
        parts.append(f"round {view['round'] + 1} of {len(view['rounds'])}")
        parts.append(count(view["cards"], "card"))
        parts.append(f"trump {card(view['trump'])}" if view["trump"] else "no trump")
    return parts


def cells(view: View, seat: int) -> tuple[str, ...]:
    bid = view["bids"][seat]
    return "-" if bid is None else str(bid), str(view["taken"][seat]), f"{view['scores'][seat]:+d}"


def aside(view: View, seat: int) -> str:
    """R11: the card on a forehead."""
    foreheads = view.get("foreheads")
    shown = foreheads and foreheads[seat]
    return f"{card(shown)} on the forehead" if shown else ""


def no_cards(view: View) -> str:
    """R11: a bid without one's own card."""
    return "Your card is hidden while bids are made." if view["phase"] == "bid" else "You hold no cards."


def tally(view: View, _names: Names) -> list[str]:
    """How the bids stand against the tricks there are, and how our own last round ended."""
    parts = []
    bids = [bid for bid in view["bids"] if bid is not None]
    if bids:
        so_far = "" if len(bids) == view["players"] else " so far"
        parts.append(f"Bids{so_far}: {sum(bids)}, tricks: {view['cards']}")
    if view["score_sheet"] and view["seat"] is not None:
        row, seat = view["score_sheet"][-1], view["seat"]
        parts.append(
            f"your round {len(view['score_sheet'])}: "
            f"bid {row['bids'][seat]}, took {row['taken'][seat]}, {row['scores'][seat]:+d}"
        )
    text = " · ".join(parts)
    return [text[:1].upper() + text[1:]]


def sheet(view: View, names: Names) -> list[str]:
    return rounds(view["score_sheet"], view["scores"], names)


def rounds(sheet: Sequence[Mapping[str, Any]], totals: Sequence[int], names: Names) -> list[str]:
    """Rounds downwards, seats across: bid/taken and points; totals below. Seats are numbered from 1, names above."""
    head = "".join(f"{f'seat {seat}':>10}" for seat in range(1, len(names) + 1))
    lines = [*seat_heads(names), "", f"cards trump dealer{head}"]
    for row in sheet:
        across = "".join(
            f"{f'{bid}/{won} {points:+d}':>10}"
            for bid, won, points in zip(row["bids"], row["taken"], row["scores"], strict=True)
        )
        lines.append(f"{row['cards']:>5} {card(row['trump']) or '-':>5} {row['dealer'] + 1:>6}{across}")
    lines.append("total" + " " * 13 + "".join(f"{f'{total:+d}':>10}" for total in totals))
    return lines


SCREEN = GameScreen(
    headline=headline,
    columns=(("bid", 4), ("taken", 6), ("total", 7)),
    cells=cells,
    aside=aside,
    notes=tally,
    sheet=sheet,
    no_cards=no_cards,
    deal="round",
)
