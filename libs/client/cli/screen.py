"""A table as 80 columns and at most 24 lines of text. Pure: views in, strings out.

The frame is one for all games; what a game adds to it is in `libs.client.cli.screens`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from libs.client.cli.lettering import COLUMNS, card, cut, fit, names_of, printable, spread, width
from libs.client.cli.moves import asked, choices
from libs.client.cli.screens import SCREENS, GameScreen, romanian
from libs.engine.cards import NO_CARDS, SUIT_MASKS, SUITS, Suit, parse_card
from libs.engine.protocol import View
from libs.engine.tricks.rules import winning_position
from libs.wire.frames import SeatInfo

NAME_COLUMNS = 22  # sixteen letters (P41) and " (bot)"
RULE = "─" * COLUMNS
PLACES = ("1st", "2nd", "3rd", "4th", "5th", "6th", "7th")
GAP = "  "  # between what may be chosen
HAND_COLUMNS = 7  # cards in a line, where the hand has two

__all__ = ["COLUMNS", "PLACES", "card", "final_sheet", "names_of", "printable", "ranking", "render", "score_sheet"]


def render(
    view: View,
    seats: Sequence[SeatInfo],
    *,
    seconds_left: float | None = None,
    message: str = "",
    connected: bool = True,
    hints: bool = True,
) -> str:
    """The whole screen, its last line the prompt, without a newline at the end; one height for a whole game.

    `hints`: whether the prompt offers the coach.
    """
    status = f"{seconds_left:.0f} s" if seconds_left is not None else ""
    game = SCREENS[view["game"]]
    lines = [
        spread(" · ".join(game.headline(view)), status if connected else "reconnecting …"),
        RULE,
        _row(game, ("", ""), "seat", [head for head, _ in game.columns], "on the table"),
        *(_seat_row(game, view, seats, seat) for seat in range(view["players"])),
        RULE,
        *map(cut, game.notes(view, _called(view, seats))),
        _last_trick(game, view, seats),
        "",
        *_hand(game, view),
        *_choices(view, game.choice_rows),
        cut(message),
        _prompt(view, away=_away(view, seats), hints=hints),
    ]
    return "\n".join(line.rstrip() for line in lines)


def score_sheet(sheet: Sequence[Mapping[str, Any]], totals: Sequence[int], names: Sequence[str]) -> str:
    """Romanian Whist's: rounds downwards, seats across, totals below."""
    return "\n".join(romanian.rounds(sheet, totals, [cut(printable(name), NAME_COLUMNS) for name in names]))


def final_sheet(view: View, names: Sequence[str]) -> str:
    """Any game's score sheet, when it is over; names by seat."""
    return "\n".join(SCREENS[view["game"]].sheet(view, [cut(printable(name), NAME_COLUMNS) for name in names]))


def ranking(
    order: Sequence[int], totals: Sequence[int], names: Sequence[str], seat: int, places: Sequence[int] = ()
) -> str:
    """One line a seat, best first; `places` by seat where partners share one (P24)."""
    return "\n".join(
        f"{PLACES[places[each] - 1 if places else place]}  {cut(printable(names[each]), NAME_COLUMNS)}"
        f" {totals[each]:+d}" + (" (you)" if each == seat else "")
        for place, each in enumerate(order)
    )


def _called(view: View, seats: Sequence[SeatInfo]) -> list[str]:
    """Names in sentences; our own seat is "you"."""
    return ["you" if seat == view["seat"] else printable(each.name) for seat, each in enumerate(seats)]


def _seat_row(game: GameScreen, view: View, seats: Sequence[SeatInfo], seat: int) -> str:
    name = names_of(seats)[seat] + (" (you)" if seat == view["seat"] else "")
    if seats[seat].kind == "person" and seats[seat].holder == "bot":
        name += " (left)" if seats[seat].left else " (away)"
    signs = (">" if seat == view["to_act"] else "", "D" if seat == view["dealer"] else "")
    return _row(game, signs, printable(name), game.cells(view, seat), _on_table(game, view, seat))


def _row(game: GameScreen, signs: tuple[str, str], name: str, cells: Sequence[str], table: str) -> str:
    widths = [columns for _, columns in game.columns]
    across = " ".join(f"{cell:>{columns}}" for cell, columns in zip(cells, widths, strict=True))
    return cut(f"{signs[0]:1} {signs[1]:1} {fit(name, game.seat_columns)} {across}    {table}")


def _on_table(game: GameScreen, view: View, seat: int) -> str:
    """The seat's card of the trick on the table, whether it led, and whether it would take the trick now."""
    trick = view["trick"]
    parts = [card(trick["cards"][seat])]
    if seat == trick["lead"]:
        parts.append("led" if parts[0] else "leads")
    if seat == _winning(view):
        parts.append("wins so far")
    parts.append(game.aside(view, seat))
    return " ".join(part for part in parts if part)


def _winning(view: View) -> int | None:
    """The seat whose card would take the trick as it lies; None before the second card."""
    lead: int | None = view["trick"]["lead"]
    players: int = view["players"]
    if lead is None:
        return None
    laid = [seat for step in range(players) if view["trick"]["cards"][seat := (lead + step) % players] is not None]
    if len(laid) < 2:
        return None
    suit = view["trump_suit"]
    trumps = SUIT_MASKS[SUITS.index(Suit(suit))] if suit else NO_CARDS
    return laid[winning_position([parse_card(view["trick"]["cards"][seat]) for seat in laid], trumps)]


def _last_trick(game: GameScreen, view: View, seats: Sequence[SeatInfo]) -> str:
    trick = view["last_trick"]
    if trick is None:
        return "" if any(view["taken"]) else f"No trick has been taken in this {game.deal}."
    players = view["players"]
    order = [(trick["lead"] + step) % players for step in range(players)]
    laid = " ".join(card(trick["cards"][seat]) for seat in order if trick["cards"][seat] is not None)
    return cut(f"Last trick: {laid} taken by {printable(names_of(seats)[trick['winner']])}")


def _rows(cells: Sequence[str], across: int, rows: int) -> list[str]:
    """`across` cells a line, in exactly that many lines."""
    return [cut(GAP.join(cells[row * across : (row + 1) * across])) for row in range(rows)]


def _hand(game: GameScreen, view: View) -> list[str]:
    """Its head and the numbered cards in as many lines as the game's hands need."""
    rows = game.hand_rows
    hand = view.get("hand")
    if not hand:
        return [game.no_cards(view), *[""] * rows]
    legal = {action["play"] for action in view.get("legal", ()) if "play" in action}
    across, digits = (len(hand), 1) if rows == 1 else (HAND_COLUMNS, 2)
    cells = [
        f"{number:>{digits}}:{f'[{card(text)}]' if text in legal else f' {card(text)} '}"
        for number, text in enumerate(hand, start=1)
    ]
    return ["Your hand" + (", [ ] may be played" if legal else ""), *_rows(cells, across, rows)]


def _choices(view: View, rows: int) -> list[str]:
    """What may be said instead of playing a card; empty lines when nothing may."""
    lines = [""]
    for cell in choices(view) if "legal" in view else ():
        if lines[-1] and width(lines[-1]) + len(GAP) + width(cell) > COLUMNS:
            lines.append("")
        lines[-1] += GAP + cell if lines[-1] else cell
    return lines + [""] * (rows - len(lines))


def _away(view: View, seats: Sequence[SeatInfo]) -> bool:
    """Whether a bot plays our seat until we do something (P30)."""
    return view["seat"] is not None and seats[view["seat"]].holder == "bot"


def _prompt(view: View, *, away: bool, hints: bool) -> str:
    """What may be typed now. While others move it stays as it is, so that what is half typed stays too."""
    if view["phase"] == "over":
        return "The game is over."
    if view["seat"] is None:
        return "You are watching (take 2 sits down on seat 2, q stops):"
    if away:
        return "You are away and a bot plays for you. Enter brings you back (q leave):"
    if "legal" not in view:
        return "Not your turn (q leave):"
    return cut(f"{asked(view)} ({'h hint, q leave' if hints else 'q leave'}):", COLUMNS - 1)
