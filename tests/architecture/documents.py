"""Reading the project's Markdown: its files, links, headings and tables."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Made by tools or by runs, never written by us.
STRANGE = frozenset({"build", "dist", "node_modules", "results"})

_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)

Row = dict[str, str]


def documents() -> list[Path]:
    """Every Markdown file of the project."""
    return sorted(
        path
        for path in ROOT.rglob("*.md")
        if not any(part in STRANGE or part.startswith(".") for part in path.relative_to(ROOT).parts)
    )


def links(text: str) -> Iterator[str]:
    """Targets of links, those in code blocks left out."""
    yield from _LINK.findall(_FENCE.sub("", text))


def anchors(text: str) -> set[str]:
    """What ``#…`` may name: headings in small letters, words joined by dashes, other signs dropped."""
    return {
        re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        for heading in _HEADING.findall(_FENCE.sub("", text))
    }


def section(text: str, heading: str) -> str:
    """What stands under a heading, up to the next one of any level. Raises KeyError."""
    found = re.search(rf"^(#+) {re.escape(heading)}\n(.*?)(?=^#{{1,6}} |\Z)", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise KeyError(heading)
    return found[2]


def table(text: str) -> list[Row]:
    """The first table of a text, a row as column → cell. Raises ValueError when there is none."""
    lines = [line.strip() for line in text.splitlines()]
    starts = [at for at, line in enumerate(lines[:-1]) if line.startswith("|") and set(lines[at + 1]) <= set("|-: ")]
    if not starts:
        raise ValueError("no table")
    at = starts[0]
    columns = _cells(lines[at])
    rows = []
    for line in lines[at + 2 :]:
        if not line.startswith("|"):
            break
        rows.append(dict(zip(columns, _cells(line), strict=True)))
    return rows


def words(cell: str) -> list[str]:
    """What a cell names in backticks."""
    return re.findall(r"`([^`]+)`", cell)


def _cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
