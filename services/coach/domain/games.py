"""A finished game as coach hears of it, and who sat where in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Any, NewType
from uuid import UUID

from libs.engine.record.model import AT_MS_MAX, By, Move

AccountId = NewType("AccountId", UUID)
TableId = NewType("TableId", UUID)


class Kind(StrEnum):
    """Tables whose games are analysed."""

    QUICK = "quick"
    FRIENDS = "friends"


class Mode(StrEnum):
    """How quick play is scheduled; other tables have none."""

    NONE = ""
    QUICK = "quick"
    CLASSIC = "classic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A person on a seat as the game ended."""

    seat: int
    account_id: AccountId
    hints: bool  # may ask the coach (P13, P23)


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedGame:
    """What GameFinished tells. `record` is the game's record as JSON text; empty where a fault of ours broke it."""

    table_id: TableId
    kind: Kind
    mode: Mode
    game: str
    week_id: str
    day_id: str
    people: tuple[Person, ...]
    record: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitting:
    """One account on one seat, from one moment to another: UTC milliseconds, the end not among them."""

    seat: int
    account_id: AccountId
    from_ms: int
    until_ms: int
    offered: bool  # whether analysis and story are for this person (P13, P23)
    stayed: bool  # sat there as the game ended

    def made(self, move: Move) -> bool:
        """Whether this person made the move themself (P15), and not the clock, a bot, or who sat there before."""
        at_ms = 0 if move.at_ms is None else move.at_ms
        return move.seat == self.seat and move.by is By.PERSON and self.from_ms <= at_ms < self.until_ms


def sittings(game: FinishedGame, table: Mapping[str, Any] | None) -> tuple[Sitting, ...]:
    """Everybody who sat in the game, by seat and time; one who sat twice counts where they sat last.

    `table` is what the record says of seats and who took them over (docs/records.md); without it those count who sat
    at the end. Where the list of those who took over is cut, who sits at the end has made no move that is known.
    Raises LookupError, TypeError or ValueError for what tables never write.
    """
    found: dict[AccountId, Sitting] = {}
    seated: Sequence[Mapping[str, Any]] = table["seats"] if table else ()
    taken: Sequence[Sequence[Any]] = table.get("taken_over", ()) if table else ()
    at_end = {person.seat: person for person in game.people}
    for seat in range(max([len(seated), *(number + 1 for number in at_end)])):
        holders: list[tuple[str, int]] = []
        if seat < len(seated) and (first := seated[seat]["account"]):
            holders.append((first, 0))
        holders += [(account, at_ms) for number, account, at_ms in taken if number == seat]
        last = at_end.get(seat)
        if last is not None and (not holders or holders[-1][0] != last.account_id.hex):
            holders.append((last.account_id.hex, AT_MS_MAX if table else 0))
        for (account, from_ms), (_, until_ms) in pairwise([*holders, ("", AT_MS_MAX)]):
            account_id = AccountId(UUID(hex=account))
            stayed = last is not None and last.account_id == account_id
            found[account_id] = Sitting(
                seat=seat,
                account_id=account_id,
                from_ms=from_ms,
                until_ms=until_ms,
                offered=game.kind is Kind.FRIENDS or (stayed and last is not None and last.hints),
                stayed=stayed,
            )
    return tuple(found.values())
