"""Play while the database is late, away or read-only: nothing unwritten is said, nothing said is lost (P33, J4, J5)."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import asyncpg
import pytest

from libs.wire import frames
from services.tables.metrics import unknown_outcomes
from services.tables.storage.journal import APPLICATION
from tests.faults.proxy import RESPONSES, Proxy
from tests.services.tables.conftest import Cluster, Gateway, Player, behind, eventually

MARK = APPLICATION.encode()


@pytest.fixture
async def proxy(cluster: Cluster) -> AsyncIterator[Proxy]:
    async with cluster.proxied() as standing:
        yield standing


async def all_acknowledged_stand(cluster: Cluster, table: bytes, *players: Player) -> None:
    """J1, J4, J5: no gap, and every row that anybody was told of is in the journal, once."""
    rows = await cluster.rows(table)
    assert [row.seq for row in rows] == list(range(len(rows)))
    assert len({row.command_id for row in rows}) == len(rows)
    for player in players:
        player.absorb()
        assert player.acked
        assert max(seq for _, seq in player.acked) < len(rows)
        told = [delta.seq for delta in player.seen.of(frames.Delta)]
        assert told == sorted(set(told)), "a row was told twice or out of order"


async def test_j5_nothing_is_said_of_a_move_before_its_commit_is_known(cluster: Cluster, proxy: Proxy) -> None:
    async with cluster.worker(database_url=behind(cluster.url, proxy)) as worker:
        table, [mine, other] = await worker.create(people=2)
        gateway = Gateway(worker.gateway)
        players = [Player(gateway, table, account, conn) for conn, account in enumerate((mine, other), 1)]
        await gateway.until(lambda: all(player.seen.of(frames.Snapshot) for player in players))
        # Until it is somebody's turn for the second time: the journal's statements are prepared by then.
        for probing in range(2):
            await gateway.until(lambda: any(player.may_move() for player in players))
            [mover] = [player for player in players if player.turn is not None]
            proxy.hold(RESPONSES, only=MARK)
            heard = [len(player.seen.told) for player in players]
            written = len(await cluster.rows(table))
            request = mover.act()
            mover.turn = None
            await proxy.until(lambda: proxy.held(RESPONSES, only=MARK))
            # The stream is alive and answers, from the state before the move.
            probe = gateway.follow(table, mine, 90 + probing)
            [seen] = await gateway.until(partial(probe.of, frames.Snapshot))
            assert seen.seq == written - 1
            assert [len(player.seen.told) for player in players] == heard
            proxy.heal()
            [delta] = await gateway.until(partial(players[0].deltas, request))
            assert delta.seq == written
        await gateway.close()


async def test_b06_the_database_goes_away_under_play_and_the_game_is_finished_all_the_same(
    cluster: Cluster, proxy: Proxy
) -> None:
    async with cluster.worker(database_url=behind(cluster.url, proxy)) as worker:
        table, accounts = await worker.create(people=2)
        gateway = Gateway(worker.gateway)
        players = [Player(gateway, table, account, conn) for conn, account in enumerate(accounts, 1)]
        games = [asyncio.create_task(player.play_on()) for player in players]
        for moves in (1, 5, 9):
            await gateway.until(partial(_has, players[0], moves))
            proxy.refuse()
            proxy.reset()
            assert await _tries_a_second(proxy) < 40, "a hot loop"
            proxy.heal()
        await asyncio.gather(*games)
        await all_acknowledged_stand(cluster, table, *players)
        assert (await cluster.head(table)).epoch == 1, "an outage makes nobody lose a table"
        assert players[0].seen.of(frames.Over)[0].status == "finished"
        assert (await cluster.events(table))[-1] == "game_finished"
        await gateway.close()


async def test_b06_a_partition_that_swallows_everything_costs_time_and_no_move(cluster: Cluster, proxy: Proxy) -> None:
    async with cluster.worker(database_url=behind(cluster.url, proxy)) as worker:
        table, accounts = await worker.create(people=1)
        gateway = Gateway(worker.gateway)
        [player] = [Player(gateway, table, account, 1) for account in accounts]
        game = asyncio.create_task(player.play_on())
        await gateway.until(lambda: player.acks() > 3)
        proxy.blackhole()
        accepted = proxy.accepted
        await proxy.until(lambda: proxy.accepted > accepted)  # the lease's statement was given up
        proxy.reset()
        proxy.heal()
        await game
        await all_acknowledged_stand(cluster, table, player)
        await gateway.close()


async def test_b23_a_read_only_database_acknowledges_nothing_and_heals_without_a_hand(cluster: Cluster) -> None:
    operator = await asyncpg.connect(cluster.url.replace("+asyncpg", ""))
    try:
        async with cluster.worker() as worker:
            table, [account] = await worker.create()
            gateway = Gateway(worker.gateway)
            player = Player(gateway, table, account, conn=1)
            await player.play_on(moves=2)
            await gateway.until(lambda: player.acks() == 2 and player.may_move())
            before = await cluster.rows(table)
            await operator.execute("alter system set default_transaction_read_only = on")
            await operator.execute("select pg_reload_conf()")
            await eventually(lambda: _is(operator, "on"))
            refused = unknown_outcomes._value.get()
            request = player.act()

            async def tried_again() -> bool:
                return bool(unknown_outcomes._value.get() >= refused + 3)

            await eventually(tried_again)
            assert await cluster.rows(table) == before
            assert not player.deltas(request)
            await operator.execute("set default_transaction_read_only = off")
            await operator.execute("alter system reset default_transaction_read_only")
            await operator.execute("select pg_reload_conf()")
            await gateway.until(lambda: player.deltas(request))
            player.turn = None
            await player.play_on()
            await all_acknowledged_stand(cluster, table, player)
            await gateway.close()
    finally:
        await operator.execute("set default_transaction_read_only = off")
        await operator.execute("alter system reset default_transaction_read_only")
        await operator.execute("select pg_reload_conf()")
        await operator.close()


def _has(player: Player, moves: int) -> bool:
    return player.acks() >= moves


async def _tries_a_second(proxy: Proxy) -> float:
    """How often clients of the proxy connect anew while that is in vain."""
    loop = asyncio.get_running_loop()
    began, before = loop.time(), proxy.accepted
    await proxy.until(lambda: proxy.accepted >= before + 12)
    return (proxy.accepted - before) / (loop.time() - began)


async def _is(operator: Any, value: str) -> bool:
    return bool(await operator.fetchval("show default_transaction_read_only") == value)
