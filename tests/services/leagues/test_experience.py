"""P43: experience and levels from finished quick games."""

import asyncio
from uuid import UUID

from tests.services.leagues.builders import EVENING, Leagues, account_created, game_finished, new_id, seat_result
from whist.leagues.v1.leagues_pb2 import TIER_JACK
from whist.tables.v1.tables_pb2 import TABLE_KIND_BENCH


async def test_an_unknown_account_is_level_1_with_nothing(leagues: Leagues) -> None:
    shown = await leagues.profile(new_id())
    assert (shown.experience, shown.level, shown.next_level_at, shown.games) == (0, 1, 100, 0)
    assert shown.tier == TIER_JACK


async def test_p43_a_game_earns_10_per_own_bid_5_per_made_and_50_30_20_by_place(leagues: Leagues) -> None:
    people = [new_id() for _ in range(6)]
    seats = [
        seat_result(person, place=place, own_bids=6, own_made=place % 3, seat=place - 1)
        for place, person in enumerate(people, start=1)
    ]
    await leagues.bus.publish([game_finished(*seats)])
    earned = [(await leagues.profile(person)).experience for person in people]
    assert earned == [60 + 5 + 50, 60 + 10 + 30, 60 + 0 + 20, 60 + 5, 60 + 10, 60]


async def test_p16_a_game_without_enough_own_bids_earns_nothing_and_is_no_game(leagues: Leagues) -> None:
    three, late, left, enough = (new_id() for _ in range(4))
    await leagues.bus.publish(
        [
            game_finished(
                seat_result(three, own_bids=3, own_made=3),
                seat_result(late, bid_lately=False),
                seat_result(left, left=True),
                seat_result(enough, own_bids=4, own_made=0, place=6),
            )
        ]
    )
    profiles = [await leagues.profile(person) for person in (three, late, left, enough)]
    assert [(shown.experience, shown.games) for shown in profiles] == [(0, 0), (0, 0), (0, 0), (40, 1)]


async def test_p42_guests_earn_experience_too(leagues: Leagues) -> None:
    guest = new_id()
    await leagues.bus.publish([account_created(guest, guest=True)])
    await leagues.bus.publish([game_finished(seat_result(guest, own_made=0))])
    assert (await leagues.profile(guest)).experience == 110


async def test_bots_and_the_load_harness_leave_no_trace(leagues: Leagues) -> None:
    person, table = new_id(), new_id()
    await leagues.bus.publish(
        [game_finished(seat_result(person), seat_result(None), table_id=table, kind=TABLE_KIND_BENCH)]
    )
    await leagues.bus.publish([game_finished(seat_result(None), seat_result(None), table_id=table)])
    assert (await leagues.profile(person)).experience == 0
    assert await leagues.rows("select 1 from leagues.game_result where table_id = :table", table=table) == []


async def test_level_reached_is_published_once_at_each_rise(leagues: Leagues) -> None:
    person = new_id()
    for _ in range(4):  # 125 each: 125, 250, 375, 500; levels begin at 100, 300, 600
        await leagues.bus.publish([game_finished(seat_result(person))])
    assert (await leagues.profile(person)).level == 3
    assert await leagues.levels_reached(person) == [2, 3]


async def test_x18_a_game_sent_twice_or_under_a_second_event_id_counts_once(leagues: Leagues) -> None:
    person, table = new_id(), new_id()
    event = game_finished(seat_result(person), table_id=table)
    again = game_finished(seat_result(person), table_id=table)
    assert event.event_id != again.event_id
    await leagues.bus.publish([event, event, again])
    shown = await leagues.profile(person)
    assert (shown.experience, shown.games) == (125, 1)
    assert await leagues.levels_reached(person) == [2]


async def test_x18_the_same_game_in_parallel_counts_once(leagues: Leagues) -> None:
    person, table = new_id(), new_id()
    events = [game_finished(seat_result(person), table_id=table) for _ in range(10)]
    await asyncio.gather(*(leagues.bus.publish([event]) for event in events))
    assert (await leagues.profile(person)).experience == 125


async def test_people_who_meet_at_many_tables_at_once_lose_nothing(leagues: Leagues) -> None:
    people = [new_id() for _ in range(6)]

    def table(turn: int) -> list[UUID]:
        return people[turn % 6 :] + people[: turn % 6]  # every order of locking, if rows were locked as seated

    events = [
        game_finished(*(seat_result(person, own_made=0, place=6) for person in table(turn)), at=EVENING)
        for turn in range(18)
    ]
    await asyncio.gather(*(leagues.bus.publish([event]) for event in events))
    profiles = [await leagues.profile(person) for person in people]
    assert {(shown.experience, shown.games) for shown in profiles} == {(18 * 60, 18)}
    assert [await leagues.levels_reached(person) for person in people] == [[2, 3, 4, 5]] * 6
