"""A record in whatever form it comes."""

from enum import StrEnum
from typing import Final

from libs.engine.record import link, plain, text
from libs.engine.record.model import Record

LONGEST: Final = max(plain.JSON_MAX, text.TEXT_MAX, link.LINK_MAX)  # characters of any form
MARK: Final = "\ufeff"  # some editors begin a file with it
EDGES: Final = " \t\r\n" + MARK  # what editors and mails add


class Form(StrEnum):
    """The three written forms (P72)."""

    JSON = "json"
    TEXT = "text"
    LINK = "link"


def form_of(written: str) -> Form:
    """By its first character; anything that is neither JSON nor text can only be a link."""
    first = written.lstrip(EDGES)[:1]
    return {"{": Form.JSON, "[": Form.TEXT}.get(first, Form.LINK)


def trimmed(written: str) -> str:
    """Without what is no part of its form; lines and columns stay where they are."""
    return written.strip(EDGES) if form_of(written) is Form.LINK else written.lstrip(MARK)


def read(written: str) -> Record:
    """The record, played again and checked. Raises BadRecord and nothing else."""
    readers = {Form.JSON: plain.loads, Form.TEXT: text.from_text, Form.LINK: link.from_link}
    return readers[form_of(written)](trimmed(written))
