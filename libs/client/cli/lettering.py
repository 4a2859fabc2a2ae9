"""Text in columns: cards with their signs, names that a terminal cannot obey, cells of a fixed width."""

from collections.abc import Sequence
from unicodedata import east_asian_width

from libs.wire.frames import SeatInfo

COLUMNS = 80
SIGNS = {"C": "♣", "D": "♦", "H": "♥", "S": "♠"}
LETTERS = {sign: letter for letter, sign in SIGNS.items()}
SUITS = {"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"}


def card(text: str | None) -> str:
    """ "QH" as Q♥; None as nothing."""
    return "" if text is None else text[:-1] + SIGNS[text[-1]]


def cards(texts: Sequence[str]) -> str:
    """Cards in a row."""
    return " ".join(map(card, texts))


def spoken_card(text: str) -> str:
    """What a person typed ("qh", "Q♥", "10d") in the engine's form ("QH", "TD"); may be no card at all."""
    plain = "".join(LETTERS.get(one, one) for one in text.strip().upper())
    return "T" + plain[2:] if plain.startswith("10") else plain


def trumps(suit: str | None) -> str:
    """ "H" as "trump ♥ hearts"; None as "no trump"."""
    return "no trump" if suit is None else f"trump {SIGNS[suit]} {SUITS[suit]}"


def names_of(seats: Sequence[SeatInfo]) -> list[str]:
    """As the table shows them: ✓ for a name that is held by its account (P41), bots marked (P63)."""
    return [each.name + (" ✓" if each.verified else "") + (" (bot)" if each.kind == "bot" else "") for each in seats]


def printable(text: str) -> str:
    """Without anything that a terminal would obey."""
    return "".join(one if one.isprintable() else "?" for one in text)


def count(number: int, noun: str) -> str:
    """ "1 card", "2 cards"."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def width(text: str) -> int:
    """In cells of a terminal: a wide letter takes two."""
    return sum(2 if east_asian_width(one) in "WF" else 1 for one in text)


def cut(text: str, columns: int = COLUMNS) -> str:
    """Not wider than that; what is cut ends in …"""
    if width(text) <= columns:
        return text
    room, kept = columns - 1, 0
    for one in text:
        room -= width(one)
        if room < 0:
            break
        kept += 1
    return text[:kept] + "…"


def fit(text: str, columns: int) -> str:
    """Exactly that wide, filled up on the right."""
    text = cut(text, columns)
    return text + " " * (columns - width(text))


def spread(left: str, right: str) -> str:
    """One line: `left` at its beginning, cut if it must be, `right` at its end."""
    left = cut(left, COLUMNS - len(right) - 1)
    return left + " " * (COLUMNS - width(left) - len(right)) + right
