"""The languages in which stories are told (P62): one module each, all with the same texts and places."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """How one language tells a passage.

    `texts` by passage and plural category (CLDR's names); a text without a number has "other" alone. `plural` gives
    the category of a whole number. `player` has the place {number}, `own` the place {player} for the reader's.
    `joined` stands between several players, `space` between sentences.
    """

    plural: Callable[[int], str]
    categories: tuple[str, ...]
    player: str
    own: str
    joined: str
    space: str
    decimal: str
    texts: Mapping[str, Mapping[str, str]]
