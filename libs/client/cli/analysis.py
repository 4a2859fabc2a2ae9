"""A game's analysis in the terminal (P61): fetched, or made here of a record at hand."""

from collections.abc import Iterator, Mapping
from typing import Any

from libs.client.cli import moves
from libs.client.cli.lettering import count
from libs.engine.record.model import By, Record
from libs.search import ADVISED, compiled, grade

VERSION = 1
SAMPLES, INTERPRETED_SAMPLES = 1000, 10  # a classic takes a second, or half a minute where the kernel is interpreted


class CannotJudge(Exception):
    """The record leaves nothing to judge; the text says why."""


def analyse(record: Record, seat: int | None) -> dict[str, Any]:
    """As docs/analysis.md has it, of the person in the seat (from 0), or of the only person there was.

    Raises CannotJudge.
    """
    if record.game not in ADVISED:
        raise CannotJudge(f"{record.game} has no judge: its grade is left empty everywhere")
    people = sorted({move.seat for move in record.moves if move.by is By.PERSON})
    if seat is None and len(people) == 1:
        [seat] = people
    if seat is None or seat not in people:
        if not people:
            raise CannotJudge("no person played there")
        seats = ", ".join(str(one + 1) for one in people)
        raise CannotJudge(f"name a seat that a person played, by --seat: {seats}")
    samples = SAMPLES if compiled() else INTERPRETED_SAMPLES
    told = {"v": VERSION, "game": record.game, "seat": seat, "samples": samples}
    return told | grade(record, seat, samples).dump()


def shown(analysis: Mapping[str, Any]) -> Iterator[str]:
    """Line by line: the grade, the rounds, the dearest mistakes."""
    if analysis["grade"] is None:
        yield f"Seat {analysis['seat'] + 1}: nothing to grade."
        return
    rounds = analysis["rounds"]
    yield (
        f"Seat {analysis['seat'] + 1}: grade {analysis['grade']}, {analysis['loss']:.2f} expected points lost a round "
        f"({count(len(rounds), 'round')})"
    )
    if runs := analysis.get("runs_of_seven"):
        yield f"{count(runs, 'run')} of seven contracts made"
    for one in rounds:
        yield f"  round {one['round'] + 1:>2}  {count(one['cards'], 'card'):<7}  {one['grade']:<2}  {one['loss']:5.2f}"
    by_turn = {one["turn"]: one for one in analysis["decisions"]}
    if analysis["dearest"]:
        yield "Dearest:"
    for turn in analysis["dearest"]:
        one = by_turn[turn]
        made, best = moves.in_words(one["action"]), moves.in_words(one["best"])
        place = f"round {one['round'] + 1}, move {turn + 1}"
        yield f"  {place}: {made}; {best} promised {one['loss']:.2f} more ({one['band']})"
