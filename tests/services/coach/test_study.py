"""P15, P61: what a study says of a game, and that it knows no more than the player knew."""

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any
from uuid import UUID

import pytest

from libs.engine import fair
from libs.engine.game import GAMES
from libs.engine.protocol import View
from libs.engine.record.model import By, Drawn, Record
from libs.engine.record.plain import to_json
from libs.engine.record.replaying import opening, replay
from libs.house import platform
from libs.search import MARKS, choose, compiled, judge
from services.coach.domain.games import AccountId, FinishedGame, Kind, Mode, Person, TableId, sittings
from services.coach.domain.study import Study, runs_of_seven, study
from tests.engine.test_romanian_properties import swap_hidden
from tests.services.coach.builders import MOVE_MS, START_MS, Player, dice, played

SAMPLES = 50
END = 2**53 - 1
ANA, BOB, CLEO = (AccountId(UUID(int=number)) for number in (1, 2, 3))
GAME = GAMES["romanian"]


def game_of(record: Record, people: dict[int, AccountId], kind: Kind = Kind.QUICK) -> FinishedGame:
    return FinishedGame(
        table_id=TableId(UUID(int=9)),
        kind=kind,
        mode=Mode.QUICK if kind is Kind.QUICK else Mode.NONE,
        game=record.game,
        week_id="2026-W48",
        day_id="2026-11-29",
        people=tuple(Person(seat=seat, account_id=who, hints=False) for seat, who in sorted(people.items())),
        record=json.dumps(to_json(record)),
    )


def studied(record: Record, people: dict[int, AccountId], samples: int = SAMPLES) -> Study:
    return study(game_of(record, people), samples, MARKS)


def keen(seed: int) -> Player:
    rng = Random(seed)
    return lambda _, view: choose("romanian", view, "keen", seed=rng.randrange(2**32))


@cache
def classic() -> Record:
    """Thirty rounds of keen players, one of whom has a run."""
    return played({0: ANA, 3: BOB}, options={"mode": "8-1-8"}, player=keen(4), seed=4)


def test_the_terminals_marks_are_the_platforms() -> None:
    assert platform.load().coach.marks == MARKS


def test_p61_every_own_decision_is_judged_and_no_other() -> None:
    record = played({1: ANA, 4: BOB})
    ana, bob = studied(record, {1: ANA, 4: BOB}).seats
    for one, seat in ((ana, 1), (bob, 4)):
        told = one.analysis
        assert [each["turn"] for each in told["decisions"]] == [
            at for at, move in enumerate(record.moves) if move.seat == seat
        ]
        assert [each["action"] for each in told["decisions"]] == [
            move.action for move in record.moves if move.seat == seat
        ]
        assert (told["seat"], told["grade"], told["samples"]) == (seat, one.grade, SAMPLES)
        losses = {each["turn"]: each["loss"] for each in told["decisions"]}
        assert [losses[turn] for turn in told["dearest"]] == sorted(losses.values(), reverse=True)[:3]
        assert told["loss"] == pytest.approx(sum(losses.values()) / 6, abs=0.001)
        sizes = [line["cards"] for line in GAME.view(last_state(record), None)["score_sheet"]]
        assert [(each["round"], each["cards"]) for each in told["rounds"]] == list(enumerate(sizes))


def last_state(record: Record) -> Any:
    *_, last = replay(record)
    return last.state


def test_p61_what_was_hidden_changes_no_judgement() -> None:
    """Before each own decision the cards that the seat cannot know are dealt otherwise: it is judged the same."""
    record = played({2: ANA}, seed=11)
    told = {each["turn"]: each for each in studied(record, {2: ANA}).seats[0].analysis["decisions"]}
    before, moved = opening(record).state, 0
    for at, step in enumerate(replay(record)):
        if step.move is not None and step.move.seat == 2:
            other = swap_hidden(before, 2, at)
            moved += GAME.hands(other) != GAME.hands(before)
            again = judge(GAME.view(other, 2), step.move.action, SAMPLES)
            due = told.pop(again.turn)
            assert (again.best, round(again.loss, 4)) == (due["best"], due["loss"])
            assert round(again.points, 4) == due["points"]
        before = step.state
    assert not told and moved > 10


def test_p61_two_whole_games_that_looked_the_same_to_a_player_get_the_same_judgements() -> None:
    """The last deal gives two others each other's cards; all that the player decided until then is judged the same."""
    record = played({0: ANA}, seed=12)
    draws = drawn(record)
    last = draws[-1].order
    bid = next(at for at, number in enumerate(rounds_of(record)) if number == 5 and record.moves[at].seat == 0)
    other = None
    for place, by in ((one, two) for one in range(6) for two in range(one + 1, 6)):
        order = list(last)
        order[place], order[by] = order[by], order[place]
        changed = replayed(record, (*draws[:-1], Drawn(draws[-1].label, tuple(order))), bid + 1)
        if own_hand(changed, bid) == own_hand(record, bid):
            other = changed
            break
    assert other is not None and to_json(other)["deals"] != to_json(replace(record, draws=draws, secret=None))["deals"]
    one, two = (
        [each for each in studied(game, {0: ANA}).seats[0].analysis["decisions"] if each["turn"] <= bid]
        for game in (record, other)
    )
    assert one == two and one[-1]["turn"] == bid and len(one) > 20


def drawn(record: Record) -> tuple[Drawn, ...]:
    """The draws that the secret gives."""
    assert record.secret is not None
    found, walk = list[Drawn](), opening(record)
    moves = iter(record.moves)
    while not walk.game.over(walk.state):
        if (draw := walk.game.draw(walk.state)) is not None:
            order = fair.permutation(record.secret, draw.label, draw.size)
            found.append(Drawn(draw.label, tuple(order)))
            walk.draw(order)
        else:
            walk.move(next(moves))
    return tuple(found)


def rounds_of(record: Record) -> list[int]:
    """The round of each move."""
    found, before = [], opening(record).state
    for step in replay(record):
        if step.move is not None:
            found.append(before.round.deal.index)
        before = step.state
    return found


def own_hand(record: Record, turn: int) -> list[str]:
    """Seat 0's, before that move."""
    before = opening(record).state
    for step in replay(record):
        if step.move is not None and before.turn == turn:
            view: View = GAME.view(before, 0)
            return [*view["hand"], view["trump"] or ""]
        before = step.state
    raise AssertionError("no such move")


def replayed(record: Record, draws: Sequence[Drawn], turn: int) -> Record:
    """The same moves up to `turn` on these draws, and any from there."""
    walk, orders, rng = opening(replace(record, secret=None)), iter(draws), Random(1)
    moves = list(record.moves[:turn])
    for at in range(len(record.moves)):
        while walk.game.draw(walk.state) is not None:
            walk.draw(next(orders).order)
        seat = walk.game.to_act(walk.state)
        assert seat is not None
        if at >= turn:
            moves.append(replace(record.moves[at], seat=seat, action=rng.choice(walk.game.legal(walk.state))))
        walk.move(moves[at])
    return replace(record, secret=None, draws=tuple(draws), moves=tuple(moves))


def test_p61_a_recorded_game_has_the_same_analysis_for_ever() -> None:
    """Grades decide on rewards: another judge is a decision, never an accident."""
    if not compiled():
        pytest.skip("the kernel is interpreted")
    seats = study(game_of(classic(), {0: ANA, 3: BOB}), 200, MARKS).seats
    told = [(one.grade, one.analysis["loss"], one.analysis["dearest"], one.runs_of_seven) for one in seats]
    assert told == GOLDEN


GOLDEN = [("A+", 0.1748, [180, 850, 756], 1), ("A", 0.3037, [1046, 273, 427], 2)]


def test_p15_seven_own_rounds_in_a_row_are_a_run_which_a_foreign_bid_breaks() -> None:
    """The round whose bid the clock made is not one's own, and neither are the six around it a run."""
    record = classic()
    facts = GAME.result(last_state(record)).seats
    seat = next(seat for seat in (0, 3) if runs_of_seven((fact.cards, fact.made) for fact in facts[seat]))
    people = {seat: {0: ANA, 3: BOB}[seat]}
    assert runs(record, people) == runs_of_seven((fact.cards, fact.made) for fact in facts[seat]) >= 1
    bids = [at for at, move in enumerate(record.moves) if move.seat == seat and "bid" in move.action]
    for by in (By.BOT, By.TIME_OUT):
        moves = list(record.moves)
        for at in bids[3::4]:
            moves[at] = replace(moves[at], by=by)
        assert runs(replace(record, moves=tuple(moves)), people) == 0


def runs(record: Record, people: dict[int, AccountId]) -> int:
    """Of the one among `people`."""
    [account_id] = people.values()
    return next(one.runs_of_seven for one in studied(record, people, 10).seats if one.account_id == account_id)


@pytest.mark.parametrize(
    ("rounds", "count"),
    [
        ([], 0),
        ([(8, True)] * 6, 0),
        ([(8, True)] * 7, 1),
        ([(8, True)] * 13, 1),
        ([(8, True)] * 14, 2),
        ([(8, True)] * 30, 4),
        ([(8, True)] * 6 + [(8, False)] + [(8, True)] * 6, 0),
        ([(8, True)] * 3 + [(1, False)] * 6 + [(8, True)] * 4, 1),
        ([(8, True)] * 3 + [(1, True)] * 6 + [(8, True)] * 3, 0),
        ([(1, True)] * 30, 0),
        ([(8, False)] + [(8, True)] * 7 + [(8, False)] + [(2, True)] * 7, 2),
    ],
)
def test_p15_runs_do_not_overlap_and_pass_over_rounds_of_one_card(rounds: list[tuple[int, bool]], count: int) -> None:
    assert runs_of_seven(rounds) == count


@pytest.mark.parametrize("by", [By.BOT, By.TIME_OUT])
def test_p15_moves_of_the_clock_and_of_bots_are_nobodys(by: By) -> None:
    record = played({1: ANA}, by=lambda at, seat: by)
    [one] = studied(record, {1: ANA}).seats
    assert (one.grade, one.runs_of_seven, one.analysis["grade"], one.analysis["decisions"]) == ("", 0, None, [])


def taken_over(*taken: tuple[int, AccountId, int], people: dict[int, AccountId]) -> FinishedGame:
    record = played({0: ANA})
    table = dict(record.table or {}) | {"taken_over": [[seat, who.hex, at] for seat, who, at in taken]}
    return game_of(replace(record, table=table), people, Kind.FRIENDS)


def test_p22_everybody_who_sat_there_is_known_with_their_time() -> None:
    game = taken_over((0, BOB, 500), (2, CLEO, 700), people={0: BOB, 2: CLEO})
    table = json.loads(game.record)["table"]
    told = {one.account_id: (one.seat, one.from_ms, one.until_ms, one.stayed) for one in sittings(game, table)}
    assert told == {ANA: (0, 0, 500, False), BOB: (0, 500, END, True), CLEO: (2, 700, END, True)}


def test_p22_one_who_came_when_the_list_was_full_has_made_no_move_that_is_known() -> None:
    game = taken_over((0, BOB, START_MS + 1), people={0: CLEO})
    whole = study(game, SAMPLES, MARKS)
    told = {one.account_id: (len(one.analysis["decisions"]), one.stayed) for one in whole.seats}
    assert told[CLEO] == (0, True)
    assert told[ANA] == (1 if json.loads(game.record)["moves"][0][0] == 0 else 0, False)


def test_a_game_of_another_kind_has_a_winner_and_no_grade() -> None:
    record = played({0: ANA}, game="knockout", players=4, options={})
    [one] = studied(record, {0: ANA}).seats
    assert (one.grade, one.analysis["decisions"], one.analysis["game"]) == ("", [], "knockout")


@pytest.mark.skipif(not compiled(), reason="the kernel is interpreted: fewer deals are tried")
def test_p61_a_classic_game_of_six_people_takes_seconds() -> None:
    people = {seat: AccountId(UUID(int=seat + 1)) for seat in range(6)}
    record = played(dict(people), options={"mode": "8-1-8"}, player=dice(1))
    assert (len(record.moves), record.moves[-1].at_ms) == (1116, START_MS + MOVE_MS * 1115)
    before = time.thread_time()
    whole = studied(record, people, samples=1000)
    assert time.thread_time() - before < 15  # 2.4 s when this was written
    assert all(one.grade for one in whole.seats)


def test_a_study_breathes_before_each_judgement_and_may_be_given_up() -> None:
    record = played({1: ANA})
    breaths = 0

    def breathe() -> None:
        nonlocal breaths
        breaths += 1
        if breaths == 5:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        study(game_of(record, {1: ANA}), SAMPLES, MARKS, breathe)
    assert breaths == 5


def test_the_same_moves_on_the_secrets_draws_are_the_same_game() -> None:
    """What the test with two games builds the other one by."""
    record = played({0: ANA}, seed=12)
    same = replayed(record, drawn(record), len(record.moves))
    assert same.moves == record.moves
    assert GAME.result(last_state(same)) == GAME.result(last_state(record))
