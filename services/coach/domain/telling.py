"""From passages to paragraphs in the reader's language (P62)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from services.coach.domain.languages import Language
from services.coach.domain.languages.chinese import CHINESE
from services.coach.domain.languages.english import ENGLISH
from services.coach.domain.languages.romanian import ROMANIAN
from services.coach.domain.story import Passage, own_passages

LANGUAGES: Final[Mapping[str, Language]] = MappingProxyType({"en": ENGLISH, "ro": ROMANIAN, "zh": CHINESE})
FALLBACK: Final = "en"
SUITS: Final = MappingProxyType({"C": "♣", "D": "♦", "H": "♥", "S": "♠"})
# Which passages make a paragraph: the game as a whole, what stood out, how it ended, the reader's own play.
PARAGRAPHS: Final = (
    ("won", "won_level", "won_plain", "led_throughout", "lead_taken", "turning_point"),
    ("made_streak", "missed_streak", "barred"),
    ("last_climb", "last_made", "last_missed"),
    ("own_grade", "own_dearest_bid", "own_dearest_play"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A story in one language."""

    locale: str
    paragraphs: tuple[str, ...]


def tell(story: Sequence[Passage], analysis: Mapping[str, Any], locale: str) -> Told:
    """The story of a game to the reader whose `analysis` it is (docs/analysis.md); a BCP 47 `locale` that has no texts
    here is told in English."""
    language = locale.replace("_", "-").partition("-")[0].lower()
    language = language if language in LANGUAGES else FALLBACK
    told = [
        [
            sentence(LANGUAGES[language], passage, analysis["seat"])
            for passage in (*story, *own_passages(analysis))
            if passage["name"] in names
        ]
        for names in PARAGRAPHS
    ]
    return Told(locale=language, paragraphs=tuple(LANGUAGES[language].space.join(each) for each in told if each))


def sentence(language: Language, passage: Passage, reader: int) -> str:
    """One passage; `reader` is the seat of whoever reads it."""
    texts = language.texts[passage["name"]]
    category = language.plural(passage["values"].get("n", 0)) if len(texts) > 1 else "other"
    places = {name: _value(language, name, value, reader) for name, value in passage["values"].items()}
    told = texts[category].format_map(places)
    return told[0].upper() + told[1:]


def _value(language: Language, name: str, value: Any, reader: int) -> str:
    match name:
        case "player" | "other":
            return _player(language, value, reader)
        case "players":
            return language.joined.join(_player(language, each, reader) for each in value)
        case "score" | "other_score":
            return f"{value:+d}".replace("-", "−")
        case "loss":
            return f"{value:.1f}".replace(".", language.decimal)
        case "made" | "best" if isinstance(value, str):
            return value[0].replace("T", "10") + SUITS[value[1]]
        case _:
            return str(value)


def _player(language: Language, seat: int, reader: int) -> str:
    player = language.player.format(number=seat + 1)
    return language.own.format(player=player) if seat == reader else player
