"""What a name looks like: two names of one skeleton cannot be told apart at a table (P41, A8).

After UTS 39: each character is replaced by the prototype of those it can be confused with. That relation is about
glyphs, so it is asked twice, of the name in small letters and in capitals ("Ion" and "lon" meet in the capitals, "corn"
and "com" in the small letters); names that meet in either way are alike. Besides, and beyond UTS 39, marks are dropped
(ş, ș and s are one letter to a hurried eye), and so are separators; two v are a w.
"""

import hashlib
import unicodedata
from functools import cache

from confusable_homoglyphs.confusables import confusables_data

SEPARATORS = frozenset("._-")


def skeletons(name: str) -> frozenset[bytes]:
    """What is stored of a name to keep it from everybody else: SHA-256, so that a deleted account's cannot be read."""
    small, capital = small_skeleton(name), capital_skeleton(name)
    return frozenset(
        hashlib.sha256(kind + text.encode()).digest() for kind, text in ((b"small:", small), (b"capital:", capital))
    )


def small_skeleton(name: str) -> str:
    return _skeleton(name.casefold())


def capital_skeleton(name: str) -> str:
    # Upper after folding: one capital for the several small letters that have none of their own.
    return _skeleton(name.casefold().upper())


def _skeleton(text: str) -> str:
    """Plain letters, prototypes for what looks like them; the same for whatever looks the same."""
    letters = "".join(char for char in _without_marks(text) if char not in SEPARATORS)
    return _without_marks("".join(map(prototype, letters))).casefold().replace("vv", "w")


def _without_marks(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))


@cache
def prototype(char: str) -> str:
    """The character that stands for all those confusable with `char`, or `char` itself (UTS 39 §4).

    The table lists each source's one prototype, and each prototype's sources, without saying which is which: a
    prototype has several sources, or is longer than one character. Of two that have only each other the lower one
    stands for both.
    """
    known = [each["c"] for each in confusables_data.get(char, ())]
    if len(known) != 1:
        return char
    (other,) = known
    if len(other) > 1 or len(confusables_data[other]) > 1:
        return str(other)
    return min(char, str(other))
