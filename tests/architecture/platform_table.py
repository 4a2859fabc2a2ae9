"""``python -m tests.architecture.platform_table``: the text of ``docs/platform.md``, from the declarations of the file.

python -m tests.architecture.platform_table > docs/platform.md
"""

import tomllib
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from libs.house.fields import Group, Rows, described
from libs.house.platform import Platform

FILE = Path(__file__).parents[2] / "config" / "platform.toml"
HEAD = """\
# The platform's numbers

What an operator may change without a release: [`config/platform.toml`](../config/platform.toml). Every service that
asks for one of them reads the whole file at its start and stops with a message that names the field where one is wrong,
missing or unknown; `WHIST_PLATFORM_CONFIG` names another file. What the rules themselves fix (the shares of the first
three places, who counts, the kinds of coffee and their multipliers, which stand in the contracts) is code.

This page is generated; `tests/architecture/test_docs.py` fails when it differs from what the parser takes. To write it
anew: `python -m tests.architecture.platform_table > docs/platform.md`.
"""
COLUMNS = "| field | value | allowed | meaning | source |\n|---|---|---|---|---|"


def text() -> str:
    """The whole page. Numbers are written as TOML takes them."""
    plain = tomllib.loads(FILE.read_text(encoding="utf-8"))
    titles = {name: declared.meaning for name, declared in described(Platform) if isinstance(declared, Group | Rows)}
    parts = [HEAD]
    for section, rows in groupby(_rows(plain), key=lambda row: row[0]):
        title = "## the whole file" if not section else f"## {section}"
        said = [titles[section.removesuffix("[]")], ""] if section else []
        parts.append("\n".join([title, "", *said, COLUMNS, *(row for _, row in rows), ""]))
    return "\n".join(parts)


def _rows(plain: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Section and line of each field."""
    for name, declared in described(Platform):
        if isinstance(declared, Group | Rows):
            continue
        section, _, field = name.rpartition(".")
        cells = (f"`{field}`", _value(plain, name), declared.allowed(), declared.meaning, declared.source)
        yield section, "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _value(plain: Any, name: str) -> str:
    """What stands there today; of a list of tables each one's, in order."""
    step, _, rest = name.partition(".")
    if step.endswith("[]"):
        return ", ".join(_value(each, rest) for each in plain[step.removesuffix("[]")])
    value = plain[step]
    if rest:
        return _value(value, rest)
    if isinstance(value, list):
        return "[" + ", ".join(map(_shown, value)) + "]"
    return _shown(value)


def _shown(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case int():
            return f"{value:_}"
        case _:
            return str(value)


if __name__ == "__main__":
    print(text(), end="")
