"""P54: fire and ice."""

import pytest

from services.leagues.domain.standing import Form, form_of
from tests.services.leagues.builders import Leagues, game_finished, minutes, new_id, seat_result
from whist.leagues.v1.leagues_pb2 import FORM_FIRE, FORM_ICE, FORM_UNSPECIFIED


@pytest.mark.parametrize(
    ("places", "form"),
    [
        ([], Form.NEITHER),
        ([1], Form.NEITHER),
        ([6], Form.NEITHER),
        ([3, 1], Form.FIRE),
        ([4, 6], Form.ICE),
        ([3, 4], Form.NEITHER),
        ([4, 3], Form.NEITHER),
        ([1, 2, 6], Form.FIRE),
    ],
)
def test_p54_two_in_a_row_among_the_first_three_is_fire_outside_is_ice(places: list[int], form: Form) -> None:
    assert form_of(places) is form


async def test_p54_only_games_that_count_make_form(leagues: Leagues) -> None:
    person = new_id()
    await leagues.bus.publish([game_finished(seat_result(person, place=1), at=minutes(0))])
    await leagues.bus.publish([game_finished(seat_result(person, place=6, own_bids=3), at=minutes(5))])
    assert (await leagues.profile(person)).form == FORM_UNSPECIFIED
    await leagues.bus.publish([game_finished(seat_result(person, place=3), at=minutes(10))])
    assert (await leagues.profile(person)).form == FORM_FIRE


async def test_p54_form_goes_by_when_games_finished_not_by_when_they_were_heard_of(leagues: Leagues) -> None:
    person = new_id()
    late = game_finished(seat_result(person, place=1), at=minutes(0))
    await leagues.bus.publish([game_finished(seat_result(person, place=5), at=minutes(5))])
    await leagues.bus.publish([game_finished(seat_result(person, place=4), at=minutes(10))])
    await leagues.bus.publish([late])
    assert (await leagues.profile(person)).form == FORM_ICE
