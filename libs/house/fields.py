"""How a section of `config/platform.toml` is declared, read and described: field, range, meaning, source, once (P83).

A section is a frozen dataclass. Each field is annotated with what may stand there:

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Tips:
        coins: Annotated[int, Whole(0, 1000, "For each tip.", "P99")]

        def check(self) -> None:
            \"""Optional: what no single field can say. Raises Misfit.\"""

`read` makes the section of a table and refuses what is missing, unknown or out of range by its name; `described` lists
what may be written, for the documents.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import date
from enum import StrEnum
from typing import Annotated, Any, Final, TypeVar, get_args, get_origin, get_type_hints
from zoneinfo import ZoneInfo

COINS_MAX: Final = 10**12  # a thousandth of the largest balance: no single amount can overflow one
MILLISECONDS_MAX: Final = 600_000
TEXT_MAX: Final = 40

Section = TypeVar("Section")


class WrongPlatform(ValueError):
    """The file does not fit: `field` names the place (``rooms[3].level``), `problem` what is wrong with it."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"platform.toml: {field}: {problem}")
        self.field = field
        self.problem = problem


class Misfit(ValueError):
    """Fields of one section that do not fit together; `field` is named from within the section (``bot_max_ms``)."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number from `low` to `high`, both included."""

    low: int
    high: int
    meaning: str
    source: str

    def take(self, name: str, plain: Any) -> int:
        if type(plain) is not int:  # exactly: true is not the number 1
            raise WrongPlatform(name, f"must be a whole number, not {plain!r}")
        if not self.low <= plain <= self.high:
            raise WrongPlatform(name, f"must be {self.low} to {self.high}, not {plain}")
        return plain

    def allowed(self) -> str:
        return f"{self.low:_} to {self.high:_}"


@dataclass(frozen=True, slots=True)
class Wholes:
    """A list of `least` to `most` whole numbers, each from `low` to `high`; read as a tuple."""

    least: int
    most: int
    low: int
    high: int
    meaning: str
    source: str

    def take(self, name: str, plain: Any) -> tuple[int, ...]:
        values = _sized(name, plain, self.least, self.most, "numbers")
        one = Whole(self.low, self.high, "", "")
        return tuple(one.take(f"{name}[{index}]", value) for index, value in enumerate(values))

    def allowed(self) -> str:
        return f"{_how_many(self.least, self.most)} numbers, {self.low:_} to {self.high:_}"


@dataclass(frozen=True, slots=True)
class Flag:
    """true or false."""

    meaning: str
    source: str

    def take(self, name: str, plain: Any) -> bool:
        if type(plain) is not bool:
            raise WrongPlatform(name, f"must be true or false, not {plain!r}")
        return plain

    def allowed(self) -> str:
        return "`true`, `false`"


@dataclass(frozen=True, slots=True)
class Text:
    """1 to `TEXT_MAX` characters, not blank."""

    meaning: str
    source: str

    def take(self, name: str, plain: Any) -> str:
        if type(plain) is not str:
            raise WrongPlatform(name, f"must be text, not {plain!r}")
        if not plain.strip() or len(plain) > TEXT_MAX:
            raise WrongPlatform(name, f"must have 1 to {TEXT_MAX} characters, not {plain!r}")
        return plain

    def allowed(self) -> str:
        return f"1 to {TEXT_MAX} characters"


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the values of an enumeration."""

    kind: type[StrEnum]
    meaning: str
    source: str

    def take(self, name: str, plain: Any) -> StrEnum:
        if type(plain) is not str or plain not in list(self.kind):
            raise WrongPlatform(name, f"must be {', '.join(self.kind)}, not {plain!r}")
        return self.kind(plain)

    def allowed(self) -> str:
        return ", ".join(f"`{value}`" for value in self.kind)


@dataclass(frozen=True, slots=True)
class Day:
    """A date, written as text: ``2026-11-16``."""

    meaning: str
    source: str

    def take(self, name: str, plain: Any) -> date:
        try:
            # ISO 8601 knows more ways to write one; here there is a single one.
            return date.fromisoformat(plain if type(plain) is str and _DAY.fullmatch(plain) else "")
        except ValueError:
            raise WrongPlatform(name, f"must be a date such as 2026-11-16, not {plain!r}") from None

    def allowed(self) -> str:
        return "a date"


@dataclass(frozen=True, slots=True)
class Zone:
    """The name of an IANA zone."""

    meaning: str
    source: str

    def take(self, name: str, plain: Any) -> ZoneInfo:
        try:
            return ZoneInfo(Text("", "").take(name, plain))
        except (LookupError, ValueError, OSError) as error:  # unknown name, path tricks, a folder of zones
            if isinstance(error, WrongPlatform):
                raise
            raise WrongPlatform(name, f"no such zone: {plain!r}") from error

    def allowed(self) -> str:
        return "an IANA zone"


@dataclass(frozen=True, slots=True)
class Group:
    """A table of its own, ``[name]``: the field is of a section's type."""

    meaning: str

    def take(self, name: str, plain: Any, kind: type[Any]) -> Any:
        if type(plain) is not dict:
            raise WrongPlatform(name, f"must be a table, not {plain!r}")
        return read(kind, plain, name)


@dataclass(frozen=True, slots=True)
class Rows:
    """A list of `least` to `most` tables, ``[[name]]``: the field is a tuple of a section's type."""

    least: int
    most: int
    meaning: str

    def take(self, name: str, plain: Any, kind: type[Any]) -> tuple[Any, ...]:
        values = _sized(name, plain, self.least, self.most, "tables")
        return tuple(Group("").take(f"{name}[{index}]", value, kind) for index, value in enumerate(values))


Leaf = Whole | Wholes | Flag | Text | Choice | Day | Zone
Declared = Leaf | Group | Rows
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def read(kind: type[Section], plain: Mapping[str, Any], name: str = "") -> Section:
    """The section of a table. Raises WrongPlatform for the first field that is wrong, missing or unknown."""
    prefix = f"{name}." if name else ""
    left = dict(plain)
    values: dict[str, Any] = {}
    for field, declared, inner in _declared(kind):
        if field not in left:
            raise WrongPlatform(prefix + field, "missing")
        value = left.pop(field)
        match declared:
            case Group() | Rows():
                values[field] = declared.take(prefix + field, value, inner)
            case _:
                values[field] = declared.take(prefix + field, value)
    for field in left:
        raise WrongPlatform(prefix + field, "unknown")
    section = kind(**values)
    try:
        check = getattr(section, "check", None)
        if check is not None:
            check()
    except Misfit as misfit:
        raise WrongPlatform(prefix + misfit.field, misfit.problem) from misfit
    return section


def described(kind: type[Any], name: str = "") -> Iterator[tuple[str, Declared]]:
    """Every field below `kind` by its dotted name, in order; ``name[]`` stands for each table of a list."""
    prefix = f"{name}." if name else ""
    for field, declared, inner in _declared(kind):
        yield prefix + field, declared
        match declared:
            case Group():
                yield from described(inner, prefix + field)
            case Rows():
                yield from described(inner, f"{prefix}{field}[]")


def _declared(kind: type[Any]) -> Iterator[tuple[str, Declared, type[Any]]]:
    """Name, declaration, and the type of one table within, for `Group` and `Rows`."""
    hints = get_type_hints(kind, include_extras=True)
    for field in fields(kind):
        hint = hints[field.name]
        if get_origin(hint) is not Annotated:
            raise TypeError(f"{kind.__name__}.{field.name}: says nothing of what may stand there")
        base, declared = get_args(hint)
        yield field.name, declared, get_args(base)[0] if isinstance(declared, Rows) else base


def _sized(name: str, plain: Any, least: int, most: int, called: str) -> list[Any]:
    if type(plain) is not list:
        raise WrongPlatform(name, f"must be a list of {called}, not {plain!r}")
    if not least <= len(plain) <= most:
        raise WrongPlatform(name, f"must have {_how_many(least, most)} {called}, not {len(plain)}")
    return plain


def _how_many(least: int, most: int) -> str:
    return str(least) if least == most else f"{least} to {most}"
