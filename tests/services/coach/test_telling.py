"""P61, P62, P13, P23: who is shown a game's analysis and story, and how it is told in each language."""

import asyncio
import json
import string
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from libs.chassis.errors import DomainError
from libs.engine.protocol import Result
from libs.engine.record import replaying
from services.coach import thinking
from services.coach.domain.story import own_passages, passages
from services.coach.domain.telling import LANGUAGES, PARAGRAPHS, sentence, tell
from services.coach.thinking import Hints
from tests.services.coach.builders import Coach, coach_running, dice, finished, new_id, played, voided
from tests.services.coach.conftest import views
from tests.services.coach.test_games import analyse
from whist.coach.v1.coach_pb2 import AnalysisRequest, StoryRequest
from whist.coach.v1.coach_pb2_grpc import CoachServiceStub

ANA, BOB = new_id(), new_id()
PEOPLE = {1: ANA, 4: BOB}
QUICK = played(PEOPLE)


async def refusal(call: Any) -> tuple[str, str]:
    with pytest.raises(DomainError) as refused:
        await call
    return refused.value.kind.value, refused.value.reason


# ---- who ----


async def test_p23_friends_games_are_told_to_everybody_at_the_table_guests_too(coach: Coach) -> None:
    table = new_id()
    await coach.bus.publish([finished(QUICK, PEOPLE, table_id=table, kind="friends", guests=[4])])
    for who in (ANA, BOB):
        assert await refusal(coach.analysis(table, who)) == ("unavailable", "ANALYSIS_NOT_YET")
        assert await refusal(coach.story(table, who)) == ("unavailable", "ANALYSIS_NOT_YET")
    await analyse(coach)
    for seat, who in PEOPLE.items():
        assert (await coach.analysis(table, who))["seat"] == seat
        assert len((await coach.story(table, who)).paragraphs) >= 3


async def test_p13_quick_games_are_told_to_those_who_held_hints_at_the_deal(coach: Coach) -> None:
    table = new_id()
    await coach.bus.publish([finished(QUICK, PEOPLE, table_id=table, hints=[1])])
    assert await refusal(coach.analysis(table, BOB)) == ("forbidden", "ANALYSIS_NOT_OFFERED")
    await analyse(coach)
    assert (await coach.analysis(table, ANA))["table"] == table.hex
    for call in (coach.analysis(table, BOB), coach.story(table, BOB)):
        assert await refusal(call) == ("forbidden", "ANALYSIS_NOT_OFFERED")
    [told] = await coach.published(table)
    assert all(seat.grade for seat in told.seats), "the grade is for all: rewards go by it"


async def test_a6_a_game_of_others_and_a_voided_one_are_unknown(coach: Coach) -> None:
    table, gone = new_id(), new_id()
    await coach.bus.publish([finished(QUICK, PEOPLE, table_id=each, kind="friends") for each in (table, gone)])
    stranger = new_id()
    assert await refusal(coach.analysis(table, stranger)) == ("not_found", "ANALYSIS_UNKNOWN")
    await analyse(coach)
    await coach.bus.publish([voided(gone)])
    for where, who in ((table, stranger), (gone, ANA), (new_id(), ANA)):
        assert await refusal(coach.analysis(where, who)) == ("not_found", "ANALYSIS_UNKNOWN")
        assert await refusal(coach.story(where, who)) == ("not_found", "ANALYSIS_UNKNOWN")


@pytest.mark.parametrize("raw", [b"", b"x", b"x" * 15, b"x" * 17])
async def test_an_id_of_another_size_is_refused_by_its_field(coach: Coach, raw: bytes) -> None:
    for table, account, field in ((raw, ANA, "table_id"), (ANA, raw, "account_id")):
        with pytest.raises(DomainError) as refused:
            await coach.analysis(table, account)
        assert (refused.value.reason, refused.value.facts["field"]) == ("BAD_ID", field)


async def test_n5_the_gateway_alone_may_ask(coach: Coach) -> None:
    stub = CoachServiceStub(coach.stranger.channel)
    for call, request in (
        (stub.Analysis, AnalysisRequest(table_id=ANA.bytes, account_id=ANA.bytes)),
        (stub.Story, StoryRequest(table_id=ANA.bytes, account_id=ANA.bytes)),
    ):
        assert (await refusal(coach.stranger.call(call, request)))[0] == "forbidden"


# ---- hints first ----


async def test_hints_are_answered_while_a_long_study_runs(database: str, tmp_path: Path) -> None:
    """A classic of six people at 100,000 deals a move takes minutes."""
    people = {seat: new_id() for seat in range(6)}
    record = played(people, options={"mode": "8-1-8"}, player=dice(3))
    view = next(view for view in views("quick", 6, seed=7) if len(view["legal"]) > 3)
    table = new_id()
    async with coach_running(
        database, tmp_path, analysis_check_seconds=0.02, analysis_samples=100_000, hint_workers=1
    ) as coach:
        await coach.bus.publish([finished(record, people, table_id=table, mode="8-1-8")])
        async with asyncio.timeout(30):
            while not await coach.rows("select 1 from coach.game where table_id = :table and tries > 0", table=table):
                await asyncio.sleep(0.02)
            for _ in range(5):
                assert (await coach.hint(json.dumps(view))).turn == view["turn"]
        assert await coach.published(table) == []
        await coach.bus.publish([voided(table)])


def test_a_study_lets_a_hint_pass_but_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    hints, order = Hints(), list[str]()
    monkeypatch.setattr(thinking, "COURTESY_SECONDS", 60)
    waits = threading.Event()

    def study() -> None:
        waits.set()
        hints.let_pass()
        order.append("study")

    thread = threading.Thread(target=study)
    with hints:
        thread.start()
        assert waits.wait(10)
        order.append("hint")
    thread.join(10)
    assert order == ["hint", "study"]
    monkeypatch.setattr(thinking, "COURTESY_SECONDS", 0.01)
    with hints:
        hints.let_pass()  # returns


# ---- languages ----


@pytest.mark.parametrize("name", LANGUAGES)
def test_p62_each_language_is_complete_with_the_same_places(name: str) -> None:
    language, english = LANGUAGES[name], LANGUAGES["en"]
    assert language.texts.keys() == english.texts.keys() == {name for names in PARAGRAPHS for name in names}
    for passage, texts in language.texts.items():
        assert set(texts) in ({"other"}, set(language.categories)), passage
        if name != "zh":
            assert (len(texts) > 1) is (len(english.texts[passage]) > 1), passage
        due = places(english.texts[passage]["other"])
        for text in texts.values():
            # A number that a language writes as a word ("once") is no place.
            assert places(text) | {"n"} == due | {"n"}, passage
    assert {places(text) for text in (language.player,)} == {frozenset({"number"})}
    assert {language.plural(number) for number in range(200)} == set(language.categories)


def places(text: str) -> frozenset[str]:
    return frozenset(place for _, place, _, _ in string.Formatter().parse(text) if place)


@pytest.mark.parametrize(
    ("number", "category"),
    [
        (0, "few"),
        (1, "one"),
        (2, "few"),
        (19, "few"),
        (20, "other"),
        (100, "other"),
        (101, "few"),
        (119, "few"),
        (120, "other"),
    ],
)
def test_p62_romanian_counts_with_de_from_twenty_on(number: int, category: str) -> None:
    assert LANGUAGES["ro"].plural(number) == category


def test_p62_numbers_are_told_in_their_plural() -> None:
    won = {"player": 0, "points": 50, "other": 3}
    told = {
        (name, n): sentence(LANGUAGES[name], {"name": "won", "values": {**won, "n": n}}, reader=3)
        for name in LANGUAGES
        for n in (1, 5, 21)
    }
    assert told["en", 1] == "Player 1 won with 50 points, 1 point ahead of player 4 (you)."
    assert told["en", 5].endswith("5 points ahead of player 4 (you).")
    assert "cu 1 punct " in told["ro", 1] and "cu 5 puncte " in told["ro", 5] and "cu 21 de puncte " in told["ro", 21]
    assert told["zh", 5] == "1号玩家以50分获胜\uff0c领先4号玩家\uff08你\uff09 5分。"


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("en", "en"),
        ("ro-RO", "ro"),
        ("zh_Hans", "zh"),
        ("ZH", "zh"),
        ("de", "en"),
        ("", "en"),
        ("x" * 1000, "en"),
        ("zhx", "en"),
    ],
)
async def test_p62_an_unknown_language_is_told_in_english(coach: Coach, asked: str, told: str) -> None:
    table = new_id()
    await coach.bus.publish([finished(QUICK, PEOPLE, table_id=table, kind="friends")])
    await analyse(coach)
    answer = await coach.story(table, ANA, asked)
    assert answer.locale == told and all(answer.paragraphs)


# ---- what is told ----


def sheet(*rounds: tuple[int, int, list[int], list[int], list[int]]) -> list[dict[str, Any]]:
    return [
        {"cards": cards, "dealer": dealer, "bids": bids, "taken": taken, "scores": scores}
        for cards, dealer, bids, taken, scores in rounds
    ]


def result(ranking: list[int], totals: list[int]) -> Result:
    return Result(ranking=tuple(ranking), totals=tuple(totals), decided_by=(), seats=())


ROUNDS = sheet(
    # Seat 0 leads, seat 1 takes the lead in the third round; the dealer of the second one was barred from what he took.
    (2, 0, [1, 0, 0], [1, 0, 1], [6, 5, -1]),
    (2, 1, [1, 2, 0], [1, 1, 0], [6, -1, 5]),
    (3, 2, [2, 2, 1], [0, 2, 1], [-2, 7, 6]),
    (3, 0, [1, 3, 1], [0, 3, 0], [-1, 8, -1]),
)  # fmt: skip
TOTALS = [9, 19, 9]


def named(name: str) -> dict[str, Any]:
    return next(one["values"] for one in passages(result([1, 2, 0], TOTALS), ROUNDS) if one["name"] == name)


def test_p62_the_result_the_lead_and_the_turning_point() -> None:
    assert named("won") == {"player": 1, "points": 19, "other": 2, "n": 10}
    assert named("lead_taken") == {"player": 1, "round": 3, "n": 1}
    assert named("turning_point") == {"round": 4, "player": 1, "score": 8, "other": 2, "other_score": -1}


def test_p62_the_dealers_barred_bid_is_told_where_it_cost_the_contract() -> None:
    """Of two cards one was bid by the others: one was barred, the dealer bid two and took one."""
    assert named("barred") == {"n": 1, "round": 2, "player": 1, "barred": 1, "bid": 2}


def test_p62_streaks_are_the_longest_and_the_earliest() -> None:
    made = sheet(*((1, at % 2, [0, 0], [0, 0] if at < 5 else [1, 0], [5, 5] if at < 5 else [-1, 5]) for at in range(9)))
    told = {one["name"]: one["values"] for one in passages(result([1, 0], [21, 45]), made)}
    assert told["made_streak"] == {"player": 1, "n": 9, "first": 1, "last": 9}
    assert told["missed_streak"] == {"player": 0, "n": 4, "first": 6, "last": 9}


def test_p62_the_last_round_tells_who_climbed_by_it() -> None:
    rounds = sheet((1, 0, [1, 0, 0], [1, 0, 0], [6, 5, 5]), (1, 1, [1, 0, 0], [0, 0, 1], [-1, 5, -1]))
    told = passages(result([1, 0, 2], [5, 10, 4]), rounds)
    assert told[-1] == {"name": "last_climb", "values": {"n": 1, "player": 1, "score": 5, "before": 2, "after": 1}}


def test_p62_a_game_won_on_level_points_says_so() -> None:
    rounds = sheet((1, 0, [0, 0], [0, 0], [5, 5]))
    names = [one["name"] for one in passages(result([1, 0], [5, 5]), rounds)]
    assert names[0] == "won_level" and names[-1] == "last_made"


def test_p62_each_reader_hears_of_their_own_dearest_decision() -> None:
    analysis = {
        "seat": 0, "grade": "B", "loss": 1.04, "dearest": [7, 3],
        "decisions": [
            {"turn": 3, "round": 0, "action": {"bid": 1}, "best": {"bid": 2}, "loss": 0.6},
            {"turn": 7, "round": 1, "action": {"play": "TH"}, "best": {"play": "AS"}, "loss": 1.96},
        ],
    }  # fmt: skip
    [grade, dearest] = own_passages(analysis)
    assert (grade["name"], dearest["name"]) == ("own_grade", "own_dearest_play")
    told = tell((), analysis, "ro")
    assert told.paragraphs == (
        "Jocul tău are nota B: a costat 1,0 puncte așteptate pe rundă. Cea mai scumpă decizie a ta, în runda 2: ai "
        "jucat 10♥, iar A♠ promitea cu 2,0 puncte mai mult.",
    )
    assert own_passages(analysis | {"grade": None}) == ()


@pytest.mark.parametrize("name", LANGUAGES)
def test_p62_a_real_game_is_told_without_a_gap_in_every_language(name: str) -> None:
    for seed in range(6):
        record = played({0: ANA}, players=5, options={"mode": "8-1-8"}, seed=seed)
        end = replaying.played(record)
        story = passages(end.game.result(end.state), end.game.view(end.state, None)["score_sheet"])
        told = tell(story, {"seat": 2, "grade": None}, name)
        assert len(told.paragraphs) == 3
        assert not any(mark in paragraph for paragraph in told.paragraphs for mark in "{}")


def test_p62_partners_win_together() -> None:
    whole = SimpleNamespace(ranking=(0, 2, 1, 3), totals=(5, 3, 5, 3), place=lambda seat: 1 + seat % 2)
    [won] = passages(whole, ())  # type: ignore[arg-type] # what it reads of a result
    assert sentence(LANGUAGES["en"], won, reader=2) == "Player 1 and player 3 (you) won the game together."
