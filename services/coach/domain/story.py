"""What is worth telling of a game (P62), before any language: passages with a name and values."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypedDict

from libs.engine.protocol import Result, Seat

STREAK_FROM = 4  # contracts made in a row, by anybody
DROUGHT_FROM = 3  # missed in a row


class Passage(TypedDict):
    """One thing to tell: `values` fill the places of the text of that `name` in each language.

    Values are plain JSON: seats (`player`, `other`; `players` a list) from 0, rounds from 1, whole numbers; `n` is
    the number that the text's plural goes by.
    """

    name: str
    values: dict[str, Any]


class _Line(NamedTuple):
    """One round of Romanian Whist's score sheet; lists are by seat."""

    cards: int
    dealer: Seat
    bids: Sequence[int]
    taken: Sequence[int]
    scores: Sequence[int]

    def made(self, seat: Seat) -> bool:
        return self.bids[seat] == self.taken[seat]

    @property
    def barred(self) -> int:
        """The bid that the dealer may not make (R5); below 0 or above `cards` it bars nothing."""
        return self.cards - sum(self.bids) + self.bids[self.dealer]


class _Streak(NamedTuple):
    rounds: int
    player: Seat
    last: int  # its last round, from 0


def passages(result: Result, sheet: Sequence[Mapping[str, Any]]) -> tuple[Passage, ...]:
    """In the order of telling. `sheet` is Romanian Whist's score sheet; empty for the other games."""
    if not sheet:
        winners = [seat for seat in result.ranking if result.place(seat) == 1]
        return (_passage("won_plain", players=winners, n=len(winners)),)
    lines = [_Line(*(line[column] for column in _Line._fields)) for line in sheet]
    return (
        _result(result),
        *_lead(result, lines),
        _turning_point(result, lines),
        *_streaks(len(result.totals), lines),
        *_barred(lines),
        _last_round(result, lines),
    )


def _passage(name: str, **values: Any) -> Passage:
    return Passage(name=name, values=values)


def _result(result: Result) -> Passage:
    first, second = result.ranking[:2]
    ahead = result.totals[first] - result.totals[second]
    told = {"player": first, "points": result.totals[first], "other": second}
    return _passage("won", **told, n=ahead) if ahead else _passage("won_level", **told)


def _lead(result: Result, lines: Sequence[_Line]) -> Iterator[Passage]:
    """Who led after each round; of several who are level the one who led before, else the one placed best."""
    totals, leaders = [0] * len(result.totals), list[Seat]()
    for line in lines:
        totals = [total + score for total, score in zip(totals, line.scores, strict=True)]
        level = [seat for seat in result.ranking if totals[seat] == max(totals)]
        leaders.append(leaders[-1] if leaders and leaders[-1] in level else level[0])
    winner = result.ranking[0]
    if leaders[-1] != winner:
        return  # won on level points, by R9's order: told already
    changes = [at for at in range(1, len(leaders)) if leaders[at] != leaders[at - 1]]
    if changes:
        yield _passage("lead_taken", player=winner, round=changes[-1] + 1, n=len(changes))
    else:
        yield _passage("led_throughout", player=winner)


def _turning_point(result: Result, lines: Sequence[_Line]) -> Passage:
    """The round in which the winner gained most on the second; the latest of equal ones."""
    first, second = result.ranking[:2]
    at = max(range(len(lines)), key=lambda one: (lines[one].scores[first] - lines[one].scores[second], one))
    scores = lines[at].scores
    return _passage(
        "turning_point", round=at + 1, player=first, score=scores[first], other=second, other_score=scores[second]
    )


def _streaks(players: int, lines: Sequence[_Line]) -> Iterator[Passage]:
    for name, least, counts in (
        ("made_streak", STREAK_FROM, _Line.made),
        ("missed_streak", DROUGHT_FROM, lambda line, seat: not line.made(seat)),
    ):
        longest = _longest(players, lines, counts)
        if longest.rounds >= least:
            first = longest.last - longest.rounds + 2
            yield _passage(name, player=longest.player, n=longest.rounds, first=first, last=longest.last + 1)


def _longest(players: int, lines: Sequence[_Line], counts: Callable[[_Line, Seat], bool]) -> _Streak:
    """The longest of anybody; of equal ones the earliest, then the lowest seat's."""
    best = _Streak(0, 0, 0)
    running = [0] * players
    for at, line in enumerate(lines):
        for seat in range(players):
            running[seat] = running[seat] + 1 if counts(line, seat) else 0
            if running[seat] > best.rounds:
                best = _Streak(running[seat], seat, at)
    return best


def _barred(lines: Sequence[_Line]) -> Iterator[Passage]:
    """Dealers who took just as many tricks as they had been barred from bidding; the dearest of them is told."""
    cost = [(line.scores[line.dealer], at) for at, line in enumerate(lines) if line.taken[line.dealer] == line.barred]
    if cost:
        _, at = min(cost)
        line = lines[at]
        yield _passage(
            "barred", n=len(cost), round=at + 1, player=line.dealer, barred=line.barred, bid=line.bids[line.dealer]
        )


def _last_round(result: Result, lines: Sequence[_Line]) -> Passage:
    """Who climbed most by it, or else how the winner came through."""
    last, winner = lines[-1], result.ranking[0]
    before = [total - score for total, score in zip(result.totals, last.scores, strict=True)]
    order = sorted(result.ranking, key=lambda seat: -before[seat])  # level ones as they ended: nobody is said to climb
    climbs = {seat: order.index(seat) - result.ranking.index(seat) for seat in result.ranking}
    climber = max(result.ranking, key=climbs.__getitem__)
    if climbs[climber] > 0:
        places = {"before": order.index(climber) + 1, "after": result.ranking.index(climber) + 1}
        return _passage("last_climb", n=last.cards, player=climber, score=last.scores[climber], **places)
    name = "last_made" if last.made(winner) else "last_missed"
    return _passage(name, n=last.cards, player=winner, bid=last.bids[winner], taken=last.taken[winner])


def own_passages(analysis: Mapping[str, Any]) -> tuple[Passage, ...]:
    """What is told to one reader alone: the grade, and the dearest mistake (docs/analysis.md)."""
    if analysis["grade"] is None:
        return ()
    told = [_passage("own_grade", grade=analysis["grade"], loss=analysis["loss"])]
    for turn in analysis["dearest"][:1]:
        dearest = next(one for one in analysis["decisions"] if one["turn"] == turn)
        (kind,) = dearest["action"]
        told.append(
            _passage(
                f"own_dearest_{kind}",
                round=dearest["round"] + 1,
                made=dearest["action"][kind],
                best=dearest["best"][kind],
                loss=dearest["loss"],
            )
        )
    return tuple(told)
