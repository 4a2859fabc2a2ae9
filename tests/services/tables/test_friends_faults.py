"""Friends' tables under faults that users of such systems have met: lists, links, rematches, chat beside the game."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from libs.wire import frames, link
from services.tables.domain.entries import Opened, decode_body
from tests.conftest import MakeDatabase
from tests.services.tables.conftest import Cluster, Gateway, Player, RunningWorker, as_id, clustered
from tests.services.tables.test_friends import Person, names, refused, told
from whist.tables.v1 import friends_pb2, tables_pb2


@pytest.fixture(scope="module")
async def worker(cluster: Cluster) -> AsyncIterator[RunningWorker]:
    async with cluster.worker() as made:
        yield made


async def test_8_48_a_list_forgets_no_table_whose_worker_dies_and_shows_none_that_has_ended(
    make_database: MakeDatabase,
) -> None:
    async with clustered(make_database) as cluster, cluster.life(dies=True) as life:
        first = await life.born
        ana, radu, zoe = (Person(first, name) for name in ("Ana", "Radu", "Zoe"))
        waiting, playing, closed = [(await each.open()).table_id for each in (ana, radu, zoe)]
        await radu.deal(playing)
        await zoe.change(closed, close=friends_pb2.Close())
        await life.end()
        async with cluster.worker() as second:
            later = Person.of(second, ana)
            assert set(await later.listed()) == {waiting, playing}  # at once: also while nobody owns the game
            gateway = Gateway(second.gateway)
            await Player(gateway, playing, radu.account, 1).joined()
            gateway.send(link.Vacate(playing, radu.account, 1, "bye"))
            await told(cluster, playing)
            assert await later.listed() == [waiting]
            await gateway.close()


async def test_28_a_host_finds_an_unlisted_table_again_without_its_link(worker: RunningWorker) -> None:
    ana = Person(worker, "Ana")
    table = (await ana.open(listed=False)).table_id
    where = tables_pb2.SeatOfRequest(account_id=ana.account)
    assert (await ana.call("SeatOf", where)).table_id == table
    assert names((await anext(ana.watch(table))).table)[0] == "Ana"
    await ana.deal(table)
    found = await ana.call("SeatOf", where)
    assert (found.table_id, found.dealt) == (table, True)
    gateway = Gateway(worker.gateway)
    host = await Player(gateway, table, ana.account, 1).joined()
    assert host.seen.of(frames.Snapshot)[0].seat == 0
    await gateway.close()


async def test_33_a_rematch_has_a_log_an_id_and_a_secret_of_its_own(worker: RunningWorker, cluster: Cluster) -> None:
    ana = Person(worker, "Ana")
    first = (await ana.open(game="german", options_json="{}", players=2)).table_id
    await ana.deal(first)
    gateway = Gateway(worker.gateway)
    gateway.send(link.Vacate(first, ana.account, 1, "bye"))
    await told(cluster, first)
    ended = len(await cluster.rows(first))
    again = (await ana.rematch(first)).table_id
    await ana.deal(again)
    rows = [[decode_body(bytes(row.body)) for row in await cluster.rows(table)] for table in (first, again)]
    openings = [[body for body in bodies if isinstance(body, Opened)] for bodies in rows]
    assert [len(each) for each in openings] == [1, 1] and openings[0][0].secret != openings[1][0].secret
    assert len(rows[0]) == ended
    player = await Player(gateway, again, ana.account, 2).joined()
    snapshot = player.seen.of(frames.Snapshot)[0]
    assert snapshot.view["last_trick"] is None and snapshot.table == again.hex()
    await gateway.close()


async def test_38_nobody_enters_watches_or_speaks_at_a_table_that_is_not_theirs(worker: RunningWorker) -> None:
    ana, radu, zoe = (Person(worker, name) for name in ("Ana", "Radu", "Zoe"))
    table = (await ana.open(listed=False, spectators=False)).table_id
    await radu.sit(table)
    await ana.change(table, kick=friends_pb2.Kick(account_id=radu.account))
    assert await refused(anext(radu.watch(table))) == "BARRED"
    assert await refused(zoe.say(table, "hello")) == "CHAT_CLOSED"
    await ana.deal(table)
    gateway = Gateway(worker.gateway)
    seen = [gateway.follow(table, each.account, conn) for conn, each in ((1, radu), (2, zoe))]
    await gateway.until(lambda: all(each.told for each in seen))
    assert [each.of(frames.Error)[0].reason for each in seen] == ["NOT_AT_TABLE", "NOT_AT_TABLE"]
    assert await refused(radu.take(table, 1)) == "BARRED"
    assert await refused(zoe.say(table, "hello")) == "CHAT_CLOSED"
    await gateway.close()


async def test_42_50_no_seat_is_had_before_the_deal_once_it_is_done_and_none_after_the_end(
    worker: RunningWorker, cluster: Cluster
) -> None:
    ana, people = Person(worker, "Ana"), [Person(worker, f"P{number}") for number in range(3)]
    table = (await ana.open(game="german", options_json="{}", players=2)).table_id
    answers = await asyncio.gather(
        people[0].sit(table), ana.deal(table), people[1].sit(table), people[2].sit(table), return_exceptions=True
    )
    dealt = await ana.get(table)
    seated = [answer for answer in answers if isinstance(answer, friends_pb2.FriendsTable)]
    reasons = {getattr(answer, "reason", "") for answer in answers if isinstance(answer, BaseException)}
    assert reasons <= {"TABLE_DEALT", "SEAT_TAKEN"} and len(seated) == 1 + bool(names(dealt)[1])
    gateway = Gateway(worker.gateway)
    for conn, seat in enumerate(dealt.seats):
        if seat.HasField("who"):
            gateway.send(link.Vacate(table, seat.who.account_id, conn, "bye"))
    await told(cluster, table)
    [head] = await cluster.query("select status from tables.table_head where table_id = :id", id=as_id(table))
    assert head.status == "finished"
    late = Person(worker, "Late")
    assert await refused(late.sit(table)) == "TABLE_DEALT"
    assert await refused(late.take(table, 1)) == "UNAVAILABLE"  # no owner any more: Locate says TABLE_FINISHED
    assert await refused(late.call("Locate", tables_pb2.LocateRequest(table_id=table))) == "TABLE_FINISHED"
    await gateway.close()
