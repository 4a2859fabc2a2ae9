"""Names: those that are suggested, and the rules for those that are claimed (P41, A8)."""

import re
import unicodedata
from collections.abc import Callable
from enum import StrEnum
from functools import cache
from itertools import pairwise

from confusable_homoglyphs.categories import alias

from libs.house.sign_in import Names
from services.auth.domain.errors import NameInvalid
from services.auth.domain.skeletons import SEPARATORS, capital_skeleton, small_skeleton

# An animal of Romania's woods and waters, and a number: each fits P41's sixteen characters together with a space and
# four digits.
ANIMALS = (
    "Acvilă", "Arici", "Barză", "Bizon", "Bufniță", "Bursuc", "Castor", "Căprioară", "Cerb", "Cocor", "Cocoș",
    "Corb", "Delfin", "Dihor", "Egretă", "Fazan", "Jder", "Lebădă", "Licurici", "Liliac", "Lup", "Mierlă",
    "Mistreț", "Morun", "Nurcă", "Lăstun", "Păstrăv", "Pelican", "Pisică", "Popândău", "Râs", "Rândunică",
    "Sturion", "Șoim", "Țestoasă", "Urs", "Veveriță", "Viezure", "Vidră", "Vulpe", "Vultur", "Zimbru",
)  # fmt: skip

GUEST_NUMBERS = 99
ACCOUNT_NUMBERS = 9999  # with the animals some 400,000 names, so that few accounts share one before they claim theirs

TEXT_MAX = 64  # characters that are looked at; normalising makes none of ours longer
SCRIPTS = frozenset({"LATIN", "GREEK", "CYRILLIC", "HAN"})  # of the languages played in, and their neighbours
LETTERS = frozenset({"Lu", "Ll", "Lo"})
# The letters that somebody writes a language with today, of each script from its first to its last (UTS 39 §3.1 leaves
# out the same). Phonetic, historic and small capital letters look like others, and the table of look-alikes knows few.
WRITTEN = {
    "LATIN": ("AZ", "az", "ÀÖ", "Øö", "øķ", "Ĺſ", "Ơơ", "Ưư", "Ǎǜ", "Șț", "Ḁẙ", "ẞẞ", "Ạỹ"),
    "GREEK": ("Άώ",),
    "CYRILLIC": ("Ѐџ", "Ґґ"),
}

# Nobody is called like the house or its machines, in any part of the name.
HOUSE = (
    "admin", "whist", "moderator", "operator", "official", "sistem", "system",
    "админ", "модератор", "оператор", "διαχειριστης",
    "管理员", "管理員", "系统", "系統", "客服", "官方", "机器人", "機器人",
)  # fmt: skip
# Nor by these alone, or as a word of the name. With what clients call an empty seat, a bot or a lost name.
WORDS = (
    "anonim", "anonymous", "arbitru", "bot", "bots", "robot", "coach", "croupier", "dealer", "deleted", "everybody",
    "gazda", "guest", "help", "host", "invitat", "jucator", "mod", "nobody", "null", "owner", "player", "root",
    "server", "staff", "sters", "suport", "support", "undefined", "you",
    "бот", "гость", "дилер", "игрок", "поддержка", "робот", "сервер", "система", "крупье",
    "επισκεπτης", "μποτ", "ρομποτ", "συστημα",
    "游客", "遊客", "玩家", "裁判",
)  # fmt: skip


class Rule(StrEnum):
    """What a refused name breaks."""

    LENGTH = "length"
    CHARACTERS = "characters"
    SCRIPTS = "scripts"
    RESERVED = "reserved"


def suggested_name(animal: int, number: int) -> str:
    """``Vulpe 42``; `animal` indexes ANIMALS, `number` counts from 0 and is shown from 1."""
    return f"{ANIMALS[animal]} {number + 1}"


def name_of(text: str, numbers: Names) -> str:
    """The name as it will be shown: NFKC, its case kept, as RFC 8265's UsernameCasePreserved and then narrower.

    Letters of one script and ASCII digits, with single ``. _ -`` between them; at least one letter. No marks, spaces,
    signs, or characters that cannot be seen or turn the text around. Raises NameInvalid with the `rule` it breaks.
    """
    if len(text) > TEXT_MAX:
        raise NameInvalid(rule=Rule.LENGTH.value, min=numbers.length_min, max=numbers.length_max)
    name = unicodedata.normalize("NFKC", text)
    if not numbers.length_min <= len(name) <= numbers.length_max:
        raise NameInvalid(rule=Rule.LENGTH.value, min=numbers.length_min, max=numbers.length_max)
    scripts = {_script(char) for char in name} - {""}
    ends = {name[0], name[-1]}
    doubled = any(one in SEPARATORS and other in SEPARATORS for one, other in pairwise(name))
    if not scripts or ends & SEPARATORS or doubled:
        raise NameInvalid(rule=Rule.CHARACTERS.value)
    if len(scripts) > 1 or not scripts <= SCRIPTS:
        raise NameInvalid(rule=Rule.SCRIPTS.value)
    if is_reserved(name):
        raise NameInvalid(rule=Rule.RESERVED.value)
    return name


def is_reserved(name: str) -> bool:
    """Whether it looks like the house, one of its machines, or a name that guests and new accounts are given."""
    return any(_is_reserved(name, look) for look in (small_skeleton, capital_skeleton))


def _is_reserved(name: str, look: Callable[[str], str]) -> bool:
    whole = look(name)
    words = {whole, *map(look, _words(name))}
    return (
        any(word in whole for word in _skeletons(HOUSE, look))
        or not words.isdisjoint(_skeletons(WORDS, look))
        or _suggested(look).fullmatch(whole) is not None
    )


def _script(char: str) -> str:
    """A letter's script; empty for digits and separators. Raises NameInvalid for what no name holds."""
    if char.isascii() and (char.isdigit() or char in SEPARATORS):
        return ""
    if unicodedata.category(char) not in LETTERS:
        raise NameInvalid(rule=Rule.CHARACTERS.value)
    script = str(alias(char))
    if script in WRITTEN and not any(ends[0] <= char <= ends[1] for ends in WRITTEN[script]):
        raise NameInvalid(rule=Rule.CHARACTERS.value)
    return script


def _words(name: str) -> list[str]:
    """What stands between separators, with and without the digits at its ends."""
    words = re.split(r"[._-]+", name)
    return [*words, *(word.strip("0123456789") for word in words)]


@cache
def _skeletons(words: tuple[str, ...], look: Callable[[str], str]) -> frozenset[str]:
    return frozenset(map(look, words))


@cache
def _suggested(look: Callable[[str], str]) -> re.Pattern[str]:
    """Skeletons of names like those that are suggested; where the name has 0 or 1 they have letters."""
    animals = "|".join(re.escape(animal) for animal in sorted(_skeletons(ANIMALS, look)))
    return re.compile(f"(?:{animals})[2-9lo]{{1,4}}")
