"""What the coach makes of a finished game: grades, runs of rounds, mistakes (P15, P61), and what its story tells.

Deterministic: the same game, samples and marks give the same study on every replica.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from libs.engine.protocol import RoundFact
from libs.engine.record.model import Record
from libs.engine.record.plain import from_json
from libs.engine.record.replaying import played
from libs.house.classic import RUN_ROUNDS
from libs.search import ADVISED, Decision, GameGrade, Marks, graded, judge, moments
from services.coach.domain.games import AccountId, FinishedGame, Sitting, sittings
from services.coach.domain.story import Passage, passages

VERSION: Final = 1  # of the analysis' JSON: docs/analysis.md


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatStudy:
    """One person's part."""

    account_id: AccountId
    seat: int
    offered: bool
    stayed: bool
    grade: str  # empty: nothing to grade
    runs_of_seven: int
    analysis: Mapping[str, Any]  # docs/analysis.md


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """Everybody's part, and what can be told of the whole game in any language."""

    seats: tuple[SeatStudy, ...]
    story: tuple[Passage, ...]


def unreadable(game: FinishedGame, samples: int) -> Study:
    """Of a game without a record that plays again: nothing to grade for anybody."""
    people = sittings(game, None)
    return Study(seats=tuple(_seat(game, one, graded(()), 0, samples) for one in people), story=())


def study(game: FinishedGame, samples: int, marks: Marks, breathe: Callable[[], None] = lambda: None) -> Study:
    """Judge every move that a person made, from what they could know before it, over `samples` deals each.

    `breathe` is called before each judgement: it may wait, or raise to give the study up. Raises what the record's
    readers raise (BadRecord, which is a ValueError), or LookupError, TypeError, ValueError for a record that is no
    finished game of tables.
    """
    record = from_json(json.loads(game.record))
    end = played(record)
    result = end.game.result(end.state)
    people = sittings(game, record.table)
    decisions = _decisions(record, people, samples, breathe) if record.game in ADVISED else {}
    seats = tuple(
        _seat(
            game,
            one,
            graded(decisions.get(one.account_id, ()), marks),
            _runs(one, record, result.seats[one.seat]) if record.game in ADVISED else 0,
            samples,
        )
        for one in people
    )
    sheet: Sequence[Mapping[str, Any]] = end.game.view(end.state, None).get("score_sheet", ())
    return Study(seats=seats, story=passages(result, sheet if record.game in ADVISED else ()))


def runs_of_seven(rounds: Iterable[tuple[int, bool]]) -> int:
    """How many times seven rounds in a row were made, each (cards, bid oneself and made); none counts twice (P15).

    Rounds of one card neither count nor break a run.
    """
    runs = length = 0
    for cards, made in rounds:
        if cards == 1:
            continue
        length = length + 1 if made else 0
        if length == RUN_ROUNDS:
            runs, length = runs + 1, 0
    return runs


def _decisions(
    record: Record, people: Sequence[Sitting], samples: int, breathe: Callable[[], None]
) -> dict[AccountId, list[Decision]]:
    found: dict[AccountId, list[Decision]] = {}
    for move, view in moments(record):
        for one in people:
            if one.made(move):
                breathe()
                found.setdefault(one.account_id, []).append(judge(view, move.action, samples))
    return found


def _runs(one: Sitting, record: Record, facts: Sequence[RoundFact]) -> int:
    """Bids come once a round and seat, so the seat's n-th bid is the one of its n-th round."""
    bids: Iterator[bool] = (one.made(move) for move in record.moves if move.seat == one.seat and "bid" in move.action)
    return runs_of_seven((fact.cards, own and fact.made) for fact, own in zip(facts, bids, strict=True))


def _seat(game: FinishedGame, one: Sitting, grade: GameGrade, runs: int, samples: int) -> SeatStudy:
    return SeatStudy(
        account_id=one.account_id,
        seat=one.seat,
        offered=one.offered,
        stayed=one.stayed,
        grade=grade.mark or "",
        runs_of_seven=runs,
        analysis={
            "v": VERSION,
            "table": game.table_id.hex,
            "game": game.game,
            "seat": one.seat,
            "samples": samples,
            "runs_of_seven": runs,
            **grade.dump(),
        },
    )
