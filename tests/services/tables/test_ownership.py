"""Who owns a table when workers die, freeze, come back or leave, and when the database does (P33)."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Any
from uuid import UUID, uuid4
from zoneinfo import ZoneInfo

import pytest

from libs.chassis.clock import SystemClock
from libs.chassis.db.database import Database, Store
from libs.chassis.entropy import SystemEntropy
from libs.chassis.errors import DomainError
from libs.wire import frames, link
from services.tables.domain.entries import Resumed, decode_body
from services.tables.ports import Claimed, Standing
from services.tables.storage.journal import APPLICATION as JOURNAL
from services.tables.storage.ownership import APPLICATION as LEASE
from services.tables.storage.store import TablesTransaction
from services.tables.takeover import READ_AT_ONCE, Takeover
from tests.conftest import MakeDatabase
from tests.faults.proxy import REQUESTS, RESPONSES, Proxy
from tests.services.tables.conftest import (
    Cluster,
    Gateway,
    Player,
    RunningWorker,
    as_id,
    behind,
    clustered,
    eventually,
)
from whist.tables.v1 import tables_pb2, tables_pb2_grpc

TAKEOVER_SECONDS = 6.0  # P33
STORE = b"whist-tables\0"  # the pool's connections; the journal's and the lease's have longer names


@pytest.fixture
async def cluster(make_database: MakeDatabase) -> AsyncIterator[Cluster]:
    """A database for each test: a table left over would be everybody's to take."""
    async with clustered(make_database) as made:
        yield made


@pytest.fixture
async def proxy(cluster: Cluster) -> AsyncIterator[Proxy]:
    async with cluster.proxied() as standing:
        yield standing


def owned(gateway: Gateway, table: bytes) -> list[link.Owned]:
    return [frame for frame in gateway.down if isinstance(frame, link.Owned) and frame.table == table]


def not_owner(gateway: Gateway, table: bytes) -> list[link.NotOwner]:
    return [frame for frame in gateway.down if isinstance(frame, link.NotOwner) and frame.table == table]


async def one_owner_at_a_time(cluster: Cluster, table: bytes) -> None:
    """J1, J2, J14: no gap, and no row of an older epoch behind one of a newer."""
    rows = await cluster.rows(table)
    assert [row.seq for row in rows] == list(range(len(rows)))
    epochs = [row.epoch for row in rows]
    assert epochs == sorted(epochs)


async def moved(gateway: Gateway, player: Player, moves: int) -> None:
    await player.play_on(moves=moves)
    await gateway.until(lambda: player.acks() >= moves)


async def create_many(worker: RunningWorker, count: int) -> list[bytes]:
    return [table for table, _ in await asyncio.gather(*(worker.create() for _ in range(count)))]


async def all_in_epoch(cluster: Cluster, epoch: int, tables: Sequence[bytes]) -> list[Any]:
    """The heads, once every table is in this epoch or a later one, and its takeover is journaled."""
    found = await cluster.query(
        "select h.* from tables.table_head h where h.table_id = any(:ids) and h.epoch >= :epoch and exists "
        "(select from tables.table_log l where l.table_id = h.table_id and l.born = h.born and l.epoch >= :epoch)",
        ids=[as_id(table) for table in tables], epoch=epoch,
    )  # fmt: skip
    return found if len(found) == len(tables) else []


async def pauses_ms(cluster: Cluster, tables: Sequence[bytes]) -> list[int]:
    """How long nobody could move, as the takeovers journaled it."""
    bodies = [decode_body(bytes(row.body)) for table in tables for row in await cluster.rows(table)]
    return [body.pause_ms for body in bodies if isinstance(body, Resumed)]


async def test_p33_a_killed_workers_table_goes_on_within_six_seconds_where_it_stood(cluster: Cluster) -> None:
    loop = asyncio.get_running_loop()
    async with cluster.worker() as second, cluster.life(dies=True) as life:
        first = await life.born
        table, [account] = await first.create()
        before, after = Gateway(first.gateway), Gateway(second.gateway)
        player = Player(before, table, account, conn=1)
        await moved(before, player, 4)
        died = loop.time()
        await life.end()
        await after.until(lambda: owned(after, table))
        again = Player(after, table, account, conn=2)
        await after.until(lambda: again.seen.of(frames.Snapshot))
        assert loop.time() - died < TAKEOVER_SECONDS
        await again.play_on()
        rows = {row.seq: row for row in await cluster.rows(table)}
        assert {seq for _, seq in player.acked} <= {seq for seq, row in rows.items() if row.epoch == 1}
        [pause] = await pauses_ms(cluster, [table])
        assert 1_900 < pause < TAKEOVER_SECONDS * 1000, "from the last renewal on nobody could be sure to move"
        await one_owner_at_a_time(cluster, table)
        await before.close()
        await after.close()


async def test_b02_a_worker_frozen_past_its_lease_writes_nothing_sends_nothing_and_begins_anew(
    cluster: Cluster, proxy: Proxy
) -> None:
    async with cluster.worker() as second, cluster.worker(database_url=behind(cluster.url, proxy)) as first:
        table, [account] = await first.create()
        before, after = Gateway(first.gateway), Gateway(second.gateway)
        player = Player(before, table, account, conn=1)
        await moved(before, player, 3)
        await before.until(player.may_move)
        proxy.blackhole()
        request = player.act()
        await after.until(lambda: owned(after, table))
        again = Player(after, table, account, conn=2)
        await after.until(again.may_move)
        heard = len(before.down)
        proxy.heal()
        await before.until(lambda: not_owner(before, table))
        await before.until(lambda: [each for each in not_owner(before, table) if each.req == request])
        # Whoever asks the zombie now is sent away as well.
        before.follow(table, account, conn=3)
        await before.until(lambda: [each for each in not_owner(before, table) if each.conn == 3])
        assert {type(frame) for frame in before.down[heard:]} == {link.NotOwner}
        rows = await cluster.rows(table)
        assert request not in {getattr(decode_body(bytes(row.body)), "req", "") for row in rows}
        # The gateway sends the move again to the new owner: it is made there, once.
        again.act(req=request)
        again.act(req=request)
        await after.until(lambda: again.deltas(request) and again.seen.of(frames.Ack))
        again.turn = None
        # Buried once, the first worker is back under a new incarnation and takes tables.
        await cluster.until(
            "select 1 from tables.worker where worker_id = :id and state = 'up' and lease_until > clock_timestamp()",
            id=first.worker_id,
        )
        other, [somebody] = await first.create()
        newcomer = Player(before, other, somebody, conn=4)
        await newcomer.play_on()
        await again.play_on()
        for each in (table, other):
            await one_owner_at_a_time(cluster, each)
        await before.close()
        await after.close()


async def test_two_workers_share_what_a_third_leaves_and_never_own_the_same(cluster: Cluster) -> None:
    async with cluster.worker() as first, cluster.worker() as second, cluster.life(dies=True) as life:
        third = await life.born
        tables = await create_many(third, 130)
        await life.end()
        heads = await eventually(partial(all_in_epoch, cluster, 2, tables))
        assert {head.epoch for head in heads} == {2}
        owners = [head.owner for head in heads]
        assert set(owners) == {first.worker_id, second.worker_id}
        assert min(owners.count(owner) for owner in set(owners)) >= 20
        gateways = {worker.worker_id: Gateway(worker.gateway) for worker in (first, second)}
        for gateway in gateways.values():
            gateway.send(*(link.Subscribe(table, b"\x01" * 16, 1, -1) for table in tables))
        # An owner knows that the stranger is not at the table; the other knows no such table.
        for head in heads:
            table = head.table_id.bytes
            for worker_id, gateway in gateways.items():
                kind = link.ToSocket if worker_id == head.owner else link.NotOwner
                await gateway.until(partial(_answered, gateway, kind, table))
        for gateway in gateways.values():
            await gateway.close()


def _answered(gateway: Gateway, kind: type[Any], table: bytes) -> bool:
    answers = [type(frame) for frame in gateway.down if frame.table == table and not isinstance(frame, link.Owned)]
    return answers == [kind]


async def test_p33_a_gateway_that_comes_to_the_new_owner_is_told_of_all_that_it_has_taken_over(
    cluster: Cluster,
) -> None:
    async with cluster.life(dies=True) as life:
        tables = await create_many(await life.born, 30)
    async with cluster.worker() as second:
        await eventually(partial(all_in_epoch, cluster, 2, tables))
        [own, _] = await second.create()
        late = Gateway(second.gateway)
        await late.until(lambda: all(owned(late, table) for table in tables))
        assert {(frame.epoch, frame.address) for table in tables for frame in owned(late, table)} == {
            (2, second.address)
        }
        assert not owned(late, own), "nobody looks for a table that never had another owner"
        await late.close()


async def test_p33_a_table_that_cannot_even_be_read_keeps_none_of_the_others_from_being_taken_over(
    cluster: Cluster,
) -> None:
    async with cluster.life(dies=True) as life:
        tables = await create_many(await life.born, READ_AT_ONCE)
    unreadable = as_id(tables[7])

    class Spoilt(TablesTransaction):
        async def standings(self, tables: Sequence[UUID]) -> list[Standing]:
            if unreadable in tables:
                raise ValueError("a page of the journal is damaged")
            return await super().standings(tables)

    database = Database.open(cluster.url, "tables")
    begun: list[UUID] = []
    async with asyncio.TaskGroup() as group:
        takeover = Takeover(
            store=Store(database, Spoilt, SystemEntropy()),
            zone=ZoneInfo("UTC"),
            clock=SystemClock(),
            spawn=group.create_task,
            begin=lambda claimed, head, table: begun.append(table.table_id),
        )
        takeover.take([Claimed(table_id=as_id(table), epoch=1, pause_ms=0) for table in tables])
    assert set(begun) == {as_id(table) for table in tables} - {unreadable}
    assert not takeover.pending
    assert (await cluster.head(unreadable.bytes)).status == "voided"
    await database.close()


async def test_p33_a_drained_workers_tables_are_taken_within_a_second_and_it_stays_gone(cluster: Cluster) -> None:
    async with cluster.worker() as second, cluster.life() as life:
        first = await life.born
        watched, [account] = await first.create()
        tables = [watched, *await create_many(first, 119)]
        watching, after = Gateway(first.gateway), Gateway(second.gateway)
        watching.follow(watched, account, conn=1)
        await watching.until(lambda: watching.down)
        life.ending.set()
        await eventually(partial(all_in_epoch, cluster, 2, tables))
        assert max(await pauses_ms(cluster, tables)) < 1_000
        # Told so, its gateways' streams end by themselves.
        await asyncio.wait_for(watching.ended(), 5)
        assert [each.conn for each in not_owner(watching, watched)] == [0]
        await life.end()
        [row] = await cluster.query("select state from tables.worker where worker_id = :id", id=first.worker_id)
        assert row.state == "gone"
        await watching.close()
        await after.close()


async def test_a_drained_worker_that_cannot_stop_yet_never_looks_like_an_empty_one(
    cluster: Cluster, proxy: Proxy
) -> None:
    async with cluster.life(database_url=behind(cluster.url, proxy)) as life:
        worker = await life.born
        table, _ = await worker.create()
        # A call that is not answered keeps the server up after the drain.
        proxy.hold(RESPONSES, only=STORE)
        request = tables_pb2.GetTableRequest(table_id=table)
        asking = asyncio.create_task(
            worker.gateway.call(tables_pb2_grpc.TablesServiceStub(worker.gateway.channel).GetTable, request)
        )
        await proxy.until(lambda: proxy.held(RESPONSES, only=STORE))
        life.ending.set()
        gone = "select 1 from tables.worker where worker_id = :id and state = 'gone'"
        await cluster.until(gone, id=worker.worker_id)
        renewals = proxy.pieces(REQUESTS, only=LEASE.encode())
        await proxy.until(lambda: proxy.pieces(REQUESTS, only=LEASE.encode()) >= renewals + 2)
        assert await cluster.query(gone, id=worker.worker_id)
        proxy.heal()
        assert (await asking).status == tables_pb2.TABLE_STATUS_LIVE
        await life.end()
        assert await cluster.query(gone, id=worker.worker_id)


async def test_p33_a_drain_does_not_stumble_over_the_lease_that_is_being_renewed(
    cluster: Cluster, proxy: Proxy
) -> None:
    async with cluster.life(database_url=behind(cluster.url, proxy)) as life:
        worker = await life.born
        tables = await create_many(worker, 3)
        # From now on a statement of the lease is always under way.
        proxy.delay(RESPONSES, 0.3, only=LEASE.encode())
        await proxy.until(lambda: proxy.held(RESPONSES, only=LEASE.encode()))
        await life.end()
        [row] = await cluster.query("select state from tables.worker where worker_id = :id", id=worker.worker_id)
        assert row.state == "gone"
        assert [(await cluster.head(table)).owner for table in tables] == [None] * 3


async def test_a_worker_restarted_under_its_name_has_its_tables_back_at_once(cluster: Cluster) -> None:
    loop = asyncio.get_running_loop()
    async with cluster.worker(dies=True, worker_id="stable") as first:
        tables = await create_many(first, 5)
    began = loop.time()
    async with cluster.worker(worker_id="stable"):
        heads = await eventually(partial(all_in_epoch, cluster, 2, tables))
        assert loop.time() - began < 2, "before its old lease ran out"
        assert {head.owner for head in heads} == {"stable"}


async def test_p33_a_drain_waits_for_the_move_in_flight_and_says_so_before_it_lets_go(
    cluster: Cluster, proxy: Proxy
) -> None:
    async with cluster.worker() as second, cluster.life(database_url=behind(cluster.url, proxy)) as life:
        first = await life.born
        table, [account, other] = await first.create(people=2)
        before, after = Gateway(first.gateway), Gateway(second.gateway)
        players = [Player(before, table, each, conn) for conn, each in enumerate((account, other), 1)]
        await before.until(lambda: any(player.may_move() for player in players))
        [mover] = [player for player in players if player.turn is not None]
        mover.act()
        mover.turn = None
        await before.until(lambda: any(player.may_move() for player in players))
        [mover] = [player for player in players if player.turn is not None]
        proxy.hold(RESPONSES, only=JOURNAL.encode())
        request = mover.act()
        await proxy.until(lambda: proxy.held(RESPONSES, only=JOURNAL.encode()))
        life.ending.set()
        await cluster.until(
            "select 1 from tables.worker where worker_id = :id and state = 'draining'", id=first.worker_id
        )
        assert (await cluster.head(table)).owner == first.worker_id
        assert not mover.deltas(request)
        with pytest.raises(DomainError) as refused:
            await first.create()
        assert refused.value.reason == "UNAVAILABLE"
        # A command that comes now is for the next owner.
        late = players[0].act({"bid": 0}, turn=99, req="late")
        proxy.heal()
        await before.until(lambda: [each for each in not_owner(before, table) if each.req == late])
        kinds = [frame for frame in before.down if frame.table == table]
        acked = next(index for index, each in enumerate(kinds) if getattr(each, "req", "") == request)
        assert all(not isinstance(each, link.NotOwner) for each in kinds[:acked])
        await after.until(lambda: owned(after, table))
        await life.end()
        again = [Player(after, table, each, conn) for conn, each in enumerate((account, other), 3)]
        await asyncio.gather(*(player.play_on() for player in again))
        await one_owner_at_a_time(cluster, table)
        await before.close()
        await after.close()


async def test_b06_nobody_steals_while_the_database_is_away(cluster: Cluster, proxy: Proxy) -> None:
    loop = asyncio.get_running_loop()
    url = behind(cluster.url, proxy)
    async with cluster.worker(database_url=url) as first, cluster.worker(database_url=url) as second:
        games = [(worker, await worker.create()) for worker in (first, second)]
        gateways = [Gateway(worker.gateway) for worker, _ in games]
        players = [
            Player(gateway, table, accounts[0], conn=1)
            for gateway, (_, (table, accounts)) in zip(gateways, games, strict=True)
        ]
        for gateway, player in zip(gateways, players, strict=True):
            await moved(gateway, player, 2)
        # Long enough for both to bury each other, were they free to.
        await cluster.query("select pg_sleep(3.5)")
        proxy.refuse()
        proxy.reset()
        began = loop.time()
        await proxy.until(lambda: loop.time() - began > 4)
        silent = await cluster.query("select 1 from tables.worker where lease_until > clock_timestamp()")
        assert silent == [], "both leases have run out"
        proxy.heal()
        await asyncio.gather(*(player.play_on() for player in players))
        for worker, (table, _) in games:
            rows = await cluster.rows(table)
            assert {row.epoch for row in rows} == {1}
            [row] = await cluster.query("select state from tables.worker where worker_id = :id", id=worker.worker_id)
            assert row.state == "up"
        for gateway in gateways:
            await gateway.close()


async def test_b46_a_table_whose_creation_was_never_answered_is_found_by_its_owner(
    cluster: Cluster, proxy: Proxy
) -> None:
    async with cluster.worker(database_url=behind(cluster.url, proxy)) as worker:
        table, account = uuid4().bytes, uuid4().bytes
        person = tables_pb2.Player(account_id=account, name="P", guest=True, room=1)
        # Its transaction is the connection that has named it. The round trips are let through one by one, until the
        # commit has been carried out.
        proxy.hold(RESPONSES, only=table)
        creating = asyncio.create_task(worker.create(table_id=table, players=[person], deadline_seconds=60))
        while not await cluster.query("select 1 from tables.table_head where table_id = :id", id=as_id(table)):
            proxy.let_one_pass(RESPONSES, only=table)
            await proxy.until(lambda: proxy.held(RESPONSES, only=table))
        proxy.reset(only=table)
        proxy.heal()
        await asyncio.wait([creating])
        assert isinstance(creating.exception(), DomainError)
        gateway = Gateway(worker.gateway)
        head = await eventually(partial(_epoch, cluster, table, 2))
        assert head.owner == worker.worker_id
        player = await Player(gateway, table, account, conn=1).joined()
        await player.play_on()
        assert (await cluster.events(table)).count("game_started") == 1
        await one_owner_at_a_time(cluster, table)
        await gateway.close()


async def test_a_claim_that_was_never_answered_is_found_by_its_owner(cluster: Cluster, proxy: Proxy) -> None:
    async with cluster.worker(dies=True) as first:
        table, [account] = await first.create()
    async with cluster.worker(database_url=behind(cluster.url, proxy)) as second:
        gateway = Gateway(second.gateway)
        proxy.hold(RESPONSES, only=LEASE.encode())
        while (await cluster.head(table)).epoch == 1:
            proxy.let_one_pass(RESPONSES, only=LEASE.encode())
            await proxy.until(lambda: proxy.held(RESPONSES, only=LEASE.encode()))
        proxy.reset(only=LEASE.encode())
        proxy.heal()
        await gateway.until(lambda: [each for each in owned(gateway, table) if each.epoch == 3])
        player = Player(gateway, table, account, conn=1)
        await player.play_on()
        await one_owner_at_a_time(cluster, table)
        await gateway.close()


async def _epoch(cluster: Cluster, table: bytes, epoch: int) -> Any:
    head = await cluster.head(table)
    return head if head.epoch >= epoch else None
