"""P43, P44, X19: games played offline are credited once, when they are legal and of those that count."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest

from libs.chassis.errors import DomainError, Kind
from libs.engine.record import plain
from libs.engine.record.flaws import BadRecord as Flawed
from libs.engine.record.model import Record
from services.leagues.domain.errors import BadRecord, UnknownGame
from services.leagues.domain.offline import OfflineGame, judge
from services.leagues.domain.results import AccountId
from services.leagues.handlers.offline import RECORD_BYTES_MAX
from tests.services.leagues.builders import PLATFORM, Leagues, game_finished, game_started, new_id, seat_result
from tests.services.leagues.offline_games import person_of, played

NUMBERS = PLATFORM.experience


# ---- what a record proves ----


def test_p43_the_persons_own_rounds_and_place_make_the_experience() -> None:
    record = played("one")
    result = plain.to_json(record)["result"]
    seat = person_of(record)
    made = sum(bid == taken for _, bid, taken, _ in result["seats"][seat])
    place = (50, 30, 20, 0, 0, 0)[result["ranking"].index(seat)]
    judged = judge(plain.dumps(record), NUMBERS)
    assert (judged.counted, judged.experience) == (True, 60 + 5 * made + place)


@pytest.mark.parametrize(
    ("game", "players", "options"),
    [
        ("romanian", 4, {"mode": "8-1-8"}),
        ("romanian", 5, {"mode": "8-8-8"}),
        ("english", 4, {"target": 5, "honours": True}),
        ("english", 4, {"target": 7, "honours": False}),
        ("english", 4, {"target": 5, "honours": False}),
    ],
)
def test_p44_the_games_that_are_played_offline(game: str, players: int, options: Mapping[str, Any]) -> None:
    judged = judge(plain.dumps(played("allowed", game, players, options)), NUMBERS)
    assert judged.counted and judged.experience > 0


@pytest.mark.parametrize(
    ("game", "players", "options"),
    [
        ("romanian", 4, {"mode": "1-8-1"}),
        ("romanian", 4, {"mode": "8-1-8", "premium": "reset"}),
        ("english", 4, {"match": "game"}),
        ("solo", 4, {"hands": 4}),
        ("german", 2, {}),
        ("knockout", 3, {}),
    ],
)
def test_p44_other_games_bring_nothing(game: str, players: int, options: Mapping[str, Any]) -> None:
    with pytest.raises(UnknownGame):
        judge(plain.dumps(played("other", game, players, options)), NUMBERS)


@pytest.mark.parametrize(("own", "counted"), [(None, True), (0, False)])
def test_p16_only_rounds_bid_by_oneself_count(own: int | None, counted: bool) -> None:
    judged = judge(plain.dumps(played("own", own=own)), NUMBERS)
    assert judged.counted is counted and bool(judged.experience) is counted


def spoiled(record: Record, how: str) -> str:
    """The record's JSON with one thing wrong."""
    told = plain.to_json(record)
    seat = person_of(record)
    match how:
        case "illegal":
            own_play = next(number for number, move in enumerate(told["moves"]) if "play" in move[1])
            told["moves"][own_play][1] = {"play": "2C"}
        case "score":
            told["result"]["totals"][0] += 1
        case "deal":
            told["deals"][0]["hands"][0], told["deals"][0]["hands"][1] = (
                told["deals"][0]["hands"][1],
                told["deals"][0]["hands"][0],
            )
        case "commitment":
            told["commitment"] = "00" * 32
        case "seat":
            other = next(move for move in told["moves"] if move[0] != seat)
            other[2] = "person"
        case "unknown actor":
            other = next(move for move in told["moves"] if move[0] != seat)
            other[2] = None
        case "table":
            told["table"] = {"id": "00" * 16}
        case "version":
            told["v"] = 2
        case "field":
            told["credit"] = True
    return json.dumps(told)


@pytest.mark.parametrize(
    ("how", "problem"),
    [
        ("illegal", "ILLEGAL_MOVE"),
        ("score", "WRONG_RESULT"),
        ("deal", "WRONG_DEAL"),
        ("commitment", "WRONG_COMMITMENT"),
        ("seat", "ANOTHER_SEAT"),
        ("unknown actor", "ANOTHER_SEAT"),
        ("table", "PLAYED_ONLINE"),
        ("version", "UNKNOWN_VERSION"),
        ("field", "NOT_A_RECORD"),
    ],
)
def test_x19_a_forged_record_is_refused_by_its_problem(how: str, problem: str) -> None:
    with pytest.raises(BadRecord) as refused:
        judge(spoiled(played("forged"), how), NUMBERS)
    assert refused.value.facts["problem"] in (problem, "WRONG_SCORE")


@pytest.mark.parametrize(
    "written", ["", "{", "[]", "null", "\x00", "[" * 100_000, '{"v": 1e999}', '{"v": NaN}', "é" * 50]
)
def test_x19_what_is_no_record_is_refused(written: str) -> None:
    with pytest.raises(BadRecord):
        judge(written, NUMBERS)


def test_x19_a_game_that_was_left_is_refused() -> None:
    with pytest.raises(BadRecord) as refused:
        judge(plain.dumps(played("left", moves=60)), NUMBERS)
    assert refused.value.facts["problem"] == "NOT_FINISHED"


def test_x19_a_record_without_its_secret_is_refused() -> None:
    record = played("bare")
    told = plain.to_json(record) | {"secret": None}
    with pytest.raises(BadRecord):
        judge(json.dumps(told), NUMBERS)


def test_x19_the_same_game_written_otherwise_has_the_same_digest() -> None:
    record = played("again")
    told = plain.to_json(record)
    other = replace(record, names=(), moves=tuple(replace(move, at_ms=None) for move in record.moves))
    reordered = json.dumps(dict(reversed(told.items())), indent=2)
    digests = {judge(written, NUMBERS).digest for written in (json.dumps(told), reordered, plain.dumps(other))}
    assert len(digests) == 1
    assert judge(plain.dumps(played("another")), NUMBERS).digest not in digests


# ---- the credit ----


async def test_p43_an_offline_game_is_worth_half_and_is_credited_once(leagues: Leagues) -> None:
    person, record = new_id(), played("credited")
    whole = judge(plain.dumps(record), NUMBERS).experience
    first = await leagues.upload(person, plain.dumps(record))
    assert (first.credited, first.experience, first.total) == (True, whole // 2, whole // 2)
    told = plain.to_json(record)
    again = await leagues.upload(person, json.dumps(dict(reversed(told.items())), indent=1))
    assert (again.credited, again.experience, again.total) == (False, whole // 2, whole // 2)
    assert (await leagues.profile(person)).experience == whole // 2
    assert (await leagues.profile(person)).games == 0


async def test_x19_the_same_record_in_parallel_and_of_two_accounts_is_credited_once(leagues: Leagues) -> None:
    ana, dan, record = new_id(), new_id(), plain.dumps(played("parallel"))
    answers = await asyncio.gather(*(leagues.upload(who, record) for who in (ana, dan) * 4), return_exceptions=True)
    refused = [each for each in answers if isinstance(each, DomainError)]
    assert {each.facts["problem"] for each in refused} == {"ANOTHERS_GAME"} and len(refused) == 4
    assert [each.credited for each in answers if not isinstance(each, BaseException)].count(True) == 1
    assert sorted([(await leagues.profile(who)).experience > 0 for who in (ana, dan)]) == [False, True]


async def test_x19_a_game_under_other_options_is_the_same_game(leagues: Leagues) -> None:
    """Where the rubber ends all the same, honours and target change nothing that was dealt or decided."""
    person, record = new_id(), played("clothes 4", "english", 4, {"target": 5, "honours": True})
    dressed = [
        replace(record, options={**record.options, "target": target, "honours": honours})
        for target in (5, 7)
        for honours in (True, False)
    ]
    legal = [written for written in dressed if is_legal(written)]
    assert len(legal) > 1
    answers = await asyncio.gather(*(leagues.upload(person, plain.dumps(written)) for written in legal * 4))
    assert [each.credited for each in answers].count(True) == 1
    assert {each.experience for each in answers} == {each.total for each in answers} == {answers[0].experience}


async def test_p44_who_agree_on_a_seed_are_each_credited_for_their_own_play(leagues: Leagues) -> None:
    ana, dan = new_id(), new_id()
    of_ana, of_dan = plain.dumps(played("tuesday")), plain.dumps(played("tuesday", pick=0))
    answers = await asyncio.gather(leagues.upload(ana, of_ana), leagues.upload(dan, of_dan))
    assert [each.credited for each in answers] == [True, True]
    with pytest.raises(DomainError) as refused:
        await leagues.upload(new_id(), of_ana)
    assert refused.value.facts["problem"] == "ANOTHERS_GAME"


async def test_x19_a_game_with_other_moves_under_its_secret_is_the_same_game(leagues: Leagues) -> None:
    person = new_id()
    first = await leagues.upload(person, plain.dumps(played("moves", own=6)))
    other = await leagues.upload(person, plain.dumps(played("moves", pick=0)))
    assert (first.credited, other.credited, other.experience, other.total) == (
        True, False, first.experience, first.experience,
    )  # fmt: skip


async def test_x19_a_game_credited_before_secrets_were_kept_is_known_by_its_moves(leagues: Leagues) -> None:
    person, record = new_id(), plain.dumps(played("of old"))
    first = await leagues.upload(person, record)
    await leagues.rows("update leagues.offline_game set commitment = null where account_id = :who", who=person)
    again = await leagues.upload(person, record)
    assert (first.credited, again.credited, again.total) == (True, False, first.total)


def is_legal(record: Record) -> bool:
    try:
        judge(plain.dumps(record), NUMBERS)
    except (BadRecord, Flawed):
        return False
    return True


async def test_x19_a_game_that_was_played_here_is_no_offline_game(leagues: Leagues) -> None:
    record = played("online")
    await leagues.bus.publish([game_started(record.commitment)])
    with pytest.raises(DomainError) as refused:
        await leagues.upload(new_id(), plain.dumps(record))
    assert (refused.value.reason, refused.value.facts["problem"]) == ("BAD_RECORD", "PLAYED_ONLINE")


async def test_p43_after_the_twentieth_game_of_a_day_a_tenth(leagues: Leagues) -> None:
    """The count is by account and day; a game that does not count takes no place of the twenty."""
    person = AccountId(new_id())
    today, before = date(2026, 11, 30), date(2026, 11, 29)
    async with leagues.books.transaction() as ledger:
        await ledger.lock(person)
        for number in range(25):
            game = OfflineGame(
                digest=new_id().bytes * 2,
                commitment=new_id().bytes * 2,
                game="romanian",
                counted=number >= 5,
                experience=0,
            )
            assert await ledger.insert_offline(person, game, today, 0)
        assert await ledger.offline_games(person, today) == 20
        assert await ledger.offline_games(person, before) == 0
    rules = PLATFORM.offline
    assert [rules.experience(125, number) for number in (1, 20, 21, 500)] == [62, 62, 12, 12]
    assert [rules.experience(9, 21), rules.experience(1, 1), rules.experience(0, 1)] == [1, 1, 0]


async def test_p43_the_twenty_first_upload_of_the_day_brings_a_tenth(leagues: Leagues) -> None:
    person, record = new_id(), played("late")
    async with leagues.books.transaction() as ledger:
        today = (await ledger.now()).astimezone(PLATFORM.zone).date()
        await ledger.lock(AccountId(person))
        for number in range(40):
            game = OfflineGame(
                digest=new_id().bytes * 2, commitment=new_id().bytes * 2, game="romanian", counted=True, experience=0
            )
            # Of the next day too: midnight may come before the upload.
            await ledger.insert_offline(AccountId(person), game, today + timedelta(days=number % 2), 0)
    whole = judge(plain.dumps(record), NUMBERS).experience
    assert (await leagues.upload(person, plain.dumps(record))).experience == whole // 10


async def test_a_level_reached_offline_is_published(leagues: Leagues) -> None:
    person = new_id()
    await leagues.bus.publish([game_finished(seat_result(person, own_made=6, place=6), week="2026-W48")])
    before = (await leagues.profile(person)).level
    answer = None
    for number in range(4):
        answer = await leagues.upload(person, plain.dumps(played(f"level {number}")))
    assert answer is not None and answer.level > before
    assert await leagues.levels_reached(person) == list(range(2, answer.level + 1))


@pytest.mark.parametrize(
    ("guest", "written", "kind", "reason"),
    [
        (True, "{}", Kind.FORBIDDEN, "GUESTS_UPLOAD_NOTHING"),
        (False, "x" * (RECORD_BYTES_MAX + 1), Kind.INVALID, "RECORD_TOO_LARGE"),
        (False, "ă" * (RECORD_BYTES_MAX // 2 + 1), Kind.INVALID, "RECORD_TOO_LARGE"),
        (False, "{}", Kind.INVALID, "BAD_RECORD"),
    ],
)
async def test_an_upload_is_refused_and_changes_nothing(
    leagues: Leagues, guest: bool, written: str, kind: Kind, reason: str
) -> None:
    person = new_id()
    with pytest.raises(DomainError) as refused:
        await leagues.upload(person, written, guest=guest)
    assert (refused.value.kind, refused.value.reason) == (kind, reason)
    assert await leagues.rows("select 1 from leagues.account where account_id = :who", who=person) == []
