"""P15, P61: each finished game is analysed once, and told of once, whatever comes twice, late or broken."""

import asyncio
import contextlib
import json
from dataclasses import replace
from pathlib import Path

import pytest
from prometheus_client import REGISTRY

from libs.engine.record.model import By
from libs.engine.record.plain import to_json
from libs.house import platform
from libs.search import grade
from services.coach import consumers, handlers, wiring
from services.coach.domain.games import FinishedGame
from services.coach.domain.study import Study
from services.coach.jobs import analyse_games
from services.coach.thinking import Hints, ThreadAnalyst
from tests.services.coach.builders import (
    MOVE_MS,
    SAMPLES,
    START_MS,
    Coach,
    again,
    coach_running,
    dice,
    finished,
    new_id,
    played,
    voided,
)
from whist.tables.v1.events_pb2 import TablesEvent
from whist.tables.v1.tables_pb2 import TABLE_KIND_QUICK
from whist.types.v1.types_pb2 import MODE_CLASSIC

MARKS = platform.load().coach.marks
ANA, BOB = new_id(), new_id()
PEOPLE = {1: ANA, 4: BOB}
QUICK = played(PEOPLE)


async def analyse(coach: Coach) -> None:
    """Everything that waits."""
    analyst = ThreadAnalyst(Hints(), SAMPLES, MARKS)
    while await handlers.analyse_next(store=coach.store, analyst=analyst):
        pass
    await analyst.close()


async def test_p15_a_finished_game_is_told_of_with_the_grade_of_each_person(coach: Coach) -> None:
    table = new_id()
    await coach.bus.publish([finished(QUICK, PEOPLE, table_id=table, mode="8-1-8")])
    await analyse(coach)
    [told] = await coach.published(table)
    assert (told.table_id, told.kind, told.mode) == (table.bytes, TABLE_KIND_QUICK, MODE_CLASSIC)
    assert (told.week_id, told.day_id) == ("2026-W48", "2026-11-29")
    assert [(one.account_id, one.seat) for one in told.seats] == [(ANA.bytes, 1), (BOB.bytes, 4)]
    assert [one.grade for one in told.seats] == [grade(QUICK, seat, SAMPLES, MARKS).mark for seat in (1, 4)]


async def test_x18_a_game_told_of_twice_and_replayed_from_zero_is_analysed_once(coach: Coach) -> None:
    """The same event, the same fact under another id, and the topic from its start with an empty inbox."""
    tables = [new_id() for _ in range(3)]
    events = [finished(QUICK, PEOPLE, table_id=table) for table in tables]
    gone = voided(tables[2])
    await coach.bus.publish([*events, *events, gone])
    await analyse(coach)
    before = await state(coach)
    await coach.bus.publish([again(event) for event in (*events, gone)])
    await analyse(coach)
    await coach.rows("delete from coach.inbox")
    await coach.bus.publish([gone, *reversed(events)])
    await analyse(coach)
    assert await state(coach) == before
    assert [len(await coach.published(table)) for table in tables] == [1, 1, 0]


async def state(coach: Coach) -> list[tuple[object, ...]]:
    """All that is kept of games, and all that was told."""
    games = await coach.rows(
        "select g.table_id::text, g.state, g.story::text, a.account_id::text, a.grade, a.analysis "
        "from coach.game g left join coach.analysis a using (table_id) order by 1, 4"
    )
    events = await coach.rows("select event_id::text, payload from coach.event order by 1")
    return [tuple(row) for row in (*games, *events)]


async def test_two_replicas_with_the_same_game_keep_and_tell_it_once(coach: Coach) -> None:
    """The claim of a slow one has run out, and another has taken the game."""
    table = new_id()
    await coach.bus.publish([finished(QUICK, PEOPLE, table_id=table)])
    one, other = (ThreadAnalyst(Hints(), SAMPLES, MARKS) for _ in range(2))
    async with coach.store.transaction() as games:
        first = await games.claim()
    await coach.rows("update coach.game set due_at = clock_timestamp() where table_id = :table", table=table)
    async with coach.store.transaction() as games:
        second = await games.claim()
    assert first == second and first is not None
    studies = await asyncio.gather(one.study(first), other.study(first))
    assert studies[0] == studies[1]
    kept = []
    for study in studies:
        async with coach.store.transaction() as games:
            kept.append(await games.keep(first.table_id, study))
    assert kept == [True, False]
    await asyncio.gather(one.close(), other.close())


async def test_a_claimed_game_is_nobody_elses_and_comes_again_when_its_process_died(coach: Coach) -> None:
    table = new_id()
    await coach.bus.publish([finished(QUICK, PEOPLE, table_id=table)])
    async with coach.store.transaction() as games:
        claimed = await games.claim()
    assert claimed is not None and claimed.table_id == table
    async with coach.store.transaction() as games:
        assert await games.claim() is None
    [row] = await coach.rows(
        "select due_at - clock_timestamp() > interval '50 s' as later, tries from coach.game where table_id = :table",
        table=table,
    )
    assert (row.later, row.tries) == (True, 1)
    await coach.rows("update coach.game set due_at = clock_timestamp() where table_id = :table", table=table)
    await analyse(coach)
    assert len(await coach.published(table)) == 1


async def test_a_game_voided_while_it_is_studied_is_not_told_of(coach: Coach) -> None:
    table = new_id()
    await coach.bus.publish([finished(QUICK, PEOPLE, table_id=table)])

    class Slow:
        async def study(self, game: FinishedGame) -> Study:
            analyst = ThreadAnalyst(Hints(), SAMPLES, MARKS)
            found = await analyst.study(game)
            await coach.bus.publish([voided(table)])
            await analyst.close()
            return found

    assert await handlers.analyse_next(store=coach.store, analyst=Slow())
    assert await coach.published(table) == []
    assert await coach.rows("select 1 from coach.analysis where table_id = :table", table=table) == []


async def test_p82_a_game_voided_after_its_end_keeps_no_analysis_and_no_record(coach: Coach) -> None:
    table = new_id()
    await coach.bus.publish([finished(QUICK, PEOPLE, table_id=table)])
    await analyse(coach)
    await coach.bus.publish([voided(table)])
    [row] = await coach.rows("select state, record, story from coach.game where table_id = :table", table=table)
    assert tuple(row) == ("voided", None, None)
    assert await coach.rows("select 1 from coach.analysis where table_id = :table", table=table) == []


@pytest.mark.parametrize("record", ["", "{}", "not json", '{"v":1,"game":"romanian"}', "[]", "null"])
async def test_a_record_that_does_not_play_again_grades_nobody_and_holds_up_nothing(coach: Coach, record: str) -> None:
    table = new_id()
    await coach.bus.publish([finished(record, PEOPLE, table_id=table)])
    await analyse(coach)
    [told] = await coach.published(table)
    assert [(one.grade, one.runs_of_seven) for one in told.seats] == [("", 0), ("", 0)]


async def test_a_record_whose_cards_were_changed_grades_nobody(coach: Coach) -> None:
    table, plain = new_id(), to_json(QUICK)
    plain["moves"] = plain["moves"][:-1]
    await coach.bus.publish([finished(json.dumps(plain), PEOPLE, table_id=table)])
    await analyse(coach)
    [told] = await coach.published(table)
    assert {one.grade for one in told.seats} == {""}


async def test_tables_of_the_load_harness_and_tables_without_people_are_passed_over(coach: Coach) -> None:
    empty, bench = new_id(), new_id()
    await coach.bus.publish(
        [finished(QUICK, {}, table_id=empty), finished(QUICK, PEOPLE, table_id=bench, kind="bench")]
    )
    for table in (empty, bench):
        assert await coach.rows("select 1 from coach.game where table_id = :table", table=table) == []


async def test_p15_other_games_are_told_of_without_a_grade(coach: Coach) -> None:
    table, people = new_id(), {0: ANA, 2: BOB}
    record = played(people, game="english", players=4, options={"match": "game"})
    await coach.bus.publish([finished(record, people, table_id=table, kind="friends", game="english", players=4)])
    await analyse(coach)
    [told] = await coach.published(table)
    assert [(one.account_id, one.grade, one.runs_of_seven) for one in told.seats] == [
        (ANA.bytes, "", 0),
        (BOB.bytes, "", 0),
    ]


async def test_p22_who_took_a_seat_over_is_graded_by_their_own_moves(coach: Coach) -> None:
    """Ana plays the first half, leaves, a bot plays on, and Bob takes the seat for the rest."""
    table = new_id()
    left, taken = 40, 80
    record = played({1: ANA}, by=lambda at, seat: By.PERSON if seat == 1 and not left <= at < taken else By.BOT)
    about = dict(record.table or {}) | {
        "taken_over": [[1, BOB.hex, START_MS + MOVE_MS * taken - 1]],
        "chosen_seats": True,
    }
    record = replace(record, table=about)
    await coach.bus.publish([finished(record, {1: BOB}, table_id=table, kind="friends")])
    await analyse(coach)
    [told] = await coach.published(table)
    assert [one.account_id for one in told.seats] == [BOB.bytes]
    ana, bob = await coach.analysis(table, ANA), await coach.analysis(table, BOB)
    assert [one["turn"] for one in ana["decisions"]] == [at for at in range(left) if record.moves[at].seat == 1]
    assert [one["turn"] for one in bob["decisions"]] == [
        at for at in range(taken, len(record.moves)) if record.moves[at].seat == 1
    ]


@pytest.mark.parametrize(
    ("field", "value"), [("table_id", b"x" * 15), ("week_id", "2026-W60"), ("week_id", ""), ("mode", 77)]
)
async def test_an_event_that_tables_never_send_is_refused_and_changes_nothing(
    coach: Coach, field: str, value: object
) -> None:
    """What it raises makes the bus park its key."""
    event = TablesEvent.FromString(finished(QUICK, PEOPLE).payload)
    setattr(event.game_finished, field, value)
    async with coach.store.transaction() as games:
        with pytest.raises((ValueError, KeyError)):
            await consumers.on_tables(games, event)
        assert await games.claim() is None


async def test_a_study_that_raises_holds_up_no_other_game_and_comes_again(coach: Coach) -> None:
    """A bug of ours: nothing is lost, the release that mends it heals the game, and meanwhile others are analysed."""
    poison, other = new_id(), new_id()
    sound = ThreadAnalyst(Hints(), SAMPLES, MARKS)

    class Faulty:
        async def study(self, game: FinishedGame) -> Study:
            if game.table_id == poison:
                raise ZeroDivisionError
            return await sound.study(game)

    await coach.bus.publish([finished(QUICK, PEOPLE, table_id=table) for table in (poison, other)])
    for _ in range(2):  # as the job is run again after a run that raised
        with contextlib.suppress(ZeroDivisionError):
            await analyse_games(coach.store, Faulty())
    assert (await coach.published(poison), len(await coach.published(other))) == ([], 1)
    assert measured("whist_coach_games_waiting") == 1 and measured("whist_coach_oldest_game_seconds") > 0
    await coach.rows("update coach.game set due_at = clock_timestamp() where table_id = :table", table=poison)
    await analyse_games(coach.store, sound)
    assert len(await coach.published(poison)) == 1
    assert measured("whist_coach_games_waiting") == measured("whist_coach_oldest_game_seconds") == 0
    await sound.close()


def measured(name: str) -> float:
    value = REGISTRY.get_sample_value(name)
    assert value is not None
    return value


async def test_where_the_kernel_is_interpreted_fewer_deals_are_tried(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wiring, "compiled", lambda: False)
    table = new_id()
    async with coach_running(database, tmp_path, analysis_check_seconds=0.02, analysis_samples=1000) as coach:
        await coach.bus.publish([finished(QUICK, PEOPLE, table_id=table, kind="friends")])
        async with asyncio.timeout(30):
            while not await coach.published(table):
                await asyncio.sleep(0.02)
        assert (await coach.analysis(table, ANA))["samples"] == wiring.INTERPRETED_ANALYSIS_SAMPLES


async def test_a_running_coach_analyses_what_it_hears_of(database: str, tmp_path: Path) -> None:
    table = new_id()
    async with coach_running(database, tmp_path, analysis_check_seconds=0.02, analysis_samples=10) as coach:
        await coach.bus.publish([finished(QUICK, PEOPLE, table_id=table)])
        async with asyncio.timeout(30):
            while not await coach.published(table):
                await asyncio.sleep(0.02)


async def test_a_stopping_coach_gives_a_study_up(database: str, tmp_path: Path) -> None:
    """A classic of six people would take minutes at so many samples; the stop does not wait for it."""
    people = {seat: new_id() for seat in range(6)}
    record = played(people, options={"mode": "8-1-8"}, player=dice(3))
    table = new_id()
    async with (
        asyncio.timeout(30),
        coach_running(database, tmp_path, analysis_check_seconds=0.02, analysis_samples=100_000) as coach,
    ):
        await coach.bus.publish([finished(record, people, table_id=table, mode="8-1-8")])
        while not await coach.rows("select 1 from coach.game where table_id = :table and tries > 0", table=table):
            await asyncio.sleep(0.02)
    async with coach_running(database, tmp_path) as coach:
        await coach.bus.publish([voided(table)])
