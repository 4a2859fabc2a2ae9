"""Time-outs, absence, return and farewell at a live table (P8, P30, P31)."""

import asyncio
from functools import partial
from typing import Any

from libs.wire import frames, link
from tests.services.tables.conftest import Cluster, Gateway, Player, Seen, as_id

# Limits of a few tens of milliseconds, so that time-outs come by themselves.
HASTE: dict[str, Any] = {"turn_limit_scale": 0.004}


def told_the_table(seen: Seen) -> bool:
    return bool(seen.of(frames.Snapshot) or seen.of(frames.Delta))


async def test_p30_after_the_limit_the_bot_moves_and_after_two_the_seat_is_away(cluster: Cluster) -> None:
    async with cluster.worker(**HASTE) as worker:
        table, [account] = await worker.create()
        gateway = Gateway(worker.gateway)
        player = Player(gateway, table, account, conn=1)
        await gateway.until(player.finished, seconds=60)
        [snapshot] = player.seen.of(frames.Snapshot)[:1]
        mine = [delta for delta in player.seen.of(frames.Delta) if delta.seat == snapshot.seat]
        words = [delta.by for delta in mine]
        # Connected, so two moves are waited out; from then on the bot plays without waiting.
        assert words[:2] == ["time_out", "time_out"]
        assert set(words[2:]) == {"bot"}
        away = [frame.holder for frame in player.seen.of(frames.Presence) if frame.seat == snapshot.seat]
        assert away[-1] == "bot"
        await gateway.close()


async def test_p30_an_away_seat_is_the_persons_again_as_soon_as_they_act_or_return(cluster: Cluster) -> None:
    async with cluster.worker(turn_limit_scale=0.02, bot_pace_scale=0.02) as worker:
        table, [account] = await worker.create()
        gateway = Gateway(worker.gateway)
        player = Player(gateway, table, account, conn=1)
        await gateway.until(lambda: [f for f in player.seen.of(frames.Presence) if f.holder == "bot"], seconds=60)
        again = Player(gateway, table, account, conn=2)
        await gateway.until(lambda: again.seen.of(frames.Snapshot))
        seat = again.seen.of(frames.Snapshot)[0].seat
        back = await gateway.until(lambda: [f for f in player.seen.of(frames.Presence) if f.holder == "person"])
        assert back[0].seat == seat
        assert again.seen.of(frames.Snapshot)[-1].seats[seat].holder == "person"
        await gateway.close()


async def test_p31_a_broken_connection_waits_out_one_turn_and_then_the_bot_plays(cluster: Cluster) -> None:
    async with cluster.worker(**HASTE) as worker:
        table, [absent, present] = await worker.create(people=2)
        gateway = Gateway(worker.gateway)
        player = Player(gateway, table, present, conn=1)
        await player.play_on()
        seat = player.seen.of(frames.Snapshot)[0].view["seat"]
        other = [
            delta.by
            for delta in player.seen.of(frames.Delta)
            if delta.seat >= 0 and delta.seat != seat and delta.by != "bot"
        ]
        # The absent person's seat was timed out once and never again.
        assert other == ["time_out"]
        gateway.send(link.Subscribe(table, absent, 2, -1))
        await gateway.close()


async def test_p8_leaving_is_final_and_the_bot_plays_to_the_end(cluster: Cluster) -> None:
    async with cluster.worker() as worker:
        table, [account] = await worker.create()
        gateway = Gateway(worker.gateway)
        player = Player(gateway, table, account, conn=1)
        await player.play_on(moves=3)
        gateway.send(link.Vacate(table, account, 1, "bye"), link.Vacate(table, account, 1, "bye"))
        acks = await gateway.until(lambda: len(player.seen.of(frames.Ack)) == 2 and player.seen.of(frames.Ack))
        assert acks[0] == acks[1]
        await cluster.until(
            "select 1 from tables.table_head where table_id = :id and status = 'finished'", id=as_id(table)
        )
        events = await cluster.query("select type from tables.event where key = :key", key=table)
        assert [row.type for row in events].count("seat_vacated") == 1
        request = "late"
        gateway.send(link.Command(table, account, 1, request, 0, {"bid": 0}))
        await gateway.until(lambda: [f for f in gateway.down if isinstance(f, link.NotOwner) and f.req == request])
        await gateway.close()


async def test_p34_two_devices_see_the_table_and_the_first_move_stands(cluster: Cluster) -> None:
    async with cluster.worker() as worker:
        table, [account] = await worker.create()
        gateway = Gateway(worker.gateway)
        phone, laptop = Player(gateway, table, account, conn=1), Player(gateway, table, account, conn=2)
        await gateway.until(lambda: phone.may_move() and laptop.may_move())
        turn = phone.turn
        assert turn is not None
        first, second = phone.act(), laptop.act()
        refused = await gateway.until(lambda: laptop.seen.of(frames.Error))
        assert [(error.reason, error.req) for error in refused] == [("STALE_TURN", second)]
        for device in (phone, laptop):
            assert [delta.req for delta in device.seen.of(frames.Delta) if delta.turn == turn + 1] == [first]
        rows = await cluster.query("select count(*) as n from tables.table_log where table_id = :id", id=as_id(table))
        assert rows[0].n >= 3
        await gateway.close()


async def test_p31_a_return_at_any_row_gives_the_view_of_never_having_left(cluster: Cluster) -> None:
    async with cluster.worker() as worker:
        table, [account] = await worker.create()
        gateway = Gateway(worker.gateway)
        player = Player(gateway, table, account, conn=1)
        checked = 0
        for conn in range(2, 12):
            await player.play_on(moves=2)
            await gateway.until(player.may_move)
            since = [delta.seq for delta in player.seen.of(frames.Delta)][-conn]
            back = gateway.follow(table, account, conn, since)
            await gateway.until(partial(told_the_table, back))
            await asyncio.sleep(0)
            if not back.of(frames.Snapshot):
                own = {delta.seq: delta for delta in player.seen.of(frames.Delta)}
                told = back.of(frames.Delta)
                assert [delta.seq for delta in told] == list(range(since + 1, max(own) + 1))
                assert all(own[delta.seq] == delta for delta in told)
            else:
                assert back.of(frames.Snapshot)[0].view["hand"] == player.view["hand"]
            checked += 1
            gateway.send(link.Unsubscribe(table, account, conn))
        assert checked == 10
        await gateway.close()
