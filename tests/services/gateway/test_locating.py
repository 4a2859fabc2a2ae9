"""A thousand tables that have lost their worker are asked after in few calls, each answered for itself."""

import asyncio
from uuid import uuid4

import pytest

from libs.chassis.errors import DomainError, Kind
from services.gateway.locating import TABLES_MAX
from services.gateway.ports import Whereabouts
from tests.services.gateway.world import Stage


async def test_questions_that_come_while_one_is_on_its_way_are_one_call(stage: Stage) -> None:
    worker, clients = stage.world.worker, stage.gateway._clients
    tables = [uuid4().bytes for _ in range(TABLES_MAX + 100)]
    found = await asyncio.gather(*(clients.locate(table) for table in tables))
    assert set(found) == {Whereabouts(address=worker.address, epoch=1)}
    assert worker.asked_where == [1, TABLES_MAX, 99]


async def test_who_asks_for_a_table_that_is_asked_for_already_waits_for_that_answer(stage: Stage) -> None:
    table = uuid4().bytes
    await asyncio.gather(*(stage.gateway._clients.locate(table) for _ in range(20)))
    assert sum(stage.world.worker.asked_where) <= 2


async def test_a_refusal_is_each_tables_own_and_says_whether_to_ask_again(stage: Stage) -> None:
    stage.world.worker.unowned = 1
    answers = await asyncio.gather(
        *(stage.gateway._clients.locate(uuid4().bytes) for _ in range(3)), return_exceptions=True
    )
    [refused] = [each for each in answers if isinstance(each, DomainError)]
    assert refused.kind is Kind.UNAVAILABLE
    stage.world.worker.finished = True
    with pytest.raises(DomainError) as final:
        await stage.gateway._clients.locate(uuid4().bytes)
    assert (final.value.kind, final.value.reason) == (Kind.NOT_FOUND, "TABLE_FINISHED")
    assert final.value.facts == {"status": "finished"}


async def test_one_who_gives_up_waiting_takes_nobody_with_him(stage: Stage) -> None:
    clients = stage.gateway._clients
    first = asyncio.create_task(clients.locate(uuid4().bytes))
    others = [asyncio.create_task(clients.locate(uuid4().bytes)) for _ in range(5)]
    await asyncio.sleep(0)
    first.cancel()
    others[0].cancel()
    answers = await asyncio.gather(*others[1:])
    assert {each.address for each in answers} == {stage.world.worker.address}


async def test_who_stands_behind_a_callful_of_those_who_gave_up_is_answered_all_the_same(stage: Stage) -> None:
    asked = [asyncio.create_task(stage.gateway._clients.locate(uuid4().bytes)) for _ in range(TABLES_MAX + 2)]
    await asyncio.sleep(0)
    for each in asked[1:-1]:
        each.cancel()
    assert (await asked[-1]).address == stage.world.worker.address
