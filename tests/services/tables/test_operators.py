"""P82: operators void games, close tables and silence chatters, each once and with its line in the audit log."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa
from google.protobuf.timestamp_pb2 import Timestamp

from libs.chassis.errors import DomainError
from libs.chassis.rpc.peer import Peer
from libs.engine.record.plain import loads
from libs.engine.record.replaying import played
from libs.wire import frames
from tests.services.tables.conftest import Cluster, Gateway, Player, RunningWorker, as_id, eventually
from tests.services.tables.test_friends import Person, refused
from whist.tables.v1 import events_pb2, friends_pb2, tables_pb2, tables_pb2_grpc
from whist.types.v1 import audit_pb2


class Operator:
    """Acts by way of the gateway's operators' listener."""

    def __init__(self, peer: Peer, name: str = "ana") -> None:
        self._peer = peer
        self._stub = tables_pb2_grpc.TablesServiceStub(peer.channel)
        self.name = name

    def act(self, reason: str = "asked for", request_id: bytes = b"") -> audit_pb2.Act:
        return audit_pb2.Act(request_id=request_id or uuid4().bytes, operator=self.name, reason=reason)

    async def call(self, rpc: str, request: Any) -> Any:
        return await self._peer.call(getattr(self._stub, rpc), request, tries=1)

    async def void(self, table: bytes, act: audit_pb2.Act | None = None) -> bool:
        request = tables_pb2.VoidGameRequest(act=act or self.act(), table_id=table)
        answer: tables_pb2.VoidGameResponse = await self.call("VoidGame", request)
        return answer.had_finished

    async def close(self, table: bytes, act: audit_pb2.Act | None = None) -> None:
        await self.call("CloseTable", tables_pb2.CloseTableRequest(act=act or self.act(), table_id=table))

    async def silence(self, account: bytes, minutes: int, act: audit_pb2.Act | None = None) -> Timestamp | None:
        request = tables_pb2.SilenceRequest(act=act or self.act(), account_id=account, minutes=minutes)
        answer: tables_pb2.SilenceResponse = await self.call("Silence", request)
        return answer.until if answer.HasField("until") else None

    async def tables(self, **asked: Any) -> list[tables_pb2.TableSeen]:
        return list((await self.call("ListTables", tables_pb2.ListTablesRequest(**asked))).tables)

    async def reports(self, **asked: Any) -> list[tables_pb2.ChatReport]:
        return list((await self.call("ListReports", tables_pb2.ListReportsRequest(**asked))).reports)

    async def audit(self, subject: bytes) -> list[audit_pb2.AuditLine]:
        answer = await self.call("AuditLog", tables_pb2.AuditLogRequest(limit=500))
        return [line for line in answer.lines if line.subject == subject.hex()]


@pytest.fixture(scope="module")
async def worker(cluster: Cluster) -> AsyncIterator[RunningWorker]:
    async with cluster.worker() as made:
        yield made


@pytest.fixture
def ana(worker: RunningWorker) -> Operator:
    return Operator(worker.gateway)


async def voided_events(cluster: Cluster, table: bytes) -> list[events_pb2.GameVoided]:
    found = await cluster.query("select type, payload from tables.event where key = :key", key=table)
    events = [events_pb2.TablesEvent.FromString(bytes(row.payload)) for row in found if row.type == "game_voided"]
    return [event.game_voided for event in events]


async def seat_of(worker: RunningWorker, account: bytes) -> bytes:
    stub = tables_pb2_grpc.TablesServiceStub(worker.gateway.channel)
    answer = await worker.gateway.call(stub.SeatOf, tables_pb2.SeatOfRequest(account_id=account))
    return bytes(answer.table_id)


async def record_of(worker: RunningWorker, table: bytes, account: bytes) -> dict[str, Any]:
    stub = tables_pb2_grpc.TablesServiceStub(worker.gateway.channel)
    answer = await worker.gateway.call(stub.Record, tables_pb2.RecordRequest(table_id=table, account_id=account))
    played(loads(answer.record_json))  # it plays again, or this raises
    plain: dict[str, Any] = json.loads(answer.record_json)
    return plain


async def test_p82_a_live_game_is_voided_once_and_everybody_is_told_with_the_secret(
    worker: RunningWorker, cluster: Cluster, ana: Operator
) -> None:
    table, [account, other] = await worker.create(people=2)
    gateway = Gateway(worker.gateway)
    player, watcher = Player(gateway, table, account, conn=1), Player(gateway, table, other, conn=2)
    await gateway.until(player.may_move)
    act = ana.act("the cards were shown on a stream")
    assert await ana.void(table, act) is False
    await gateway.until(lambda: player.finished() and watcher.finished())
    for told in (player, watcher):
        [over], [snapshot, *_] = told.seen.of(frames.Over), told.seen.of(frames.Snapshot)
        assert over.status == "voided"
        assert sha256(bytes.fromhex(over.secret)).hexdigest() == snapshot.commitment
    assert (await cluster.head(table)).status == "voided"
    [event] = await voided_events(cluster, table)
    assert (event.reason, event.had_finished) == ("operator", False)
    assert {seat.account_id for seat in event.seats} == {account, other, b""}
    record = await record_of(worker, table, account)
    assert (record["table"]["status"], record["table"]["reason"], record["result"]) == ("voided", "operator", None)
    assert await seat_of(worker, account) == b""

    assert await ana.void(table, act) is False
    assert await refused(ana.void(table)) == "GAME_OVER"
    assert len(await voided_events(cluster, table)) == 1
    [line] = await ana.audit(table)
    assert (line.act, line.name, line.details_json) == (act, "void", "{}")
    await gateway.close()


async def test_p82_a_finished_game_is_undone_once_and_its_record_says_so(
    worker: RunningWorker, cluster: Cluster, ana: Operator
) -> None:
    table, [account] = await worker.create()
    gateway = Gateway(worker.gateway)
    player = Player(gateway, table, account, conn=1)
    await player.play_on()
    before = await record_of(worker, table, account)
    act = ana.act("collusion")
    assert [await ana.void(table, act) for _ in range(3)] == [True] * 3
    assert await refused(ana.void(table)) == "GAME_OVER"
    [event] = await voided_events(cluster, table)
    assert (event.reason, event.had_finished, len(event.seats)) == ("operator", True, 6)
    after = await record_of(worker, table, account)
    assert after == before | {"table": before["table"] | {"status": "voided", "reason": "operator"}}
    [seen] = await ana.tables(table_id=table)
    assert (seen.status, seen.had_finished) == (tables_pb2.TABLE_STATUS_VOIDED, True)
    assert (await cluster.events(table))[-2:] == ["game_finished", "game_voided"]
    await gateway.close()


async def test_p82_who_does_not_own_a_live_table_changes_nothing(
    worker: RunningWorker, cluster: Cluster, ana: Operator
) -> None:
    table, _ = await worker.create()
    act = ana.act()
    async with cluster.worker() as elsewhere:
        other = Operator(elsewhere.gateway)
        assert await refused(other.void(table, act)) == "UNAVAILABLE"
        assert (await cluster.head(table)).status == "live"
        assert await ana.audit(table) == []
        assert await ana.void(table, act) is False
        assert await other.void(table, act) is False  # answered by anybody once it is done


async def test_p82_an_act_that_is_refused_leaves_the_game_in_play(worker: RunningWorker, ana: Operator) -> None:
    table, [account] = await worker.create()
    elsewhere, _ = await worker.create()
    act = ana.act()
    await ana.void(elsewhere, act)
    gateway = Gateway(worker.gateway)
    player = Player(gateway, table, account, conn=1)
    await gateway.until(player.may_move)
    assert await refused(ana.void(table, act)) == "ACT_DIFFERS"
    assert await refused(ana.void(table, audit_pb2.Act(request_id=b"short", operator="a", reason="b"))) == "BAD_ACT"
    assert await refused(ana.void(table, ana.act(reason=" "))) == "BAD_ACT"
    await player.play_on()
    [over] = player.seen.of(frames.Over)
    assert over.status == "finished"
    assert await refused(ana.void(uuid4().bytes)) == "TABLE_UNKNOWN"
    assert await refused(ana.void(b"x")) == "BAD_ID"
    await gateway.close()


async def test_p82_a_void_that_races_the_games_moves_comes_before_or_after_each_of_them(
    worker: RunningWorker, cluster: Cluster, ana: Operator
) -> None:
    """Voided at many points of a game, its last card among them: the game ended first, or never."""
    ended: list[bool] = []
    for moves in (*range(0, 40, 8), None):
        table, [account] = await worker.create()
        gateway = Gateway(worker.gateway)
        player = Player(gateway, table, account, conn=1)
        if moves is not None:
            await player.play_on(moves)
            playing = asyncio.create_task(player.play_on())
        else:  # asked when the last card is being written
            playing = asyncio.create_task(player.play_on())
            await gateway.until(partial(_last_round_runs, player))
        ended.append(await ana.void(table))
        await playing
        events = [each for each in await cluster.events(table) if each in ("game_finished", "game_voided")]
        assert events == (["game_finished", "game_voided"] if ended[-1] else ["game_voided"])
        assert len(player.seen.of(frames.Over)) == 1
        record = await record_of(worker, table, account)
        assert record["table"]["status"] == "voided"
        assert (record["result"] is not None) is ended[-1]
        rows = len(await cluster.rows(table))
        assert rows == (await cluster.head(table)).next_seq
        await gateway.close()
    assert False in ended


async def test_p82_a_move_that_is_being_written_when_the_game_is_voided_stands_and_is_in_its_record(
    worker: RunningWorker, cluster: Cluster, ana: Operator
) -> None:
    table, [account] = await worker.create()
    gateway = Gateway(worker.gateway)
    player = Player(gateway, table, account, conn=1)
    await gateway.until(player.may_move)
    async with cluster.database() as connection:
        lock = "select 1 from tables.table_head where table_id = :id for update"
        await connection.execute(sa.text(lock), {"id": as_id(table)})
        waits = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%table_head%'"
        request = player.act()

        async def is_waiting() -> bool:
            return bool((await connection.execute(sa.text(waits))).all())

        await eventually(is_waiting)
        voiding = asyncio.create_task(ana.void(table))
        await ana.tables(limit=1)  # the worker has heard of it by now
        assert not voiding.done() and not player.finished()
    assert await voiding is False
    await gateway.until(player.finished)
    [delta] = player.deltas(request)
    assert delta.seq < (await cluster.head(table)).next_seq
    record = await record_of(worker, table, account)
    assert "person" in [by for _, _, by, _ in record["moves"]]
    await gateway.close()


def _last_round_runs(player: Player) -> bool:
    player.absorb()
    return player.finished() or len(player.view.get("score_sheet", ())) >= 5


async def test_p82_a_voided_games_silent_worker_takes_nothing_back(cluster: Cluster) -> None:
    """The worker dies with its answer: the next one is told that it is done."""
    async with cluster.life(dies=True) as life:
        worker = await life.born
        table, _ = await worker.create()
        operator = Operator(worker.gateway)
        act = operator.act()
        await operator.void(table, act)
        await life.end()
    async with cluster.worker() as next_one:
        assert await Operator(next_one.gateway).void(table, act) is False
        assert len(await voided_events(cluster, table)) == 1


async def test_p82_a_table_that_waits_is_closed_and_frees_its_people(worker: RunningWorker, ana: Operator) -> None:
    host = Person(worker, "Ana")
    table = (await host.open()).table_id
    told = host.watch(table)
    await anext(told)
    [seen] = await ana.tables(table_id=table)
    assert (seen.status, seen.game, list(seen.account_ids)) == (
        tables_pb2.TABLE_STATUS_WAITING, "romanian", [host.account],
    )  # fmt: skip
    act = ana.act("a rude table")
    await ana.close(table, act)
    await ana.close(table, act)
    assert [each.table.stage async for each in told] == [friends_pb2.FRIENDS_STAGE_CLOSED]
    assert await refused(host.sit(table)) == "TABLE_CLOSED"
    assert (await host.open("another")).host == host.account
    assert [line.name for line in await ana.audit(table)] == ["close"]
    assert await refused(ana.close(uuid4().bytes)) == "TABLE_UNKNOWN"


async def test_p82_a_dealt_table_is_not_closed_but_voided(worker: RunningWorker, ana: Operator) -> None:
    host = Person(worker, "Ana")
    table = (await host.open()).table_id
    for number in range(3):
        await Person(worker, f"P{number}").sit(table)
    await host.deal(table)
    assert await refused(ana.close(table)) == "TABLE_DEALT"
    assert await ana.audit(table) == []
    assert await ana.void(table) is False
    assert await seat_of(worker, host.account) == b""


async def test_p82_who_is_silenced_is_heard_nowhere_until_it_ends(
    worker: RunningWorker, cluster: Cluster, ana: Operator
) -> None:
    host, rude = Person(worker, "Ana"), Person(worker, "Radu")
    table = (await host.open()).table_id
    line = await rude.say(table, "before", "r1")
    act = ana.act("insults")
    until = await ana.silence(rude.account, 60, act)
    assert until is not None and until == await ana.silence(rude.account, 60, act)
    in_an_hour = until.ToDatetime(UTC) - datetime.now(UTC)
    assert timedelta(minutes=59) < in_an_hour < timedelta(minutes=61)
    with pytest.raises(DomainError) as refusal:
        await rude.say(table, "after")
    assert refusal.value.reason == "SILENCED"
    assert datetime.fromisoformat(str(refusal.value.facts["until"])) == until.ToDatetime(UTC)
    assert await rude.say(table, "before", "r1") == line  # a retry is answered as the first was
    assert list((await anext(host.watch(table))).lines) == []

    async with cluster.worker() as another:  # nothing of it is in a process's memory
        assert await refused(Person.of(another, rude).say(table, "again")) == "SILENCED"
    assert await ana.silence(rude.account, 0) is None
    assert await rude.say(table, "better") > line
    assert [each.words for each in (await anext(host.watch(table))).lines] == ["before", "better"]
    assert [each.name for each in await ana.audit(rude.account)] == ["silence", "silence"]
    assert json.loads((await ana.audit(rude.account))[-1].details_json) == {"minutes": 60}


async def test_p82_a_silence_ends_by_the_databases_clock(
    worker: RunningWorker, cluster: Cluster, ana: Operator
) -> None:
    host = Person(worker, "Ana")
    table = (await host.open()).table_id
    await ana.silence(host.account, 1)
    assert await refused(host.say(table, "now")) == "SILENCED"
    await cluster.query(
        "update tables.silence set until = clock_timestamp() where account = :account", account=host.account
    )
    assert await host.say(table, "now") > 0


@pytest.mark.parametrize("minutes", [-1, 525_601, 2**31 - 1, -(2**31)])
async def test_a_silence_out_of_bounds_is_refused(worker: RunningWorker, ana: Operator, minutes: int) -> None:
    account = uuid4().bytes
    assert await refused(ana.silence(account, minutes)) == "BAD_SPAN"
    assert await ana.audit(account) == []


async def test_p22_complaints_are_read_newest_first_with_what_was_said(worker: RunningWorker, ana: Operator) -> None:
    host, rude = Person(worker, "Ana"), Person(worker, "Radu")
    table = (await host.open()).table_id
    await rude.say(table, "rude")
    for number in range(3):
        await host.call("Report", friends_pb2.ReportRequest(
            table_id=table, account_id=host.account, request_id=f"r{number}", reported=rude.account,
            words=f"words {number}",
        ))  # fmt: skip
    newest, middle = await ana.reports(reported=rude.account, limit=2)
    assert [newest.words, middle.words] == ["words 2", "words 1"]
    assert (newest.table_id, newest.reporter) == (table, host.account)
    assert [(line.words, line.line > 0) for line in newest.lines] == [("rude", True)]
    assert abs(newest.lines[0].at.ToDatetime(UTC) - datetime.now(UTC)) < timedelta(minutes=1)
    [oldest] = await ana.reports(reported=rude.account, before=middle.n)
    assert oldest.words == "words 0"
    assert await ana.reports(reported=uuid4().bytes) == []


async def test_p82_tables_are_seen_newest_first_by_account_and_without_a_card(
    worker: RunningWorker, cluster: Cluster, ana: Operator
) -> None:
    first, [account] = await worker.create()
    await ana.void(first)
    second, _ = await worker.create(players=[tables_pb2.Player(account_id=account, name="P", room=1)])
    found = await ana.tables(account_id=account)
    assert [(each.table_id, each.status) for each in found] == [
        (second, tables_pb2.TABLE_STATUS_LIVE), (first, tables_pb2.TABLE_STATUS_VOIDED),
    ]  # fmt: skip
    live = found[0]
    assert (live.kind, live.game, live.worker_address, list(live.account_ids)) == (
        tables_pb2.TABLE_KIND_QUICK, "romanian", worker.address, [account],
    )  # fmt: skip
    assert live.rows >= 2 and not live.HasField("ended_at") and found[1].HasField("ended_at")
    assert [each.table_id for each in await ana.tables(account_id=account, live=True)] == [second]
    assert (await ana.tables(limit=1))[0].table_id == second
    assert await ana.tables(account_id=uuid4().bytes) == []
    assert await refused(ana.tables(account_id=b"x")) == "BAD_ID"

    async def unowned() -> bool:
        await cluster.query(
            "update tables.table_log set body = '\\x00' where table_id = :id and seq = 0", id=as_id(first)
        )
        return (await ana.tables(table_id=first))[0].game == ""

    assert await eventually(unowned)  # a table that nobody can read is seen all the same
