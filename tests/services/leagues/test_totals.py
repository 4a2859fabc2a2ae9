"""Stored totals are sums of rows: a check proves it, repairs what differs, and constraints stand in the database."""

import asyncio
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.exc import IntegrityError

from libs.chassis.run import check
from services.leagues.check import main as command
from services.leagues.domain.results import AccountId
from services.leagues.handlers import proof
from services.leagues.jobs import check_totals
from services.leagues.metrics import leagues_difference
from services.leagues.settings import LeaguesSettings
from services.leagues.wiring import MIGRATIONS, SPEC
from tests.conftest import MakeDatabase
from tests.services.leagues.builders import PLATFORM, Leagues, game_finished, new_id, prize_paid, seat_result


async def difference(leagues: Leagues) -> float:
    await check_totals(leagues.books, PLATFORM)
    found: float = leagues_difference._value.get()
    return found


@pytest.mark.parametrize(
    "damage",
    [
        "update leagues.account set experience = experience + 1 where account_id = :who",
        "update leagues.account set games = 0 where account_id = :who",
        "update leagues.account set level = 9 where account_id = :who",
        "update leagues.standing set points = 99 where account_id = :who",
        "update leagues.standing set games = 7 where account_id = :who",
        "delete from leagues.standing where account_id = :who",
        "insert into leagues.standing (account_id, week_id, points) values (:who, '2020-W01', 1)",
    ],
)
async def test_a_total_that_differs_from_its_rows_is_found_and_repaired(leagues: Leagues, damage: str) -> None:
    person = new_id()
    await leagues.bus.publish([game_finished(seat_result(person)), prize_paid(person, 100)])
    assert await difference(leagues) == 0
    before = (str(await leagues.profile(person)), str(await leagues.standing(person)))
    await leagues.rows(damage, who=person)
    assert await difference(leagues) == 1
    assert await difference(leagues) == 0
    assert (str(await leagues.profile(person)), str(await leagues.standing(person))) == before
    assert (await leagues.standing(person, "2020-W01")).points == 0


async def test_a_repair_that_lifts_the_level_publishes_it(leagues: Leagues) -> None:
    person = new_id()
    await leagues.bus.publish([game_finished(seat_result(person))])
    await leagues.rows("update leagues.account set experience = 0, level = 1 where account_id = :who", who=person)
    assert await difference(leagues) == 1
    assert await leagues.levels_reached(person) == [2, 2]


async def test_recomputing_beside_finishing_games_and_prizes_loses_nothing(leagues: Leagues) -> None:
    person = AccountId(new_id())
    events = [event for _ in range(12) for event in (game_finished(seat_result(person)), prize_paid(person, 10))]
    await asyncio.gather(
        *(leagues.bus.publish([event]) for event in events),
        *(proof.recompute(person, books=leagues.books, platform=PLATFORM) for _ in range(12)),
    )
    found = await leagues.standing(person)
    assert (found.points, found.games) == (120, 12)
    assert (await leagues.profile(person)).experience == 12 * 125
    assert await difference(leagues) == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """One game of one person, and the prize it won."""

    place: int
    own_bids: int
    own_made: int
    bid_lately: bool
    left: bool
    week: str
    coins: int

    @property
    def experience(self) -> int:
        counted = self.bid_lately and not self.left and self.own_bids >= 4
        return (10 * self.own_bids + 5 * self.own_made + (50, 30, 20, 0, 0, 0)[self.place - 1]) if counted else 0


@st.composite
def played(draw: st.DrawFn) -> Played:
    own_bids = draw(st.integers(0, 6))
    return Played(
        place=draw(st.integers(1, 6)),
        own_bids=own_bids,
        own_made=draw(st.integers(0, own_bids)),
        bid_lately=draw(st.booleans()),
        left=draw(st.booleans()),
        week=draw(st.sampled_from(["2026-W48", "2026-W49"])),
        coins=draw(st.integers(1, 10**6)),
    )


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(games=st.lists(played(), max_size=6))
async def test_p43_p50_totals_are_sums_whatever_was_played(leagues: Leagues, games: list[Played]) -> None:
    person = new_id()
    for one in games:
        result = seat_result(
            person, place=one.place, own_bids=one.own_bids, own_made=one.own_made,
            bid_lately=one.bid_lately, left=one.left,
        )  # fmt: skip
        await leagues.bus.publish([game_finished(result, week=one.week), prize_paid(person, one.coins, week=one.week)])
    assert (await leagues.profile(person)).experience == sum(one.experience for one in games)
    for week in ("2026-W48", "2026-W49"):
        assert (await leagues.standing(person, week)).points == sum(one.coins for one in games if one.week == week)
    assert await difference(leagues) == 0


@pytest.mark.parametrize(
    "statement",
    [
        "update leagues.account set experience = -1 where account_id = :who",
        "update leagues.account set level = 0 where account_id = :who",
        "update leagues.standing set points = -1 where account_id = :who",
        "update leagues.standing set week_id = 'now' where account_id = :who",
        "update leagues.prize set coins = 0 where account_id = :who",
        "update leagues.game_result set own_made = own_bids + 1 where account_id = :who",
        "update leagues.game_result set counted = false where account_id = :who",
        "insert into leagues.prize select * from leagues.prize where account_id = :who",
    ],
)
async def test_the_database_refuses_what_cannot_be(leagues: Leagues, statement: str) -> None:
    person = new_id()
    await leagues.bus.publish([game_finished(seat_result(person)), prize_paid(person, 100)])
    with pytest.raises(IntegrityError):
        await leagues.rows(statement, who=person)


async def test_check_says_what_is_wrong_with_an_empty_database(make_database: MakeDatabase) -> None:
    url = await make_database()
    with pytest.raises(ValueError, match=f"schema leagues is at nothing, not at {MIGRATIONS.head()}$"):
        await check(SPEC, LeaguesSettings(database_url=url))
    await MIGRATIONS.upgrade(url)
    await check(SPEC, LeaguesSettings(database_url=url))


@pytest.mark.parametrize("url", ["nonsense", "postgresql+asyncpg://nobody@127.0.0.1:1/whist"])
def test_the_command_says_in_a_line_which_database_it_cannot_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], url: str
) -> None:
    monkeypatch.setenv("WHIST_DATABASE_URL", url)
    assert command() == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("WHIST_DATABASE_URL: ")


def test_the_migrations_can_be_written_as_sql() -> None:
    assert "create table leagues.game_result" in MIGRATIONS.sql().lower()
