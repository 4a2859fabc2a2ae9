"""What may stand in a chat line (reliability A9): one line of plain text."""

import unicodedata

from services.tables.domain.errors import BadText

TEXT_MAX = 200  # characters, after NFC
RAW_MAX = 2_000  # characters looked at: more is no line of anybody's
MARKS_MAX = 3  # combining marks on one character; scripts need two, and towers of them cover the lines above
# Angle brackets look the same and can open no tag, however careless the page that shows them.
_BRACKETS = str.maketrans({"<": "‹", ">": "›"})
# Controls, bidirectional and other invisible format characters, surrogates, private use.
_UNWANTED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})


def clean(text: str) -> str:
    """The line as it is kept and shown. Raises BadText when nothing is left of it or it is too long."""
    if len(text) > RAW_MAX:
        raise BadText(most=TEXT_MAX)
    spaced = "".join(" " if char.isspace() else char for char in unicodedata.normalize("NFC", text))
    kept: list[str] = []
    marks = 0
    for char in spaced:
        category = unicodedata.category(char)
        if category in _UNWANTED:
            continue
        marks = marks + 1 if category in ("Mn", "Me") else 0
        if marks <= MARKS_MAX:
            kept.append(char)
    line = " ".join("".join(kept).translate(_BRACKETS).split())
    if not line or len(line) > TEXT_MAX:
        raise BadText(most=TEXT_MAX)
    return line
