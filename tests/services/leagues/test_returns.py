"""P14, P50, P82: prizes that go back are points no more, in whatever order it is heard."""

from itertools import permutations

import pytest

from tests.services.leagues.builders import Leagues, game_refunded, new_id, prize_paid, prize_reversed


async def test_p50_a_refunded_prize_is_taken_off(leagues: Leagues) -> None:
    person, table = new_id(), new_id()
    await leagues.bus.publish([prize_paid(person, 455, table_id=table), prize_paid(person, 100)])
    await leagues.bus.publish([game_refunded(person, 455, table)])
    assert (await leagues.standing(person)).points == 100


async def test_p82_a_reversed_prize_is_taken_off(leagues: Leagues) -> None:
    person, table = new_id(), new_id()
    await leagues.bus.publish([prize_paid(person, 455, table_id=table), prize_reversed(person, 455, table)])
    assert (await leagues.standing(person)).points == 0


async def test_p14_a_refund_that_won_nothing_takes_nothing(leagues: Leagues) -> None:
    person, table = new_id(), new_id()
    await leagues.bus.publish([prize_paid(person, 100), game_refunded(person, 0, table)])
    assert (await leagues.standing(person)).points == 100


@pytest.mark.parametrize("order", list(permutations(range(4))))
async def test_x18_refund_and_reversal_before_their_prize_and_sent_twice(
    leagues: Leagues, order: tuple[int, ...]
) -> None:
    person, table = new_id(), new_id()
    told = [
        prize_paid(person, 455, table_id=table),
        game_refunded(person, 455, table),
        prize_reversed(person, 455, table),
        prize_paid(person, 100),
    ]
    for index in order:
        await leagues.bus.publish([told[index], told[index]])
    assert (await leagues.standing(person)).points == 100


async def test_a_prize_goes_back_for_its_own_account_alone(leagues: Leagues) -> None:
    person, other, table = new_id(), new_id(), new_id()
    await leagues.bus.publish([prize_paid(who, 100, table_id=table) for who in (person, other)])
    await leagues.bus.publish([game_refunded(person, 100, table)])
    assert [(await leagues.standing(who)).points for who in (person, other)] == [0, 100]
