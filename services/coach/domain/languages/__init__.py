"""The languages in which stories are told (P62): one module each, all with the same texts and places."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """How one language tells a passage.

    `texts` by passage and plural category (CLDR's names); a text without a number has "other" alone. `plural` gives
    the category of a whole number. `player` has the place {number}, `self` is added behind the reader's own.
    """

    plural: Callable[[int], str]
    categories: tuple[str, ...]
    player: str
    own: str
    joined: str
    decimal: str
    texts: Mapping[str, Mapping[str, str]]
