"""Which quick games finished in a week, and when that is all of them (P55, E8, X6, X10)."""

import asyncio
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from libs.chassis.db.database import Database, Store
from libs.chassis.entropy import SystemEntropy
from libs.chassis.errors import DomainError
from libs.house.calendar import ZONE, week_id
from services.tables.handlers.finished import finished_games
from services.tables.storage.store import TablesTransaction
from tests.services.tables.conftest import Cluster, Gateway, Player, RunningWorker, as_id, eventually
from whist.tables.v1 import tables_pb2, tables_pb2_grpc

OVER, FAR = "2026-W40", "2199-W01"
WAITS = "select 1 from pg_locks where locktype = 'advisory' and not granted"


@pytest.fixture
async def store(cluster: Cluster) -> AsyncIterator[Store[TablesTransaction]]:
    database = Database.open(cluster.url, "tables", pool=4)
    yield Store(database, TablesTransaction, SystemEntropy())
    await database.close()


async def ask(worker: RunningWorker, week: str, after: bytes = b"", limit: int = 0) -> tables_pb2.FinishedGamesResponse:
    stub = tables_pb2_grpc.TablesServiceStub(worker.wallet.channel)
    request = tables_pb2.FinishedGamesRequest(week_id=week, after=after, limit=limit)
    response = await worker.wallet.call(stub.FinishedGames, request, tries=1)
    assert isinstance(response, tables_pb2.FinishedGamesResponse)
    return response


async def test_p55_a_finished_quick_game_is_in_the_week_of_its_event(cluster: Cluster) -> None:
    async with cluster.worker() as worker:
        table, [account] = await worker.create()
        gateway = Gateway(worker.gateway)
        await Player(gateway, table, account, 1).play_on()
        [row] = await cluster.until("select week_id from tables.finished_game where table_id = :id", id=as_id(table))
        found = await ask(worker, row.week_id)
        assert (table in found.table_ids, found.complete) == (True, False)
        assert table not in (await ask(worker, OVER)).table_ids
        await gateway.close()


async def test_p55_a_week_is_read_page_by_page_and_complete_once_it_is_over(cluster: Cluster) -> None:
    ids = sorted(uuid4() for _ in range(5))
    for each in ids:
        await cluster.query("insert into tables.finished_game values (:week, :id)", week="2026-W39", id=each)
    async with cluster.worker() as worker:
        first = await ask(worker, "2026-W39", limit=3)
        assert (list(first.table_ids), first.more, first.complete) == ([each.bytes for each in ids[:3]], True, True)
        rest = await ask(worker, "2026-W39", after=first.table_ids[-1], limit=3)
        assert (list(rest.table_ids), rest.more, rest.complete) == ([each.bytes for each in ids[3:]], False, True)
        empty = await ask(worker, FAR)
        assert (list(empty.table_ids), empty.more, empty.complete) == ([], False, False)


@pytest.mark.parametrize(
    ("week", "after", "limit", "reason"),
    [
        ("", b"", 0, "BAD_WEEK"),
        ("2026-W54", b"", 0, "BAD_WEEK"),
        ("9999-W52", b"", 0, "BAD_WEEK"),
        ("2026-W40; drop", b"", 0, "BAD_WEEK"),
        (OVER, b"short", 0, "BAD_ID"),
        (OVER, b"", -1, "BAD_LIMIT"),
        (OVER, b"", 5001, "BAD_LIMIT"),
    ],
)
async def test_p55_what_is_no_question_is_refused(
    cluster: Cluster, week: str, after: bytes, limit: int, reason: str
) -> None:
    async with cluster.worker() as worker:
        with pytest.raises(DomainError) as refused:
            await ask(worker, week, after, limit)
    assert refused.value.reason == reason


async def test_x6_a_week_waits_for_the_game_that_is_stamped_with_it_right_now(
    cluster: Cluster, store: Store[TablesTransaction]
) -> None:
    table = uuid4()
    async with store.transaction() as finishing:
        await finishing.share_weeks()
        await finishing.note_finished(table, "2026-W38")
        asked = asyncio.create_task(finished_games("2026-W38", after=None, limit=0, store=store, zone=ZONE))
        await eventually(lambda: cluster.query(WAITS))
        assert not asked.done()
    page = await asked
    assert (page.complete, page.tables) == (True, [table])


async def test_x6_a_week_is_not_complete_while_a_game_hangs_between_its_stamp_and_its_commit(
    store: Store[TablesTransaction],
) -> None:
    async with store.transaction() as finishing:
        await finishing.share_weeks()
        page = await finished_games(OVER, after=None, limit=0, store=store, zone=ZONE)
    assert not page.complete
    assert (await finished_games(OVER, after=None, limit=0, store=store, zone=ZONE)).complete


async def test_x10_the_week_that_runs_is_never_complete(store: Store[TablesTransaction]) -> None:
    async with store.transaction() as tx:
        now = week_id(await tx.now())
    assert not (await finished_games(now, after=None, limit=0, store=store, zone=ZONE)).complete
