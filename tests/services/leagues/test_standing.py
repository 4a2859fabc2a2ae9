"""P50: the weekly league's points."""

import asyncio

import pytest

from libs.chassis.errors import DomainError, Kind
from libs.chassis.events.delivery import Delivery
from libs.chassis.rpc.peer import Peer
from libs.house.calendar import week_id
from services.leagues.wiring import wire
from tests.services.leagues.builders import (
    WEEK,
    Leagues,
    account_created,
    game_finished,
    new_id,
    prize_paid,
    seat_result,
)
from whist.leagues.v1.leagues_pb2 import ProfileRequest, StandingRequest
from whist.leagues.v1.leagues_pb2_grpc import LeaguesServiceStub


async def test_p50_prizes_are_points_of_the_week_in_which_the_game_finished(leagues: Leagues) -> None:
    person = new_id()
    await leagues.bus.publish(
        [prize_paid(person, 100), prize_paid(person, 455), prize_paid(person, 7, week="2026-W49")]
    )
    assert (await leagues.standing(person)).points == 555
    assert (await leagues.standing(person, "2026-W49")).points == 7
    assert (await leagues.standing(person, "2026-W50")).points == 0


async def test_p42_accounts_are_ranked_guests_and_strangers_are_not(leagues: Leagues) -> None:
    guest, account, stranger = new_id(), new_id(), new_id()
    await leagues.bus.publish([account_created(guest, guest=True), account_created(account, guest=False)])
    for person in (guest, account, stranger):
        await leagues.bus.publish([prize_paid(person, 50)])
    found = [await leagues.standing(person) for person in (guest, account, stranger)]
    assert [(one.points, one.ranked) for one in found] == [(50, False), (50, True), (50, False)]


async def test_p42_an_account_never_becomes_a_guest_again(leagues: Leagues) -> None:
    person = new_id()
    for guest in (True, False, True):
        await leagues.bus.publish([account_created(person, guest=guest)])
    assert (await leagues.standing(person)).ranked


@pytest.mark.parametrize("prize_first", [True, False])
async def test_nothing_rests_on_the_order_between_topics(leagues: Leagues, prize_first: bool) -> None:
    person, table = new_id(), new_id()
    events = [game_finished(seat_result(person), table_id=table), prize_paid(person, 100, table_id=table)]
    events.append(account_created(person, guest=False))
    for event in reversed(events) if prize_first else events:
        await leagues.bus.publish([event])
    found = await leagues.standing(person)
    assert (found.points, found.games, found.ranked) == (100, 1, True)
    assert (await leagues.profile(person)).experience == 125


async def test_x9_a_prize_sent_twice_in_parallel_and_under_other_ids_counts_once(leagues: Leagues) -> None:
    person, table = new_id(), new_id()
    events = [prize_paid(person, 100, table_id=table) for _ in range(10)]
    await asyncio.gather(*(leagues.bus.publish([event, event]) for event in events))
    assert (await leagues.standing(person)).points == 100


async def test_games_and_prizes_at_the_same_time_both_count(leagues: Leagues) -> None:
    person = new_id()
    events = [event for _ in range(15) for event in (game_finished(seat_result(person)), prize_paid(person, 10))]
    await asyncio.gather(*(leagues.bus.publish([event]) for event in events))
    found = await leagues.standing(person)
    assert (found.points, found.games) == (150, 15)


async def test_an_empty_week_is_the_one_that_runs_by_the_databases_clock(leagues: Leagues) -> None:
    async with leagues.books.transaction() as ledger:
        before = week_id(await ledger.now())
    asked = (await leagues.standing(new_id(), "")).week_id
    async with leagues.books.transaction() as ledger:
        after = week_id(await ledger.now())
    assert before <= asked <= after


@pytest.mark.parametrize("week", ["2026-W60", "2026-w48", "2026-W48 ", "0000-W01", "9999-W52", "W48", "x" * 5000])
async def test_a_wrong_week_is_refused(leagues: Leagues, week: str) -> None:
    with pytest.raises(DomainError) as refused:
        await leagues.standing(new_id(), week)
    assert (refused.value.kind, refused.value.reason) == (Kind.INVALID, "BAD_WEEK")


@pytest.mark.parametrize("raw", [b"", b"x" * 15, b"x" * 17])
async def test_an_account_id_of_another_size_is_refused(leagues: Leagues, raw: bytes) -> None:
    stub = LeaguesServiceStub(leagues.gateway.channel)
    for method, request in (
        (stub.Profile, ProfileRequest(account_id=raw)),
        (stub.Standing, StandingRequest(account_id=raw)),
    ):
        with pytest.raises(DomainError) as refused:
            await leagues.gateway.call(method, request)
        assert refused.value.reason == "BAD_ACCOUNT"


async def test_n5_a_caller_that_is_not_named_is_refused(leagues: Leagues) -> None:
    stranger: Peer = leagues.stranger
    stub = LeaguesServiceStub(stranger.channel)
    with pytest.raises(DomainError) as refused:
        await stranger.call(stub.Standing, StandingRequest(account_id=new_id().bytes))
    assert (refused.value.kind, refused.value.reason) == (Kind.FORBIDDEN, "CALLER_NOT_ALLOWED")


async def test_b11_a_wrong_event_parks_its_key_and_changes_nothing(leagues: Leagues) -> None:
    person, other = new_id(), new_id()
    await leagues.bus.publish([prize_paid(person, 0), prize_paid(person, 5), prize_paid(other, 5)])
    await leagues.bus.publish([prize_paid(other, 1, week="2026-W60")])
    await leagues.bus.publish([game_finished(seat_result(other, place=0))])
    assert (await leagues.standing(person)).points == 0
    assert (await leagues.standing(other)).points == 5
    assert (await leagues.profile(other)).experience == 0
    parked = await leagues.rows("select type from leagues.parked order by n")
    assert [row.type for row in parked] == ["prize_paid", "prize_paid", "prize_paid", "game_finished"]


async def test_b10_whole_topics_replayed_in_another_order_change_nothing(leagues: Leagues) -> None:
    people = [new_id() for _ in range(3)]
    tables = [new_id() for _ in range(6)]
    events = [
        game_finished(*(seat_result(one, place=place) for place, one in enumerate(people, start=1)), table_id=table)
        for table in tables
    ]
    events += [prize_paid(people[0], 100, table_id=table) for table in tables]
    events += [account_created(one, guest=False) for one in people]
    await leagues.bus.publish(events)

    async def picture() -> list[object]:
        return [
            [str(await leagues.profile(one)), str(await leagues.standing(one, WEEK)), await leagues.levels_reached(one)]
            for one in people
        ]

    before = await picture()
    # The inbox forgets after 35 days; the business keys do not.
    await leagues.rows("delete from leagues.inbox")
    await leagues.bus.publish(events[::-1])
    assert await picture() == before


async def test_the_consumers_are_those_the_readme_names(leagues: Leagues) -> None:
    found = [Delivery(one).subscription for one in wire(leagues.chassis).subscriptions]
    assert {one.consumer: one.topic for one in found} == {
        "leagues.tables": "whist.tables.events.v1",
        "leagues.wallet": "whist.wallet.events.v1",
        "leagues.auth": "whist.auth.events.v1",
    }
