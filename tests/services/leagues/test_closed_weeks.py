"""P55: what was closed is proved, and a close that is broken off, doubled or told late ends as one that was not.

The state machine plays over real storage: events come twice, in any order and late; two replicas close, and are cut off
before any of their statements. At the end every week is closed once and equals what the wallet and the rules say.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from random import Random
from uuid import UUID

import pytest
import sqlalchemy as sa

from libs.chassis.db import Store
from libs.chassis.db.database import Database
from libs.chassis.events.envelope import Event
from libs.house.calendar import week_bounds
from services.leagues.check import differences
from services.leagues.domain.league import TIERS, Score, Tier, order, rank
from services.leagues.domain.results import AccountId, WeekId
from services.leagues.handlers import closing, proof
from services.leagues.settings import LeaguesSettings
from services.leagues.storage.ledger import LeaguesTransaction
from tests.conftest import MakeDatabase
from tests.services.leagues.builders import (
    ENTROPY,
    PLATFORM,
    account_created,
    account_deleted,
    friends_finished,
    game_finished,
    game_voided,
    guest_upgraded,
    minutes,
    new_id,
    seat_result,
)
from tests.services.leagues.test_closing import League, league_running
from whist.tables.v1.events_pb2 import TablesEvent

WEEKS = ("2026-W43", "2026-W44", "2026-W45")


@pytest.fixture
async def league(make_database: MakeDatabase) -> AsyncIterator[League]:
    async with league_running(make_database) as running:
        yield running


# ---- the proof ----


@pytest.mark.parametrize(
    ("damage", "repaired"),
    [
        ("update leagues.tier set tier = 4 where account_id = :who", True),
        ("delete from leagues.tier where account_id = :who", True),
        ("update leagues.standing set reached_at = now() where account_id = :who", True),
        ("update leagues.week_rank set points = points + 5000 where account_id = :who", False),
        ("update leagues.week_rank set ranked = 9 where account_id = :who", False),
        ("delete from leagues.week_rank where account_id = :who", False),
        ("update leagues.league_group set closed_at = null", False),
        ("delete from leagues.group_member where account_id = :who", False),
    ],
)
async def test_what_a_close_cannot_have_made_is_found(league: League, damage: str, repaired: bool) -> None:
    people = await league.accounts(3)
    await league.win(*people)
    assert await league.close()
    settings = LeaguesSettings(database_url=league.url)
    assert await differences(settings) == 0
    await league.leagues.rows(damage, who=people[0])
    assert await differences(settings) > 0
    assert (await differences(settings) == 0) is repaired


# ---- a week's edges (X10) ----


@pytest.mark.parametrize(
    ("week", "hours"), [("2026-W13", 167), ("2026-W43", 169), ("2026-W48", 168), ("2026-W53", 168)]
)
@pytest.mark.parametrize(("milliseconds", "ended"), [(-1, False), (0, True), (1, True)])
async def test_x10_a_week_is_due_from_its_last_moment_on(
    league: League, monkeypatch: pytest.MonkeyPatch, week: str, hours: int, milliseconds: int, ended: bool
) -> None:
    """By the database's clock, which the test sets; in weeks of 167 and 169 hours and at the year's end."""
    begin, end = week_bounds(week)
    assert (end - begin).total_seconds() == hours * 3600
    [ana] = await league.accounts(1)
    await league.win(ana, week=week)

    async def at_the_edge(ledger: LeaguesTransaction) -> object:
        return (await ledger.connection.execute(_EDGE, {"end": end, "milliseconds": milliseconds})).scalar_one()

    monkeypatch.setattr(LeaguesTransaction, "now", at_the_edge)
    await closing.close_weeks(books=league.leagues.books, wallet=league.peer, platform=PLATFORM)
    assert bool(await league.ranks(week)) is ended


_EDGE = sa.text("select cast(:end as timestamptz) + cast(:milliseconds as integer) * interval '1 millisecond'")


# ---- broken off anywhere ----


class Cut(Exception):
    """The process is gone."""


@pytest.fixture
async def closer(league: League) -> AsyncIterator[Store[LeaguesTransaction]]:
    """Connections of a replica that does nothing but close."""
    database = Database.open(league.url, "leagues")
    yield Store(database, LeaguesTransaction, ENTROPY)
    await database.close()


def close_by(closer: Store[LeaguesTransaction], league: League, week: str) -> Awaitable[bool]:
    return closing.close_week(WeekId(week), books=closer, wallet=league.peer, platform=PLATFORM)


@contextmanager
def cut_before(statement: int, closer: Store[LeaguesTransaction]) -> Iterator[None]:
    """The closer is gone before its statement of that number, in whichever transaction it is."""
    numbers = count()
    engine = closer.database.engine.sync_engine

    def cut(*_: object) -> None:
        if next(numbers) == statement:
            raise Cut

    sa.event.listen(engine, "before_cursor_execute", cut)
    try:
        yield
    finally:
        sa.event.remove(engine, "before_cursor_execute", cut)


async def test_p55_a_close_cut_off_before_any_statement_goes_on_and_ends_as_if_it_had_not_been(
    league: League, closer: Store[LeaguesTransaction]
) -> None:
    people = await league.accounts(24)
    await league.win(*people[:23], week=WEEKS[0])
    await league.win(people[0], people[22], week=WEEKS[1])
    unheard = league.wallet.pay(people[23], 2000, week=WEEKS[0])
    statements, closed = 0, False
    while not closed:
        with cut_before(statements, closer):
            try:
                closed = await close_by(closer, league, WEEKS[0])
            except Cut:
                statements += 1
    assert statements >= 10  # what is committed is not done again, so that each cut comes further
    await league.leagues.bus.publish([unheard])
    assert len(await league.ranks(WEEKS[0])) == len(await league.leagues.told("week_closed")) == 24
    assert len(await league.leagues.told("podium_won")) == 6
    assert len(await league.leagues.told("tier_changed")) == sum(
        each.next_tier != each.tier for each in await league.leagues.told("week_closed")
    )
    shown = await league.leagues.group(people[0], WEEKS[1])
    assert shown.group_id and shown.tier == await league.tier(people[0])
    assert await proof.check(books=league.leagues.books, platform=PLATFORM) == 0


# ---- weeks of simulated play ----


@dataclass(slots=True)
class Season:
    """Play by chance; `told` has every event that was ever sent, for repeats."""

    league: League
    closer: Store[LeaguesTransaction]
    dice: Random
    people: list[UUID]
    guests: set[UUID]
    told: list[Event] = field(default_factory=list)
    late: list[Event] = field(default_factory=list)
    guests_at: dict[str, set[UUID]] = field(default_factory=dict)  # who was one when the week closed
    numbers: Iterator[int] = field(default_factory=count)

    async def send(self, events: list[Event]) -> None:
        """In any order, some twice, some only after the next close."""
        self.dice.shuffle(events)
        for event in events:
            if self.dice.random() < 0.15:
                self.late.append(event)
                continue
            self.told.append(event)
            again = [event] * (1 + (self.dice.random() < 0.2))
            await asyncio.gather(*(self.league.leagues.bus.publish([each]) for each in again))
        if self.told and self.dice.random() < 0.3:
            await self.league.leagues.bus.publish([self.dice.choice(self.told)])

    async def play(self, week: str) -> None:
        """A quick game of six with three prizes, and now and then a refund or a void of it."""
        table, seats = new_id(), self.dice.sample(self.people, 6)
        at = minutes(next(self.numbers))
        events = [
            game_finished(*(seat_result(who, place=k) for k, who in enumerate(seats, 1)), table_id=table, week=week)
        ]
        for who, coins in zip(seats, (100, 70, 55), strict=False):
            events.append(self.league.wallet.pay(who, coins, table=table, week=week, at=at))
        if self.dice.random() < 0.2:
            events.append(self.league.wallet.refund(self.dice.choice(seats[:3]), table, week=week))
        await self.send(events)

    async def friends(self, week: str) -> None:
        table, seats = new_id(), self.dice.sample(self.people, 4)
        events = [
            friends_finished(*(seat_result(who, place=k) for k, who in enumerate(seats, 1)), table_id=table, week=week)
        ]
        if self.dice.random() < 0.3:
            told = TablesEvent.FromString(events[0].payload).game_finished
            events.append(game_voided(table, kind=told.kind))
        await self.send(events)

    async def upgrade(self, _: str) -> None:
        if self.guests:
            who = self.guests.pop()
            await self.league.leagues.bus.publish([guest_upgraded(who)])

    async def close(self, week: str, cuts: int) -> None:
        """Two replicas at once; the first is cut off a few times."""
        for _ in range(cuts):
            with cut_before(self.dice.randrange(30), self.closer):
                replicas = [close_by(self.closer, self.league, week)]
                if self.dice.random() < 0.3:
                    replicas.append(self.league.close(week))
                await asyncio.gather(*replicas, return_exceptions=True)
        while not all(await asyncio.gather(*(self.league.close(week) for _ in range(2)))):
            pass
        self.guests_at[week] = set(self.guests)
        late, self.late = self.late, []
        for event in late:
            await self.league.leagues.bus.publish([event])


async def expected_ranks(season: Season, week: str) -> None:
    """Every group once, ranked by the wallet's totals as the rules say."""
    league, totals = season.league, season.league.wallet.totals(week)
    rows = await league.leagues.rows("select * from leagues.week_rank where week_id = :week", week=week)
    ranked_people = {who for who in totals if who not in season.guests_at[week]}
    assert {row.account_id for row in rows} == ranked_people
    assert {row.account_id: row.points for row in rows} == {who: totals[who] for who in ranked_people}
    tiers = {
        row.group_id: TIERS[row.tier - 1]
        for row in await league.leagues.rows("select * from leagues.league_group where week_id = :week", week=week)
    }
    for group_id, tier in tiers.items():
        members = [row for row in rows if row.group_id == group_id]
        scores = [
            Score(account_id=AccountId(row.account_id), points=row.points, games=row.games, reached_at=row.reached_at)
            for row in members
        ]
        due = {each.score.account_id: each for each in rank(tier, scores, PLATFORM.league)}
        assert len({order(each) for each in scores}) == len(scores) <= PLATFORM.league.group_size
        for row in members:
            each = due[row.account_id]
            assert (row.rank, row.ranked, row.next_tier) == (each.rank, each.ranked, each.next_tier.number)
            assert (row.podium_coins, row.podium_bars) == (each.podium_coins, each.podium_bars)
    told = [each for each in await league.leagues.told("week_closed") if each.week_id == week]
    assert sorted(each.account_id for each in told) == sorted(who.bytes for who in ranked_people)


@pytest.mark.parametrize("seed", range(3))
async def test_p50_p55_weeks_of_play_end_with_every_group_closed_once_whatever_happened(
    league: League, closer: Store[LeaguesTransaction], seed: int
) -> None:
    dice = Random(seed)
    people = sorted(new_id() for _ in range(30))
    guests = set(people[:3])
    await league.leagues.bus.publish([account_created(who, guest=who in guests) for who in people])
    season = Season(league=league, closer=closer, dice=dice, people=people, guests=guests)
    steps: Sequence[Callable[[str], Awaitable[None]]] = (*[season.play] * 6, *[season.friends] * 2)
    for week in WEEKS:
        for _ in range(20):
            # The next week's games begin while this one is not closed yet.
            await dice.choice(steps)(week if dice.random() < 0.9 else WEEKS[-1])
        await season.upgrade(week)
        await season.close(week, cuts=2)
        await expected_ranks(season, week)
    for week in WEEKS:  # what came late has changed nothing
        await expected_ranks(season, week)
    await league.leagues.bus.publish([account_deleted(people[-1])])
    before = {who: await league.tier(who) for who in people}
    assert await proof.check(books=league.leagues.books, platform=PLATFORM) == 0
    assert {who: await league.tier(who) for who in people} == before
    assert set(before.values()) > {Tier.JACK.number}
    await league.leagues.rows("delete from leagues.inbox")
    await asyncio.gather(*(league.leagues.bus.publish([event]) for event in dice.sample(season.told, 60)))
    assert await proof.check(books=league.leagues.books, platform=PLATFORM) == 0
    assert WeekId(WEEKS[-1]) == (await closing.lateness(books=league.leagues.books, platform=PLATFORM)).last_closed
