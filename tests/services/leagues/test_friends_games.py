"""P24, P43: friends' games give experience and points of the weekly leaderboard."""

import asyncio
from uuid import UUID

import pytest

from libs.chassis.errors import DomainError, Kind
from services.leagues.domain.results import leaderboard_score
from tests.services.leagues.builders import (
    Leagues,
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
from whist.leagues.v1.leagues_pb2 import FORM_UNSPECIFIED, LeaderboardResponse
from whist.tables.v1.events_pb2 import SeatResult
from whist.tables.v1.tables_pb2 import TABLE_KIND_FRIENDS


async def accounts(leagues: Leagues, count: int) -> list[UUID]:
    """New accounts, in the order of their ids."""
    people = sorted(new_id() for _ in range(count))
    await leagues.bus.publish([account_created(person, guest=False) for person in people])
    return people


def seats(*people: UUID | None, rounds: int = 24) -> list[SeatResult]:
    """As placed, all of whose rounds were their own and none made."""
    return [
        seat_result(person, place=place, own_bids=rounds, own_made=0, rounds=rounds)
        for place, person in enumerate(people, start=1)
    ]


def shown(board: LeaderboardResponse) -> list[tuple[UUID, int, int, int]]:
    return [(UUID(bytes=each.account_id), each.rank, each.points, each.games) for each in board.places]


def test_p24_with_n_players_the_kth_place_scores_n_minus_k() -> None:
    assert [leaderboard_score(6, place) for place in range(1, 7)] == [5, 4, 3, 2, 1, 0]
    for wrong in (0, 7):
        with pytest.raises(ValueError, match="no place"):
            leaderboard_score(6, wrong)


async def test_p24_a_friends_game_counts_by_place_and_bots_score_nothing(leagues: Leagues) -> None:
    week = "2026-W02"
    ana, dan = await accounts(leagues, 2)
    await leagues.bus.publish([friends_finished(*seats(None, ana, None, dan), week=week)])
    board = await leagues.leaderboard(ana, week)
    assert shown(board) == [(ana, 1, 2, 1), (dan, 2, 0, 1)]
    assert board.own == board.places[0]


async def test_p24_partners_share_a_place(leagues: Leagues) -> None:
    week = "2026-W03"
    ana, dan, eva, ion = await accounts(leagues, 4)
    placed = [(ana, 1), (dan, 3), (eva, 1), (ion, 3)]
    results = [seat_result(who, place=place, own_bids=5, own_made=0, rounds=5) for who, place in placed]
    await leagues.bus.publish([friends_finished(*results, week=week)])
    assert [points for _, _, points, _ in shown(await leagues.leaderboard(ana, week))] == [3, 3, 1, 1]


@pytest.mark.parametrize(("rounds", "quota"), [(24, 18), (27, 21), (30, 23)])
async def test_p16_at_friends_tables_three_quarters_of_the_rounds_are_asked(
    leagues: Leagues, rounds: int, quota: int
) -> None:
    enough, short, late = await accounts(leagues, 3)
    results = [
        seat_result(enough, own_bids=quota, own_made=1, rounds=rounds),
        seat_result(short, own_bids=quota - 1, own_made=1, rounds=rounds),
        seat_result(late, own_bids=rounds, own_made=1, rounds=rounds, bid_lately=False),
    ]
    await leagues.bus.publish([friends_finished(*results, week="2026-W04")])
    profiles = [await leagues.profile(each) for each in (enough, short, late)]
    assert [one.experience for one in profiles] == [10 * quota + 5 + 50, 0, 0]
    for each in (short, late):
        assert not (await leagues.leaderboard(each, "2026-W04")).HasField("own")


async def test_p54_friends_games_make_no_form_and_are_no_games_of_quick_play(leagues: Leagues) -> None:
    [ana] = await accounts(leagues, 1)
    await leagues.bus.publish([friends_finished(*seats(ana, None)) for _ in range(3)])
    profile = await leagues.profile(ana)
    assert (profile.experience, profile.games, profile.form) == (3 * 290, 0, FORM_UNSPECIFIED)
    standing = await leagues.standing(ana)
    assert (standing.points, standing.games) == (0, 0)


async def test_p42_guests_collect_and_are_ranked_once_they_sign_in(leagues: Leagues) -> None:
    week, guest = "2026-W05", new_id()
    [ana] = await accounts(leagues, 1)
    await leagues.bus.publish([account_created(guest, guest=True)])
    await leagues.bus.publish([friends_finished(*seats(guest, ana, None), week=week)])
    board = await leagues.leaderboard(guest, week)
    assert shown(board) == [(ana, 1, 1, 1)]
    assert (board.own.rank, board.own.points) == (0, 2)
    await leagues.bus.publish([guest_upgraded(guest)])
    assert shown(await leagues.leaderboard(guest, week)) == [(guest, 1, 2, 1), (ana, 2, 1, 1)]


@pytest.mark.parametrize("upgraded_first", [True, False])
async def test_p42_upgrade_and_creation_in_any_order(leagues: Leagues, upgraded_first: bool) -> None:
    guest = new_id()
    told = [account_created(guest, guest=True), guest_upgraded(guest)]
    for event in reversed(told) if upgraded_first else told:
        await leagues.bus.publish([event])
    assert (await leagues.standing(guest)).ranked


async def test_p45_a_deleted_account_leaves_the_leaderboard(leagues: Leagues) -> None:
    week = "2026-W06"
    ana, dan = await accounts(leagues, 2)
    await leagues.bus.publish([friends_finished(*seats(ana, dan), week=week)])
    await leagues.bus.publish([account_deleted(ana)])
    await leagues.bus.publish([account_created(ana, guest=False)])
    assert shown(await leagues.leaderboard(dan, week)) == [(dan, 1, 0, 1)]


async def test_the_leaderboard_has_no_ties(leagues: Leagues) -> None:
    """Points, fewer games, who reached the sum first, the account's id."""
    week = "2026-W07"
    first, second, third, fourth = people = await accounts(leagues, 4)
    await leagues.bus.publish(
        [
            friends_finished(*seats(second, None, None), week=week, at=minutes(5)),
            friends_finished(*seats(third, None, None), week=week, at=minutes(1)),
            friends_finished(*seats(fourth, None), week=week, at=minutes(0)),
            friends_finished(*seats(fourth, None), week=week, at=minutes(0)),
            friends_finished(*seats(first, None, None), week=week, at=minutes(5)),
        ]
    )
    expected = [third, first, second, fourth]
    assert [who for who, *_ in shown(await leagues.leaderboard(first, week))] == expected
    assert [(await leagues.leaderboard(who, week)).own.rank for who in expected] == [1, 2, 3, 4]
    two = await leagues.leaderboard(fourth, week, limit=2)
    assert [who for who, *_ in shown(two)] == expected[:2] and two.own.rank == 4
    assert len(people) == 4


@pytest.mark.parametrize("limit", [-1, 101, 2**31 - 1])
async def test_a_wrong_limit_is_refused(leagues: Leagues, limit: int) -> None:
    with pytest.raises(DomainError) as refused:
        await leagues.leaderboard(new_id(), limit=limit)
    assert (refused.value.kind, refused.value.reason) == (Kind.INVALID, "BAD_LIMIT")


async def test_x18_a_friends_game_in_parallel_and_under_other_ids_counts_once(leagues: Leagues) -> None:
    week, table = "2026-W08", new_id()
    ana, dan = await accounts(leagues, 2)
    events = [friends_finished(*seats(ana, dan), table_id=table, week=week) for _ in range(8)]
    await asyncio.gather(*(leagues.bus.publish([event]) for event in events))
    assert shown(await leagues.leaderboard(ana, week)) == [(ana, 1, 1, 1), (dan, 2, 0, 1)]


# ---- voided games (P82) ----


async def test_p82_a_voided_game_counts_no_more_and_the_level_falls(leagues: Leagues) -> None:
    week, table = "2026-W09", new_id()
    [ana] = await accounts(leagues, 1)
    await leagues.bus.publish([game_finished(seat_result(ana, place=1), table_id=table, week=week, at=minutes(0))])
    await leagues.bus.publish([game_finished(seat_result(ana, place=4), week=week, at=minutes(5))])
    await leagues.bus.publish([game_voided(table), game_voided(table)])
    profile = await leagues.profile(ana)
    assert (profile.experience, profile.level, profile.games) == (75, 1, 1)
    assert (await leagues.standing(ana, week)).games == 1
    assert await leagues.levels_reached(ana) == [2, 1]


async def test_p54_a_voided_game_makes_no_form(leagues: Leagues) -> None:
    table = new_id()
    [ana] = await accounts(leagues, 1)
    await leagues.bus.publish([game_finished(seat_result(ana, place=1), at=minutes(0))])
    await leagues.bus.publish([game_finished(seat_result(ana, place=1), table_id=table, at=minutes(5))])
    await leagues.bus.publish([game_voided(table)])
    assert (await leagues.profile(ana)).form == FORM_UNSPECIFIED


async def test_p82_a_voided_friends_game_leaves_the_leaderboard(leagues: Leagues) -> None:
    week, table = "2026-W10", new_id()
    ana, dan = await accounts(leagues, 2)
    await leagues.bus.publish([friends_finished(*seats(ana, dan), table_id=table, week=week)])
    await leagues.bus.publish([game_voided(table, kind=TABLE_KIND_FRIENDS)])
    assert shown(await leagues.leaderboard(ana, week)) == []
    assert (await leagues.profile(ana)).experience == 0


async def test_x18_a_void_before_its_game_and_at_the_same_time(leagues: Leagues) -> None:
    [ana] = await accounts(leagues, 1)
    early, beside = new_id(), new_id()
    await leagues.bus.publish([game_voided(early)])
    await leagues.bus.publish([game_finished(seat_result(ana), table_id=early)])
    finished, voided = game_finished(seat_result(ana), table_id=beside), game_voided(beside)
    await asyncio.gather(leagues.bus.publish([finished]), leagues.bus.publish([voided]))
    assert (await leagues.profile(ana)).experience == 0
    assert len(await leagues.rows("select 1 from leagues.game_result where account_id = :who", who=ana)) == 2


async def test_a_game_that_was_called_off_before_its_end_is_none_of_leagues(leagues: Leagues) -> None:
    table = new_id()
    await leagues.bus.publish([game_voided(table, had_finished=False)])
    assert await leagues.rows("select 1 from leagues.voided_game where table_id = :table", table=table) == []
