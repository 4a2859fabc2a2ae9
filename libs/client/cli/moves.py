"""Moves in words: what is asked for, what a person means by a line, what a move is called.

A view's "legal" moves say which kinds may be typed now. What was meant may still be refused: the rules say why.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final
from unicodedata import combining, normalize

from libs.client.cli.lettering import LETTERS, SIGNS, SUITS, card, spoken_card
from libs.engine.english.scoring import POINTS, REVOKE_POINTS, REVOKE_TRICKS, TRICKS
from libs.engine.protocol import Action
from libs.engine.solo.auction import Call

View = Mapping[str, Any]

DIGITS_MAX = 9  # no number in any game is longer; Python refuses to read thousands of digits
YES, NO = ("y", "yes"), ("n", "no")
KEEP = ("hold", "keep")
ACCENTED: Final = MappingProxyType({"misere": "misère", "open_misere": "open misère"})
CALLING: Final = MappingProxyType({"pass": "pass", "acceptance": "accept"})
PENALTY_WORDS: Final = MappingProxyType({POINTS: f"{REVOKE_POINTS} points", TRICKS: f"{REVOKE_TRICKS} tricks"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of move.

    `read` gives the value that a line means, None when it means none; `choices` are the words to choose from.
    """

    asks: Callable[[View], str]
    read: Callable[[View, str], Any]
    wanted: Callable[[View], str]
    words: Callable[[Any], str]
    choices: Callable[[View], Sequence[str]] = lambda _: ()


def kinds(view: View) -> list[str]:
    """The kinds of move that are legal now, in the order in which a line is tried; the first one speaks for all."""
    offered = {kind for action in view["legal"] for kind in action}
    return [kind for kind in KINDS if kind in offered]


def asked(view: View) -> str:
    """What may be typed, for the prompt."""
    return KINDS[kinds(view)[0]].asks(view)


def choices(view: View) -> list[str]:
    """What may be said, by number and word, where the choice is not a card of the hand."""
    words = [word for kind in kinds(view) for word in KINDS[kind].choices(view)]
    return [f"{number} {word}" for number, word in enumerate(words, start=1)]


def chosen(view: View, line: str) -> Action | None:
    """The action that a person means; None for none. It may be illegal: the rules say so better."""
    for kind in kinds(view):
        value = KINDS[kind].read(view, line)
        if value is not None:
            return {kind: value}
    return None


def wanted(view: View) -> str:
    """What a line that means nothing should have been: "no bid: …"."""
    return KINDS[kinds(view)[0]].wanted(view)


def in_words(action: Mapping[str, Any]) -> str:
    """ "bid 3", "play Q♥", "call solo": after "would"."""
    ((kind, value),) = action.items()
    return KINDS[kind].words(value)


def named(action: Mapping[str, Any]) -> str:
    """The move alone, where its kind is plain: "3", "Q♥"."""
    ((_, value),) = action.items()
    return card(value) if "play" in action else str(value)


def number_in(line: str) -> int | None:
    """A number of plain digits; None for anything else."""
    return int(line) if line.isascii() and line.isdigit() and len(line) <= DIGITS_MAX else None


def call_words(call: str) -> str:
    """Solo's calls (L2) as they are spoken."""
    return ACCENTED.get(call, call.replace("_", " "))


def plain(text: str) -> str:
    """Small letters without accents, words parted by one space: "Open-Misère" as "open misere"."""
    bare = "".join(one for one in normalize("NFKD", text) if not combining(one))
    return " ".join(bare.casefold().replace("_", " ").replace("-", " ").split())


def _values(view: View, kind: str) -> list[Any]:
    return [action[kind] for action in view["legal"] if kind in action]


def _one_of(line: str, values: Sequence[str], words: Sequence[str]) -> str | None:
    """By its number in the list, its word, or a beginning that no other word has."""
    number = number_in(line)
    if number is not None:
        return values[number - 1] if 1 <= number <= len(values) else None
    typed = plain(line)
    begun = [value for value, word in zip(values, words, strict=True) if typed and plain(word).startswith(typed)]
    exact = [value for value, word in zip(values, words, strict=True) if plain(word) == typed]
    found = exact or begun
    return found[0] if len(found) == 1 else None


def _ask_bid(view: View) -> str:
    barred = "" if view["barred"] is None else f", but not {view['barred']} (barred for the dealer)"
    return f"Bid 0 to {view['cards']}{barred}"


def _read_card(view: View, line: str) -> str | None:
    hand: list[str] = view["hand"]
    number = number_in(line)
    if number is not None:
        return hand[number - 1] if 1 <= number <= len(hand) else None
    text = spoken_card(line)
    return text if text in hand else None


def _read_call(view: View, line: str) -> str | None:
    legal = _values(view, "call")
    found = _one_of(line, legal, [call_words(call) for call in legal])
    if found is not None:
        return found
    # A call that is too low by now: the rules refuse it and say which are open.
    return next((call.value for call in Call if plain(call.value) == plain(line)), None)


def _read_suit(view: View, line: str) -> str | None:
    letter = LETTERS.get(line.strip(), line.strip().upper())
    legal = _values(view, "trumps")
    return letter if letter in legal else _one_of(line, legal, [SUITS[suit] for suit in legal])


def _read_yes_no(_view: View, line: str) -> bool | None:
    word = plain(line)
    return True if word in YES else False if word in NO else None


def _read_penalty(view: View, line: str) -> str | None:
    legal = _values(view, "penalty")
    return _one_of(line, legal, legal)


def _penalties(view: View) -> list[str]:
    """W7: each choice with the points that our side gains by it."""
    swings = view["penalty"]
    return [f"{each}: {PENALTY_WORDS[each]}, a swing of {swings[each]}" for each in _values(view, "penalty")]


KINDS: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        "bid": Kind(
            asks=_ask_bid,
            read=lambda _, line: number_in(line),
            wanted=lambda view: f"no bid: type a number from 0 to {view['cards']}.",
            words=lambda bid: f"bid {bid}",
        ),
        "hold": Kind(
            asks=lambda _: "Play your card, or type hold to keep it",
            read=lambda _, line: plain(line) in KEEP or None,
            wanted=lambda _: "no move: type the card to play it, or hold to keep it.",
            words=lambda _: "keep the card",
        ),
        "play": Kind(
            asks=lambda _: "Your turn. Play a card by its number or name",
            read=_read_card,
            wanted=lambda view: f"no card of yours: type its number, 1 to {len(view['hand'])}, or its name.",
            words=lambda text: f"play {card(text)}",
        ),
        "call": Kind(
            asks=lambda _: "Your call, by its number or word",
            read=_read_call,
            wanted=lambda _: "no call: type the number or the word of one above.",
            words=lambda call: CALLING.get(call, f"call {call_words(call)}"),
            choices=lambda view: [call_words(call) for call in _values(view, "call")],
        ),
        "trumps": Kind(
            asks=lambda _: "Name trumps, by number or word",
            read=_read_suit,
            wanted=lambda _: "no suit: type the number or the word of one above.",
            words=lambda suit: f"name {SUITS[suit]}",
            choices=lambda view: [f"{SIGNS[suit]} {SUITS[suit]}" for suit in _values(view, "trumps")],
        ),
        "claim": Kind(
            asks=lambda _: "Did the other side revoke? Claim it: y or n",
            read=_read_yes_no,
            wanted=lambda _: "no answer: type y to claim a revoke, n for none.",
            words=lambda claim: "claim a revoke" if claim else "claim nothing",
        ),
        "penalty": Kind(
            asks=lambda _: "The revoke is proven. What shall it cost them",
            read=_read_penalty,
            wanted=lambda _: "no penalty: type points or tricks.",
            words=lambda penalty: f"take {PENALTY_WORDS[penalty]}",
            choices=_penalties,
        ),
    }
)
