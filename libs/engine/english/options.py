"""What a table of English Whist chooses (W5–W7). American Whist is target 7 without honours."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from libs.engine.errors import RuleViolation
from libs.engine.tricks.choices import Fields, read_options


class Match(StrEnum):
    """W6: first to two games, or one game."""

    RUBBER = "rubber"
    GAME = "game"


class Revokes(StrEnum):
    """W7: a revoke is refused, or accepted and claimed after the hand."""

    REFUSED = "refused"
    CLUB = "club"


PLAYERS: Final = 4
FIELDS: Final[Fields] = {
    "target": (5, 7),
    "honours": (True, False),
    "match": tuple(one.value for one in Match),
    "rubber_bonus": (False, True),
    "revokes": tuple(one.value for one in Revokes),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """A table's choices."""

    target: int
    honours: bool
    match: Match
    rubber_bonus: bool
    revokes: Revokes

    @property
    def games(self) -> int:
        """Games that win the match."""
        return 2 if self.match is Match.RUBBER else 1

    def dump(self) -> dict[str, Any]:
        """Plain form; `parse_options` reads it back."""
        return {
            "target": self.target,
            "honours": self.honours,
            "match": self.match.value,
            "rubber_bonus": self.rubber_bonus,
            "revokes": self.revokes.value,
        }


def parse_options(players: object, plain: object) -> Options:
    """Raises RuleViolation(BAD_OPTIONS) naming the field; a bonus needs a rubber."""
    read = read_options(players, plain, seats=(PLAYERS,), fields=FIELDS)
    if read["rubber_bonus"] and read["match"] != Match.RUBBER:
        raise RuleViolation("BAD_OPTIONS", field="rubber_bonus", allowed=[False])
    return Options(
        target=read["target"],
        honours=read["honours"],
        match=Match(read["match"]),
        rubber_bonus=read["rubber_bonus"],
        revokes=Revokes(read["revokes"]),
    )
