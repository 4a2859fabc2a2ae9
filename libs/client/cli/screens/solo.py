"""Solo Whist: the auction, the contract and who plays it, units (L1–L4)."""

from libs.client.cli.lettering import SIGNS, card, cards, count, cut, trumps, width
from libs.client.cli.moves import call_words
from libs.client.cli.screens.parts import GameScreen, Names, View, seat_heads
from libs.engine.solo.auction import TERMS, Call

AUCTION_COLUMNS = 71  # beside "Auction: "


def headline(view: View) -> list[str]:
    parts = ["Solo Whist"]
    if view["round"] is not None:
        parts.append(f"hand {view['round'] + 1} of {view['options']['hands']}")
        parts += [trumps(view["trump_suit"])] if _has_contract(view) else []
        parts += [f"{card(view['trump'])} turned up"] if view["trump"] else []
    return parts


def cells(view: View, seat: int) -> tuple[str, ...]:
    return _said(view, seat), str(view["counts"][seat]), str(view["taken"][seat]), f"{view['scores'][seat]:+d}"


def _has_contract(view: View) -> bool:
    """Whether the hand is or was played: the auction is over, and the hand was not thrown in."""
    if view["phase"] in {"draw", "over"}:
        return bool(view["score_sheet"]) and view["score_sheet"][-1]["bid"] is not None
    played: bool = view["phase"] == "play"
    return played


def _said(view: View, seat: int) -> str:
    """While the auction runs the seat's newest call, then its part in the contract."""
    if _has_contract(view):
        side = (view["declarer"], view["partner"])
        return "declarer" if seat == side[0] else "partner" if seat == side[1] else "against"
    return next((call_words(call) for caller, call in reversed(view["calls"]) if caller == seat), "-")


def aside(view: View, seat: int) -> str:
    """Who is to name trumps."""
    naming = any("trumps" in action for action in view.get("legal", ()))
    return "names trumps" if naming and seat == view["to_act"] else ""


def notes(view: View, names: Names) -> list[str]:
    return [_auction(view, names), _contract(view, names), _open_hand(view, names) or _last_hand(view, names)]


def _auction(view: View, names: Names) -> str:
    """The newest calls that fit, oldest first."""
    if not view["calls"]:
        return "Auction: nobody has called yet"
    said = [f"{names[seat]} {call_words(call)}" for seat, call in view["calls"]]
    shown = said[-1]
    for one in reversed(said[:-1]):
        if width(f"… · {one} · {shown}") > AUCTION_COLUMNS:
            shown = f"… · {shown}"
            break
        shown = f"{one} · {shown}"
    return f"Auction: {shown}"


def _contract(view: View, names: Names) -> str:
    if view["bid"] is None:
        return "No bid stands"
    terms, declarer, partner = TERMS[Call(view["bid"])], view["declarer"], view["partner"]
    who = names[declarer] + ("" if partner is None else f" and {names[partner]}")
    head = "Contract" if _has_contract(view) else "Highest bid"
    aim = f"{count(terms.tricks, 'trick')}" if terms.tricks else "no trick"
    taken = view["taken"][declarer] + (0 if partner is None else view["taken"][partner])
    so_far = f", took {taken} so far" if _has_contract(view) else ""
    return f"{head}: {call_words(view['bid'])} by {who}: {aim}{so_far} · {count(terms.units, 'unit')} each"


def _open_hand(view: View, names: Names) -> str:
    """L2: the open misère's cards."""
    shown = view["open"]
    if shown is None:
        return ""
    whose = "Your open hand" if shown["seat"] == view["seat"] else f"Open hand of {names[shown['seat']]}"
    return f"{whose}: {cards(shown['cards'])}"


def _last_hand(view: View, names: Names) -> str:
    if not view["score_sheet"]:
        return ""
    row, number = view["score_sheet"][-1], len(view["score_sheet"])
    if row["bid"] is None:
        return f"Hand {number} was thrown in"
    own = "" if view["seat"] is None else f", your units {row['units'][view['seat']]:+d}"
    return f"Hand {number}: {_outcome(row, names)}{own}"


def _outcome(row: View, names: Names) -> str:
    side = [seat for seat in (row["declarer"], row["partner"]) if seat is not None]
    who = " and ".join(names[seat] for seat in side)
    ended = "made" if row["made"] else "lost"
    return f"{call_words(row['bid'])} by {who} {ended}, took {sum(row['taken'][seat] for seat in side)}"


def sheet(view: View, names: Names) -> list[str]:
    """Hands downwards, units by seat across."""
    head = "".join(f"{f'seat {seat}':>7}" for seat in range(1, len(names) + 1))
    lines = [*seat_heads(names), "", f"hand trump{head}  contract"]
    for number, row in enumerate(view["score_sheet"], start=1):
        across = "".join(f"{units:>+7d}" for units in row["units"])
        said = "thrown in" if row["bid"] is None else _outcome(row, names)
        lines.append(cut(f"{number:>4} {SIGNS.get(row['trump_suit'], '-'):>5}{across}  {said}"))
    return [*lines, "units     " + "".join(f"{units:>+7d}" for units in view["scores"])]


SCREEN = GameScreen(
    headline=headline,
    columns=(("call", 18), ("cards", 5), ("tricks", 6), ("units", 5)),
    cells=cells,
    aside=aside,
    notes=notes,
    sheet=sheet,
    seat_columns=16,
    hand_rows=2,
    choice_rows=2,
)
