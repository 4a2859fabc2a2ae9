"""A finished game judged by what its player knew at each decision (P61); how the cards lay changes nothing.

It reads a record (P72), plays it again and looks at the seat's own view alone, as it was before each decision.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from libs.engine.protocol import Action, Seat, View
from libs.engine.record.model import By, Move, Record
from libs.engine.record.plain import from_json
from libs.engine.record.replaying import opening, replay
from libs.search.advising import ADVISED, consider

SAMPLES = 1000
SURE = 2.0  # standard errors beyond which a loss counts: below, the better move is a matter of taste
DEAREST = 3
DIGITS = 4  # of points that are written down; the samples leave some tenth of doubt

# Marks best first, each with the most points that a round may cost on average for it.
Marks = tuple[tuple[str, float], ...]
# Ours: see docs/bots.md for how bots fare. Servers give those of their configuration instead.
MARKS: Marks = (("A+", 0.3), ("A", 0.7), ("B", 1.3), ("C", 2.0), ("D", 3.0))
LOWEST = "F"


class Band(StrEnum):
    """How much one decision cost, in expected points."""

    GOOD = "good"  # nothing that could be told from the best
    SLIP = "slip"
    MISTAKE = "mistake"
    BLUNDER = "blunder"


MISTAKE_FROM, BLUNDER_FROM = 0.5, 1.5  # points


class Moment(NamedTuple):
    """A move that a person made, and all that they could know before it."""

    move: Move
    view: View


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One decision of the player's own."""

    turn: int
    round: int  # 0-based
    cards: int  # of the round
    action: Action
    best: Action
    points: float  # expected from `action`
    loss: float  # points below the best; 0 unless beyond two standard errors
    error: float  # standard error of the difference
    band: Band

    def dump(self) -> dict[str, Any]:
        """Plain JSON (docs/analysis.md)."""
        return {
            "turn": self.turn,
            "round": self.round,
            "action": self.action,
            "best": self.best,
            "points": _points(self.points),
            "loss": _points(self.loss),
            "error": _points(self.error),
            "band": self.band.value,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundGrade:
    """All own decisions of one round; without any it is not in the list."""

    round: int
    cards: int
    loss: float
    mark: str

    def dump(self) -> dict[str, Any]:
        """Plain JSON (docs/analysis.md)."""
        return {"round": self.round, "cards": self.cards, "loss": _points(self.loss), "grade": self.mark}


@dataclass(frozen=True, slots=True, kw_only=True)
class GameGrade:
    """`mark` is None when the player decided nothing themself."""

    decisions: tuple[Decision, ...]
    rounds: tuple[RoundGrade, ...]
    loss: float  # points a round, over rounds with an own decision
    mark: str | None
    dearest: tuple[Decision, ...]  # at most three, dearest first; none that cost nothing

    def dump(self) -> dict[str, Any]:
        """Plain JSON (docs/analysis.md)."""
        return {
            "grade": self.mark,
            "loss": _points(self.loss),
            "rounds": [one.dump() for one in self.rounds],
            "dearest": [one.turn for one in self.dearest],
            "decisions": [one.dump() for one in self.decisions],
        }


def grade(record: Record | Mapping[str, Any], seat: Seat, samples: int = SAMPLES, marks: Marks = MARKS) -> GameGrade:
    """Every move that the person in the seat made (not time-outs or bots: P15), and marks A+, A, B, C, D, F.

    `record` is the engine's, as a value or as its JSON, which is checked first. Deterministic. Raises KeyError for a
    game without a coach, IndexError for a seat that is not there, BadRecord (a ValueError) for what is no record.
    """
    record = record if isinstance(record, Record) else from_json(record)
    if record.game not in ADVISED:
        raise KeyError(record.game)
    if not 0 <= seat < record.players:
        raise IndexError(f"no seat {seat} among {record.players}")
    return graded([judge(view, action, samples) for view, action in own_decisions(record, seat)], marks)


def graded(decisions: Iterable[Decision], marks: Marks = MARKS) -> GameGrade:
    """What one person's decisions of one game come to, in the order in which they were made."""
    made = tuple(decisions)
    losses: dict[int, float] = {}
    sizes = {one.round: one.cards for one in made}
    for one in made:
        losses[one.round] = losses.get(one.round, 0.0) + one.loss
    loss = sum(losses.values()) / len(losses) if losses else 0.0
    return GameGrade(
        decisions=made,
        rounds=tuple(
            RoundGrade(round=at, cards=sizes[at], loss=cost, mark=mark(cost, marks)) for at, cost in losses.items()
        ),
        loss=loss,
        mark=mark(loss, marks) if losses else None,
        dearest=tuple(sorted((one for one in made if one.loss > 0), key=lambda one: -one.loss)[:DEAREST]),
    )


def mark(loss: float, marks: Marks = MARKS) -> str:
    """The mark for so many points lost a round."""
    return next((name for name, most in marks if loss <= most), LOWEST)


def moments(record: Record) -> Iterator[Moment]:
    """Each move that a person made, in order, with the view of its seat before it. Raises BadRecord."""
    walk = opening(record)
    game, before = walk.game, walk.state
    for step in replay(record):
        if step.move is not None and step.move.by is By.PERSON:
            yield Moment(step.move, game.view(before, step.move.seat))
        before = step.state


def own_decisions(record: Record, seat: Seat) -> Iterator[tuple[View, Action]]:
    """The seat's view before each move that its person made, and the move. Raises BadRecord."""
    return ((view, move.action) for move, view in moments(record) if move.seat == seat)


def judge(view: View, action: Action, samples: int = SAMPLES) -> Decision:
    """What a move was worth beside the best, from the view before it alone: the same for the same view and `samples`.

    Raises ValueError when the view's cards contradict each other.
    """
    thought = consider(view, samples, view["turn"])
    made = view["legal"].index(action)
    best = thought.advice[thought.best]
    loss = best.points - thought.advice[made].points
    loss = loss if loss > SURE * thought.errors[made] else 0.0
    return Decision(
        turn=view["turn"],
        round=view["round"],
        cards=view["cards"],
        action=action,
        best=best.action if loss else action,
        points=thought.advice[made].points,
        loss=loss,
        error=thought.errors[made],
        band=_band(loss),
    )


def _points(value: float) -> float:
    return round(value, DIGITS)


def _band(loss: float) -> Band:
    if loss >= BLUNDER_FROM:
        return Band.BLUNDER
    if loss >= MISTAKE_FROM:
        return Band.MISTAKE
    return Band.SLIP if loss else Band.GOOD
