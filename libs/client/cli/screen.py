"""A table as 80 columns and at most 24 lines of text. Pure: views in, strings out."""

from collections.abc import Mapping, Sequence
from typing import Any
from unicodedata import east_asian_width

from libs.engine.cards import Card, deck, parse_card, suit_of
from libs.engine.cards import hand_of as cards_of
from libs.engine.tricks.rules import winning_position
from libs.wire.frames import SeatInfo

COLUMNS = 80
NAME_COLUMNS = 22
SEAT_COLUMNS = 31  # sixteen letters (P41), a ✓, "(you)" and "(away)"
SIGNS = {"C": "♣", "D": "♦", "H": "♥", "S": "♠"}
LETTERS = {sign: letter for letter, sign in SIGNS.items()}
RULE = "─" * COLUMNS
PLACES = ("1st", "2nd", "3rd", "4th", "5th", "6th", "7th")


def render(
    view: Mapping[str, Any],
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
    lines = [
        _spread(_headline(view), status if connected else "reconnecting …"),
        RULE,
        _row("", "", "seat", "bid", "taken", "total", "on the table"),
        *(_seat_row(view, seats, seat) for seat in range(view["players"])),
        RULE,
        _tally(view),
        _last_trick(view, seats),
        "",
        *_hand(view),
        "",
        _cut(message, COLUMNS),
        _prompt(view, away=_away(view, seats), hints=hints),
    ]
    return "\n".join(line.rstrip() for line in lines)


def card(text: str | None) -> str:
    """ "QH" as Q♥; None as nothing."""
    return "" if text is None else text[:-1] + SIGNS[text[-1]]


def spoken_card(text: str) -> str:
    """What a person typed ("qh", "Q♥", "10d") in the engine's form ("QH", "TD"); may be no card at all."""
    plain = "".join(LETTERS.get(one, one) for one in text.strip().upper())
    return "T" + plain[2:] if plain.startswith("10") else plain


def score_sheet(sheet: Sequence[Mapping[str, Any]], totals: Sequence[int], names: Sequence[str]) -> str:
    """Rounds downwards, seats across: bid/taken and points; totals below. Seats are numbered from 1, names above."""
    lines = [f"seat {seat}  {_cut(printable(name), NAME_COLUMNS)}" for seat, name in enumerate(names, start=1)]
    head = "".join(f"{f'seat {seat}':>10}" for seat in range(1, len(names) + 1))
    lines += ["", f"cards trump dealer{head}"]
    for row in sheet:
        cells = "".join(
            f"{f'{bid}/{won} {points:+d}':>10}"
            for bid, won, points in zip(row["bids"], row["taken"], row["scores"], strict=True)
        )
        lines.append(f"{row['cards']:>5} {card(row['trump']) or '-':>5} {row['dealer'] + 1:>6}{cells}")
    lines.append("total" + " " * 13 + "".join(f"{f'{total:+d}':>10}" for total in totals))
    return "\n".join(lines)


def ranking(order: Sequence[int], totals: Sequence[int], names: Sequence[str], seat: int) -> str:
    """One line a place, best first."""
    return "\n".join(
        f"{PLACES[place]}  {_cut(printable(names[each]), NAME_COLUMNS)} {totals[each]:+d}"
        + (" (you)" if each == seat else "")
        for place, each in enumerate(order)
    )


def names_of(seats: Sequence[SeatInfo]) -> list[str]:
    """As the table shows them: ✓ for a name that is held by its account (P41), bots marked (P63)."""
    return [each.name + (" ✓" if each.verified else "") + (" (bot)" if each.kind == "bot" else "") for each in seats]


def printable(text: str) -> str:
    """Without anything that a terminal would obey."""
    return "".join(one if one.isprintable() else "?" for one in text)


def _headline(view: Mapping[str, Any]) -> str:
    parts = ["Whist", view["mode"]]
    if view["round"] is not None:
        parts.append(f"round {view['round'] + 1} of {len(view['rounds'])}")
        parts.append("1 card" if view["cards"] == 1 else f"{view['cards']} cards")
        parts.append(f"trump {card(view['trump'])}" if view["trump"] else "no trump")
    return " · ".join(parts)


def _seat_row(view: Mapping[str, Any], seats: Sequence[SeatInfo], seat: int) -> str:
    bid = view["bids"][seat]
    name = names_of(seats)[seat] + (" (you)" if seat == view["seat"] else "")
    if seats[seat].kind == "person" and seats[seat].holder == "bot":
        name += " (left)" if seats[seat].left else " (away)"
    return _row(
        ">" if seat == view["to_act"] else "",
        "D" if seat == view["dealer"] else "",
        printable(name),
        "-" if bid is None else str(bid),
        str(view["taken"][seat]),
        f"{view['scores'][seat]:+d}",
        _on_table(view, seat),
    )


def _on_table(view: Mapping[str, Any], seat: int) -> str:
    """The seat's card of the trick on the table, whether it led, and whether it would take the trick now."""
    trick = view["trick"]
    parts = [card(trick["cards"][seat])]
    if seat == trick["lead"]:
        parts.append("led" if parts[0] else "leads")
    if seat == _winning(view):
        parts.append("wins so far")
    return " ".join(part for part in parts if part)


def _winning(view: Mapping[str, Any]) -> int | None:
    """The seat whose card would take the trick as it lies; None before the second card."""
    lead: int | None = view["trick"]["lead"]
    players: int = view["players"]
    if lead is None:
        return None
    order = [(lead + step) % players for step in range(players)]
    played = [parse_card(text) for seat in order if (text := view["trick"]["cards"][seat]) is not None]
    if len(played) < 2:
        return None
    trumps = cards_of(each for each in deck(players) if _is_trump(each, view["trump_suit"]))
    return order[winning_position(played, trumps)]


def _is_trump(one: Card, trump_suit: str | None) -> bool:
    return trump_suit is not None and suit_of(one).value == trump_suit


def _tally(view: Mapping[str, Any]) -> str:
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
    return text[:1].upper() + text[1:]


def _row(turn: str, dealer: str, name: str, bid: str, taken: str, total: str, table: str) -> str:
    return f"{turn:1} {dealer:1} {_fit(name, SEAT_COLUMNS)} {bid:>4} {taken:>6} {total:>7}    {table}"


def _last_trick(view: Mapping[str, Any], seats: Sequence[SeatInfo]) -> str:
    trick = view["last_trick"]
    if trick is None:
        return "No trick has been taken in this round."
    players = view["players"]
    order = [(trick["lead"] + step) % players for step in range(players)]
    cards = " ".join(card(trick["cards"][seat]) for seat in order)
    return _cut(f"Last trick: {cards} taken by {printable(names_of(seats)[trick['winner']])}", COLUMNS)


def _hand(view: Mapping[str, Any]) -> list[str]:
    hand = view.get("hand")
    if not hand:
        return ["You hold no cards.", ""]
    legal = {action["play"] for action in view.get("legal", ()) if "play" in action}
    cells = [
        f"{number}:{f'[{card(text)}]' if text in legal else f' {card(text)} '}"
        for number, text in enumerate(hand, start=1)
    ]
    return ["Your hand" + (", [ ] may be played" if legal else ""), "  ".join(cells)]


def _away(view: Mapping[str, Any], seats: Sequence[SeatInfo]) -> bool:
    """Whether a bot plays our seat until we do something (P30)."""
    return view["seat"] is not None and seats[view["seat"]].holder == "bot"


def _prompt(view: Mapping[str, Any], *, away: bool, hints: bool) -> str:
    """What may be typed now. While others move it stays as it is, so that what is half typed stays too."""
    keys = "h hint, q leave" if hints else "q leave"
    if view["phase"] == "over":
        return "The game is over."
    if away:
        return "You are away and a bot plays for you. Enter brings you back (q leave):"
    if "legal" not in view:
        return "Not your turn (q leave):"
    if view["phase"] == "bid":
        barred = "" if view["barred"] is None else f", but not {view['barred']} (barred for the dealer)"
        return f"Bid 0 to {view['cards']}{barred} ({keys}):"
    return f"Your turn. Play a card by its number or name ({keys}):"


def _width(text: str) -> int:
    return sum(2 if east_asian_width(one) in "WF" else 1 for one in text)


def _cut(text: str, columns: int) -> str:
    """Not wider than that; what is cut ends in …"""
    if _width(text) <= columns:
        return text
    while _width(text) >= columns:
        text = text[:-1]
    return text + "…"


def _fit(text: str, columns: int) -> str:
    text = _cut(text, columns)
    return text + " " * (columns - _width(text))


def _spread(left: str, right: str) -> str:
    left = _cut(left, COLUMNS - len(right) - 1)
    return left + " " * (COLUMNS - _width(left) - len(right)) + right
