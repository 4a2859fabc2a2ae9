"""CreateTable, Abandon, Locate, GetTable, Record and the stream: repeated, raced, from strangers and with garbage."""

import asyncio
import json
from collections.abc import Awaitable
from pathlib import Path
from typing import Any
from uuid import uuid4

import grpc
import msgspec
import pytest

from libs.chassis.errors import DomainError
from libs.chassis.rpc.peer import OPTIONS, Peer
from libs.house import calendar, platform
from libs.wire import link
from tests.services.tables.conftest import Cluster, Gateway, Player, RunningWorker, as_id
from whist.tables.v1 import events_pb2, tables_pb2, tables_pb2_grpc

MESSAGE_MAX = dict(OPTIONS)["grpc.max_receive_message_length"]
PLATFORM_FILE = Path(__file__).parents[3] / "config" / "platform.toml"


def stub_of(worker: RunningWorker, caller: str = "gateway") -> tables_pb2_grpc.TablesServiceStub:
    peer: Peer = getattr(worker, caller)
    return tables_pb2_grpc.TablesServiceStub(peer.channel)


async def ask(worker: RunningWorker, method: str, caller: str = "gateway", **fields: Any) -> Any:
    request = getattr(tables_pb2, f"{method}Request")(**fields)
    return await getattr(worker, caller).call(getattr(stub_of(worker, caller), method), request)


async def reason_of(call: Awaitable[Any]) -> str:
    """Why it was refused; empty when it was not."""
    try:
        await call
    except DomainError as refusal:
        return refusal.reason
    return ""


def create_request(table: bytes, accounts: list[bytes] | None = None, **changes: Any) -> dict[str, Any]:
    people = [uuid4().bytes] if accounts is None else accounts
    plain: dict[str, Any] = {
        "table_id": table,
        "kind": tables_pb2.TABLE_KIND_QUICK,
        "mode": 1,
        "game": "romanian",
        "options_json": '{"mode":"quick"}',
        "seats": 6,
        "players": [tables_pb2.Player(account_id=account, name="P", guest=True, room=1) for account in people],
    }
    return {**plain, **changes}


async def test_creating_a_table_again_answers_the_table_there_is(cluster: Cluster) -> None:
    async with cluster.worker() as first, cluster.worker() as second:
        table = uuid4().bytes
        request = create_request(table)
        made = await ask(first, "CreateTable", "matchmaking", **request)
        for worker in (first, second):
            again = await ask(worker, "CreateTable", "matchmaking", **request)
            assert (again.worker_address, again.epoch) == (made.worker_address, made.epoch) == (first.address, 1)
        # Also with other players: the first creation stands.
        other = await ask(second, "CreateTable", "matchmaking", **create_request(table))
        assert other.worker_address == first.address
        assert await cluster.events(table) == ["game_started"]
        assert [row.seq for row in await cluster.rows(table)][:2] == [0, 1]


async def test_creating_one_table_twenty_times_at_once_makes_one(cluster: Cluster) -> None:
    async with cluster.worker() as first, cluster.worker() as second:
        table, account = uuid4().bytes, uuid4().bytes
        request = create_request(table, [account])
        answers = await asyncio.gather(
            *(ask(worker, "CreateTable", "matchmaking", **request) for worker in (first, second) * 10)
        )
        [address] = {answer.worker_address for answer in answers}
        assert await cluster.events(table) == ["game_started"]
        assert (await cluster.head(table)).epoch == 1
        owner = first if address == first.address else second
        gateway = Gateway(owner.gateway)
        player = Player(gateway, table, account, conn=1)
        await player.play_on(moves=2)
        await gateway.close()


async def test_b17_an_abandoned_table_is_never_dealt_and_a_dealt_one_never_abandoned(cluster: Cluster) -> None:
    async with cluster.worker() as worker:
        buried, dealt = uuid4().bytes, uuid4().bytes
        for _ in range(2):
            answer = await ask(worker, "Abandon", "wallet", table_id=buried)
            assert answer.outcome == tables_pb2.ABANDON_OUTCOME_ABANDONED
            refused = await reason_of(ask(worker, "CreateTable", "matchmaking", **create_request(buried)))
            assert refused == "TABLE_ABANDONED"
        await ask(worker, "CreateTable", "matchmaking", **create_request(dealt))
        for caller in ("wallet", "matchmaking"):
            answer = await ask(worker, "Abandon", caller, table_id=dealt)
            assert answer.outcome == tables_pb2.ABANDON_OUTCOME_DEALT
        assert await cluster.events(buried) == []
        assert await cluster.rows(buried) == []
        assert (await ask(worker, "GetTable", table_id=buried)).status == tables_pb2.TABLE_STATUS_ABANDONED
        assert (await ask(worker, "GetTable", table_id=dealt)).status == tables_pb2.TABLE_STATUS_LIVE
        assert await reason_of(ask(worker, "Locate", table_id=buried)) == "TABLE_FINISHED"


async def test_b17_of_a_creation_and_an_abandonment_at_once_exactly_one_happens(cluster: Cluster) -> None:
    outcomes = []
    async with cluster.worker() as first, cluster.worker() as second:
        for number in range(50):
            table = uuid4().bytes
            creating = reason_of(ask(first, "CreateTable", "matchmaking", **create_request(table)))
            abandoning = ask(second, "Abandon", "wallet", table_id=table)
            # Either may be first on its way.
            pair = (creating, abandoning) if number % 2 else (abandoning, creating)
            done = await asyncio.gather(*pair)
            refused, answer = done if number % 2 else reversed(done)
            created = refused == ""
            assert refused in ("", "TABLE_ABANDONED")
            assert created == (answer.outcome == tables_pb2.ABANDON_OUTCOME_DEALT)
            assert await cluster.events(table) == (["game_started"] if created else [])
            assert bool(await cluster.rows(table)) == created
            outcomes.append(created)
    assert len(outcomes) == 50


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"table_id": b""}, "BAD_ID"),
        ({"table_id": b"short"}, "BAD_ID"),
        ({"table_id": b"\x00" * 17}, "BAD_ID"),
        ({"players": []}, "BAD_OPTIONS"),
        ({"players": [tables_pb2.Player(account_id=b"x", name="P")]}, "BAD_ID"),
        ({"players": [tables_pb2.Player(account_id=b"\x01" * 16, name="P")] * 2}, "BAD_OPTIONS"),
        ({"seats": 0}, "BAD_OPTIONS"),
        ({"seats": -1}, "BAD_OPTIONS"),
        ({"seats": 2**31 - 1}, "BAD_OPTIONS"),
        ({"seats": 5}, "BAD_OPTIONS"),
        ({"kind": tables_pb2.TABLE_KIND_UNSPECIFIED}, "BAD_OPTIONS"),
        ({"game": "poker"}, "BAD_OPTIONS"),
        ({"game": ""}, "BAD_OPTIONS"),
        ({"options_json": "{"}, "BAD_OPTIONS"),
        ({"options_json": "[]"}, "BAD_OPTIONS"),
        ({"options_json": "[" * 20_000}, "BAD_OPTIONS"),
        ({"options_json": '{"mode":"nine"}'}, "BAD_OPTIONS"),
        ({"options_json": '{"mode":"quick","cheat":1}'}, "BAD_OPTIONS"),
    ],
)
async def test_a_creation_that_makes_no_sense_is_refused_and_leaves_nothing(
    cluster: Cluster, changes: dict[str, Any], reason: str
) -> None:
    async with cluster.worker() as worker:
        before = await cluster.query("select count(*) as n from tables.table_head")
        request = create_request(uuid4().bytes, **changes)
        assert await reason_of(ask(worker, "CreateTable", "matchmaking", **request)) == reason
        assert await cluster.query("select count(*) as n from tables.table_head") == before


async def test_a6_strangers_garbage_and_the_wrong_callers_are_told_nothing(cluster: Cluster) -> None:
    async with cluster.worker() as owner, cluster.worker() as other:
        table, [account] = await owner.create()
        stranger, unknown = uuid4().bytes, uuid4().bytes
        for worker in (owner, other):
            mine = await ask(worker, "GetTable", table_id=table, account_id=account)
            assert json.loads(mine.view_json)["seat"] == mine.seat
            assert mine.game == "romanian"
            assert (await ask(worker, "GetTable", table_id=table)).view_json == ""
            assert (await ask(worker, "Locate", table_id=table)).worker_address == owner.address
            wrong: list[tuple[str, dict[str, Any], str]] = [
                ("GetTable", {"table_id": table, "account_id": stranger}, "NOT_AT_TABLE"),
                ("GetTable", {"table_id": table, "account_id": b"?"}, "NOT_AT_TABLE"),
                ("GetTable", {"table_id": table, "account_id": b"\xff" * 5000}, "NOT_AT_TABLE"),
                ("GetTable", {"table_id": unknown, "account_id": account}, "TABLE_UNKNOWN"),
                ("GetTable", {"table_id": unknown}, "TABLE_UNKNOWN"),
                ("GetTable", {"table_id": b"", "account_id": account}, "BAD_ID"),
                ("Record", {"table_id": table, "account_id": account}, "GAME_RUNNING"),
                ("Record", {"table_id": table, "account_id": stranger}, "GAME_RUNNING"),
                ("Record", {"table_id": unknown, "account_id": account}, "TABLE_UNKNOWN"),
                ("Record", {"table_id": b"\x00" * 15, "account_id": account}, "BAD_ID"),
                ("Locate", {"table_id": unknown}, "TABLE_UNKNOWN"),
                ("Locate", {"table_id": b"\x01" * 64}, "BAD_ID"),
                ("LocateTables", {"table_ids": [table, b"\x01" * 64]}, "BAD_ID"),
                ("LocateTables", {"table_ids": [table] * 1001}, "TOO_MANY_TABLES"),
            ]
            for method, fields, reason in wrong:
                assert await reason_of(ask(worker, method, **fields)) == reason, (method, fields)
            assert await reason_of(ask(worker, "Abandon", "wallet", table_id=b"")) == "BAD_ID"
            for method, caller in (("Record", "wallet"), ("Locate", "matchmaking"), ("Abandon", "gateway")):
                assert await reason_of(ask(worker, method, caller, table_id=table)) == "CALLER_NOT_ALLOWED"


async def test_p72_a_finished_games_record_is_for_its_players_alone(cluster: Cluster) -> None:
    async with cluster.worker() as worker, cluster.worker() as other:
        table, [account] = await worker.create()
        gateway = Gateway(worker.gateway)
        await Player(gateway, table, account, conn=1).play_on()
        for each in (worker, other):
            found = await ask(each, "Record", table_id=table, account_id=account)
            assert json.loads(found.record_json)["table"]["id"] == table.hex()
            for nobody in (uuid4().bytes, b""):
                assert await reason_of(ask(each, "Record", table_id=table, account_id=nobody)) == "NOT_AT_TABLE"
            seen = await ask(each, "GetTable", table_id=table, account_id=account)
            assert (seen.status, seen.view_json) == (tables_pb2.TABLE_STATUS_FINISHED, "")
            assert await reason_of(ask(each, "Locate", table_id=table)) == "TABLE_FINISHED"
        await gateway.close()


async def test_b32_a_batch_of_garbage_ends_its_own_stream_and_no_other(cluster: Cluster) -> None:
    garbage = [
        b"", b"\xc1", b"\x93", b"not msgpack", b"\x91" * 2000, b"\xdd\xff\xff\xff\xff",
        msgspec.msgpack.encode([["z", 1]]), msgspec.msgpack.encode([["c", b"t", b"a", "one", "r", 0, {}]]),
    ]  # fmt: skip
    async with cluster.worker() as worker:
        table, [account] = await worker.create()
        gateway = Gateway(worker.gateway)
        player = Player(gateway, table, account, conn=1)
        await gateway.until(player.may_move)
        for batch in garbage:
            play: Any = stub_of(worker).Play
            call = play(metadata=worker.gateway.metadata())
            await call.write(tables_pb2.PlayRequest(batch=link.encode_batch([link.Subscribe(table, account, 99, -1)])))
            await call.write(tables_pb2.PlayRequest(batch=batch))
            async with asyncio.timeout(10):
                while await call.read() is not grpc.aio.EOF:
                    pass
                assert await call.code() is grpc.StatusCode.OK
        await player.play_on(moves=1)
        # What is well formed and senseless is answered frame by frame, on a stream that goes on.
        gateway.send(
            link.Subscribe(b"", account, 5, -1),
            link.Subscribe(table, b"", 6, -1),
            link.Subscribe(table, account, 7, 2**40),
            link.Unsubscribe(table, account, 12345),
            link.Command(table, account, 1, "odd", -5, {"bid": 2**63}),
            link.Command(table, account, 1, "deep", 0, {"play": {"a": [[]]}}),
            link.Vacate(b"\x01" * 16, account, 8, "v"),
        )
        await gateway.until(lambda: player.errors("odd") and player.errors("deep"))
        await player.play_on(moves=1)
        await gateway.until(lambda: player.acks() >= 2)
        await gateway.close()


async def test_more_snapshots_than_one_message_holds_reach_everybody(cluster: Cluster) -> None:
    async with cluster.worker() as worker:
        table, [account] = await worker.create()
        gateway = Gateway(worker.gateway)
        await Player(gateway, table, account, conn=1).play_on(moves=25)
        conns = range(100, 3_500)
        gateway.send(*(link.Subscribe(table, account, conn, -1) for conn in conns))

        def snapshots() -> dict[int, bytes]:
            sent = [frame for frame in gateway.down if isinstance(frame, link.ToSocket) and frame.conn in conns]
            return {frame.conn: frame.frame for frame in sent}

        await gateway.until(lambda: len(snapshots()) == len(conns))
        assert sum(map(len, snapshots().values())) > MESSAGE_MAX
        await gateway.close()


async def test_x10_week_and_day_are_stamped_in_the_platforms_zone(cluster: Cluster, tmp_path: Path) -> None:
    for zone in ("Pacific/Kiritimati", "Pacific/Midway"):  # 25 hours apart: never the same day
        file = tmp_path / "platform.toml"
        file.write_text(PLATFORM_FILE.read_text().replace('zone = "Europe/Bucharest"', f'zone = "{zone}"'))
        async with cluster.worker(platform_config=file) as worker:
            table, [account] = await worker.create()
            gateway = Gateway(worker.gateway)
            await Player(gateway, table, account, conn=1).play_on()
            await gateway.close()
        [row] = await cluster.query(
            "select e.payload, r.week_id, r.finished_at from tables.event e "
            "join tables.game_record r on r.table_id = :id where e.key = :key and e.type = 'game_finished'",
            id=as_id(table), key=table,
        )  # fmt: skip
        finished = events_pb2.TablesEvent.FromString(bytes(row.payload)).game_finished
        local = platform.load(file).zone
        assert finished.day_id == calendar.day_id(row.finished_at, zone=local)
        assert finished.week_id == row.week_id == calendar.week_id(row.finished_at, zone=local)


async def test_many_tables_are_located_in_one_question_and_each_is_answered_for_itself(cluster: Cluster) -> None:
    async with cluster.worker() as owner, cluster.worker() as other:
        live, buried, unknown = (await owner.create())[0], uuid4().bytes, uuid4().bytes
        await ask(owner, "Abandon", "matchmaking", table_id=buried)
        for worker in (owner, other):
            found = await ask(worker, "LocateTables", table_ids=[live, buried, unknown, live])
            assert {(each.table_id, each.worker_address, each.reason, each.status) for each in found.tables} == {
                (live, owner.address, "", ""),
                (buried, "", "TABLE_FINISHED", "abandoned"),
                (unknown, "", "TABLE_UNKNOWN", ""),
            }
            assert len(found.tables) == 3
        assert await reason_of(ask(owner, "LocateTables", "matchmaking", table_ids=[live])) == "CALLER_NOT_ALLOWED"
