"""Where a record is read from: a file, standard input, or the command's own argument where that is a link."""

import sys
from pathlib import Path

from libs.engine.record.flaws import BadRecord, Flaw, short
from libs.engine.record.link import ALPHABET
from libs.engine.record.reading import LONGEST

STDIN = "-"
LINK_MIN = 64  # characters; a secret alone has 43, and few files are named like that


class Unreadable(Exception):
    """No text can be had from there; the text says why."""


def written_at(source: str) -> str:
    """The text at a path, of standard input for "-", or a link itself where no file is called so.

    Raises Unreadable, BadRecord(TOO_LONG, NOT_A_RECORD) for what is too long or no text.
    """
    if source == STDIN:
        return _text(sys.stdin.buffer.read(LONGEST + 1))
    try:
        with Path(source).open("rb") as file:
            return _text(file.read(LONGEST + 1))
    except (OSError, ValueError) as wrong:  # ValueError: a null character in the name
        if isinstance(wrong, BadRecord):
            raise
        if len(source) >= LINK_MIN and ALPHABET.fullmatch(source):
            return source
        said = wrong.strerror if isinstance(wrong, OSError) else str(wrong)
        raise Unreadable(f"{short(source)!r}: {said}") from None


def _text(data: bytes) -> str:
    """Raises BadRecord."""
    if len(data) > LONGEST:
        raise BadRecord(Flaw.TOO_LONG, f"more than {LONGEST} bytes")
    try:
        return data.decode()
    except UnicodeDecodeError as wrong:
        raise BadRecord(Flaw.NOT_A_RECORD, f"not text in UTF-8: byte {wrong.start + 1}") from None
