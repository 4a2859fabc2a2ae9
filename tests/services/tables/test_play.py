"""A quick game through a worker: journaled, fanned out, recorded."""

import hashlib
import json
from functools import partial
from typing import Any

from libs.engine import fair
from libs.wire import frames, link
from services.tables.domain.entries import Moved, decode_body
from tests.services.tables.conftest import Cluster, Gateway, Player, as_id
from whist.tables.v1 import events_pb2, tables_pb2, tables_pb2_grpc


async def test_p1_a_quick_game_with_five_bots_is_played_to_its_record(cluster: Cluster) -> None:
    async with cluster.worker() as worker:
        table, [account] = await worker.create()
        gateway = Gateway(worker.gateway)
        player = Player(gateway, table, account, conn=7)
        await player.play_on()
        player.absorb()

        [over] = player.seen.of(frames.Over)
        [snapshot] = player.seen.of(frames.Snapshot)
        assert over.status == "finished"
        assert hashlib.sha256(bytes.fromhex(over.secret)).hexdigest() == snapshot.commitment
        assert not player.seen.of(frames.Error)
        assert player.view["phase"] == "over"

        stub = tables_pb2_grpc.TablesServiceStub(worker.gateway.channel)
        response = await worker.gateway.call(stub.Record, tables_pb2.RecordRequest(table_id=table, account_id=account))
        record = json.loads(response.record_json)
        assert record["secret"] == over.secret
        assert record["result"]["totals"] == player.view["scores"]
        assert sum(len(rounds) for rounds in record["result"]["seats"]) == 36
        order = fair.permutation(bytes.fromhex(over.secret), "seats", 6)
        assert record["table"]["seats"][order.index(0)]["account"] == account.hex()

        # J1: no gap; J3: every acknowledged command is the row it was acknowledged at.
        rows = await cluster.query(
            "select seq, command_id, body from tables.table_log where table_id = :id order by seq", id=as_id(table)
        )
        assert [row.seq for row in rows] == list(range(len(rows)))
        assert len({row.command_id for row in rows}) == len(rows)
        assert len(player.acked) > 6
        for _, seq in player.acked:
            body = decode_body(bytes(rows[seq].body))
            assert isinstance(body, Moved)
            seat, _, by, _ = record["moves"][body.turn]
            assert (seat, by) == (order.index(0), "person")

        events = await cluster.query(
            "select type, payload from tables.event where key = :key order by occurred_at, event_id", key=table
        )
        assert [row.type for row in events] == ["game_started", *["round_ended"] * 6, "game_finished"]
        finished = events_pb2.TablesEvent.FromString(bytes(events[-1].payload)).game_finished
        assert finished.record_json == response.record_json
        [mine] = [seat for seat in finished.seats if seat.seat.account_id == account]
        assert (mine.own_bids, mine.rounds, mine.bid_lately, mine.left) == (6, 6, True, False)
        assert sorted(seat.place for seat in finished.seats) == [1, 2, 3, 4, 5, 6]
        await gateway.close()


async def test_p32_bad_moves_are_refused_with_their_reason_and_change_nothing(cluster: Cluster) -> None:
    async with cluster.worker() as worker:
        table, [account] = await worker.create()
        gateway = Gateway(worker.gateway)
        player = Player(gateway, table, account, conn=1)
        await gateway.until(player.may_move)
        stranger = Player(gateway, table, b"\x01" * 16, conn=2)
        turn = player.turn
        assert turn is not None
        before = await cluster.query("select count(*) from tables.table_log where table_id = :id", id=as_id(table))
        tries: list[tuple[dict[str, Any], int, str]] = [
            ({"bid": 99}, turn, "BID_OUT_OF_RANGE"),
            ({"bid": -1}, turn, "BID_OUT_OF_RANGE"),
            ({"play": "7C"}, turn, "NOT_PLAYING"),
            ({"bid": "2"}, turn, "BAD_ACTION"),
            ({}, turn, "BAD_ACTION"),
            ({"bid": 1}, turn + 1, "STALE_TURN"),
        ]
        for action, at, reason in tries:
            request = player.act(action, turn=at)
            error = await gateway.until(partial(player.errors, request))
            assert error[0].reason == reason
        stranger.act({"bid": 1}, turn=turn)
        refused = await gateway.until(lambda: [e for e in stranger.seen.of(frames.Error) if e.req])
        assert refused[0].reason == "NOT_AT_TABLE"
        after = await cluster.query("select count(*) from tables.table_log where table_id = :id", id=as_id(table))
        assert before == after

        # The same command three times is one row and equal acks (B04).
        request = player.act(req="again")
        player.act(req="again")
        player.act(req="again")
        acks = await gateway.until(lambda: len(player.seen.of(frames.Ack)) == 2 and player.seen.of(frames.Ack))
        [own] = [delta for delta in player.seen.of(frames.Delta) if delta.req == request]
        assert {ack.seq for ack in acks} == {own.seq}
        await gateway.close()


async def test_p33_a_drained_worker_hands_its_table_over_and_the_game_goes_on(cluster: Cluster) -> None:
    async with cluster.worker() as second:
        async with cluster.worker() as first:
            table, [account] = await first.create()
            before = Gateway(first.gateway)
            player = Player(before, table, account, conn=1)
            await player.play_on(moves=4)
            await before.until(lambda: player.acks() == 4)
            acked = player.acked
            after = Gateway(second.gateway)
        owned = await after.until(lambda: [f for f in after.down if isinstance(f, link.Owned) and f.table == table])
        assert owned[0].epoch == 2
        again = Player(after, table, account, conn=3)
        await again.play_on()
        rows = await cluster.query(
            "select seq, epoch from tables.table_log where table_id = :id order by seq", id=as_id(table)
        )
        assert [row.seq for row in rows] == list(range(len(rows)))
        epochs = [row.epoch for row in rows]
        assert epochs == sorted(epochs) and set(epochs) == {1, 2}
        assert max(seq for _, seq in acked) < len(rows)
        await before.close()
        await after.close()
