"""What tables hold of a person is handed out, and gone when the account is (P45)."""

import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest

from libs.chassis.db.database import Database, Store
from libs.chassis.entropy import SystemEntropy
from libs.chassis.errors import DomainError
from libs.house.names import ERASED_NAME
from libs.wire import frames
from services.tables.consumers import on_auth
from services.tables.domain.entries import FriendsTable, Moved, Opened, SeatFacts, TakenOver, decode_body
from services.tables.handlers import personal
from services.tables.handlers.personal import without_name
from services.tables.storage.personal import PersonalTransaction
from tests.services.tables.conftest import Cluster, Gateway, Player, RunningWorker, as_id
from whist.auth.v1.events_pb2 import AccountDeleted, AuthEvent, NameChanged
from whist.tables.v1 import tables_pb2, tables_pb2_grpc


@pytest.fixture(scope="module")
async def worker(cluster: Cluster) -> AsyncIterator[RunningWorker]:
    async with cluster.worker() as running_worker:
        yield running_worker


@pytest.fixture
async def persons(cluster: Cluster) -> AsyncIterator[Store[PersonalTransaction]]:
    database = Database.open(cluster.url, "tables", pool=2)
    yield Store(database, PersonalTransaction, SystemEntropy())
    await database.close()


async def export(worker: RunningWorker, account: bytes) -> dict[str, list[Any]]:
    stub = tables_pb2_grpc.TablesServiceStub(worker.gateway.channel)
    answer = await worker.gateway.call(stub.ExportAccount, tables_pb2.ExportAccountRequest(account_id=account))
    found: dict[str, list[Any]] = json.loads(answer.export_json)
    return found


async def chatter(cluster: Cluster, table: bytes, account: bytes, other: bytes) -> None:
    """A line each, and a complaint of each about the other."""
    for who, whom, words in ((account, other, "ana was here"), (other, account, "dan was here")):
        await cluster.query(
            "insert into tables.chat_line (table_id, request_id, account, name, words) "
            "values (:table, gen_random_uuid(), :who, 'Name', :words)",
            table=as_id(table), who=who, words=words,
        )  # fmt: skip
        await cluster.query(
            "insert into tables.chat_report (report_id, table_id, reporter, reported, words, lines) values "
            "(gen_random_uuid(), :table, :who, :whom, :words, "
            "jsonb_build_array(jsonb_build_array(1, '', cast(:line as text))))",
            table=as_id(table), who=who, whom=whom, words=f"complaint: {words}", line=f"line of {whom.hex()}",
        )  # fmt: skip
        await cluster.query("insert into tables.chat_mute (account, muted) values (:who, :whom)", who=who, whom=whom)


async def delete(persons: Store[PersonalTransaction], account: bytes) -> None:
    async with persons.transaction() as tx:
        await on_auth(tx, AuthEvent(account_deleted=AccountDeleted(account_id=account)))


async def finished_game(worker: RunningWorker, name: str) -> tuple[bytes, bytes]:
    """(table, account) of a game that one person has played to its end."""
    account = uuid4().bytes
    table, _ = await worker.create(players=[tables_pb2.Player(account_id=account, name=name, room=1)])
    gateway = Gateway(worker.gateway)
    await Player(gateway, table, account, conn=1).play_on()
    await gateway.close()
    return table, account


async def test_p45_the_export_has_lines_complaints_mutes_and_games(worker: RunningWorker, cluster: Cluster) -> None:
    table, account = await finished_game(worker, "Ștefania")
    other = uuid4().bytes
    await chatter(cluster, table, account, other)

    found = await export(worker, account)

    assert [line["words"] for line in found["chat"]] == ["ana was here"]
    assert [each["words"] for each in found["complaints"]] == ["complaint: ana was here"]
    assert [each["your_lines"] for each in found["complained_of"]] == [[f"line of {account.hex()}"]]
    assert found["muted"] == [other.hex()]
    assert [game["table"] for game in found["games"]] == [table.hex()]
    assert "dan" not in json.dumps(found)
    nobody = await export(worker, uuid4().bytes)
    assert set(map(len, nobody.values())) == {0}
    with pytest.raises(DomainError) as refusal:
        await export(worker, b"short")
    assert refusal.value.reason == "BAD_ID"


async def test_p45_a_deleted_account_is_gone_from_chat_and_complaints_and_others_stay(
    worker: RunningWorker, cluster: Cluster, persons: Store[PersonalTransaction]
) -> None:
    table, account = await finished_game(worker, "Ștefania")
    other = uuid4().bytes
    await chatter(cluster, table, account, other)

    for _ in range(2):  # the event may come again
        await delete(persons, account)

    gone, left = await export(worker, account), await export(worker, other)
    assert (gone["chat"], gone["muted"]) == ([], [])
    assert [each["words"] for each in gone["complaints"]] == [""]
    assert [each["your_lines"] for each in gone["complained_of"]] == [[]]
    assert [line["words"] for line in left["chat"]] == ["dan was here"]
    assert [each["words"] for each in left["complaints"]] == ["complaint: dan was here"]
    assert [each["your_lines"] for each in left["complained_of"]] == [[f"line of {other.hex()}"]]


async def test_p45_the_name_is_struck_out_of_the_journals_and_the_games_stay_as_they_were(
    worker: RunningWorker, cluster: Cluster, persons: Store[PersonalTransaction]
) -> None:
    table, account = await finished_game(worker, "Ștefania")
    elsewhere, _ = await finished_game(worker, "Ștefania")
    before, others = await cluster.rows(table), await cluster.rows(elsewhere)
    assert any("Ștefania".encode() in bytes(row.body) for row in before)

    await delete(persons, account)
    await personal.strike_out_all(store=persons)

    after = await cluster.rows(table)
    assert not any("Ștefania".encode() in bytes(row.body) for row in after)
    assert [(row.seq, row.command_id, row.at) for row in after] == [(row.seq, row.command_id, row.at) for row in before]
    for old, new in zip(before, after, strict=True):
        assert decode_body(bytes(new.body)) == without_name(decode_body(bytes(old.body)), account)
    assert await cluster.rows(elsewhere) == others
    stub = tables_pb2_grpc.TablesServiceStub(worker.gateway.channel)
    wanted = tables_pb2.RecordRequest(table_id=table, account_id=account)
    assert (await worker.gateway.call(stub.Record, wanted)).record_json


async def test_p45_a_game_in_play_is_gone_through_a_day_later(
    worker: RunningWorker, cluster: Cluster, persons: Store[PersonalTransaction]
) -> None:
    account = uuid4().bytes
    table, _ = await worker.create(players=[tables_pb2.Player(account_id=account, name="Ștefania", room=1)])
    await delete(persons, account)
    await personal.strike_out_all(store=persons)
    assert (await cluster.head(table)).status == "live"
    gateway = Gateway(worker.gateway)
    await Player(gateway, table, account, conn=1).play_on()
    await gateway.close()
    assert any("Ștefania".encode() in bytes(row.body) for row in await cluster.rows(table))

    assert not await personal.strike_out(store=persons)  # not yet due
    await cluster.query(
        "update tables.erasure set asked_at = asked_at - interval '25 hours', due_at = due_at - interval '25 hours'"
    )
    await personal.strike_out_all(store=persons)

    assert not any("Ștefania".encode() in bytes(row.body) for row in await cluster.rows(table))
    assert await cluster.query("select 1 from tables.erasure") == []


async def test_other_events_of_accounts_erase_nothing(
    worker: RunningWorker, cluster: Cluster, persons: Store[PersonalTransaction]
) -> None:
    table, account = await finished_game(worker, "Ștefania")
    await chatter(cluster, table, account, uuid4().bytes)
    async with persons.transaction() as tx:
        await on_auth(tx, AuthEvent(name_changed=NameChanged(account_id=account, name="Ana")))
    assert len((await export(worker, account))["chat"]) == 1


def test_p45_only_the_accounts_own_name_goes_wherever_it_stands() -> None:
    ana, dan = SeatFacts(account=b"a" * 16, name="Ana"), SeatFacts(account=b"d" * 16, name="Dan")
    gone = SeatFacts(account=b"a" * 16, name=ERASED_NAME)
    opened = Opened(
        kind=3, mode=0, game="english", rules_version=1, options={}, seats=[ana, dan], secret=b"s",
        friends=FriendsTable(bid_ms=1, play_ms=1, bots="calm", spectators=0),
    )  # fmt: skip
    struck = without_name(opened, b"a" * 16)
    assert isinstance(struck, Opened) and struck.seats == [gone, dan] and struck.secret == b"s"
    taken = without_name(TakenOver(seat=1, who=ana, req="r"), b"a" * 16)
    assert taken == TakenOver(seat=1, who=gone, req="r")
    moved = Moved(seat=0, by=0, turn=1, req="r", events=[])
    assert without_name(moved, b"a" * 16) is moved


@pytest.mark.parametrize(
    ("name", "guest", "own"), [("Ștefania", False, True), ("Vulpe 42", False, False), ("Ștefania", True, False)]
)
async def test_p41_a_check_mark_stands_at_names_that_are_somebodys_own_alone(
    worker: RunningWorker, name: str, guest: bool, own: bool
) -> None:
    account = uuid4().bytes
    player = tables_pb2.Player(account_id=account, name=name, guest=guest, room=1)
    table, _ = await worker.create(players=[player])
    gateway = Gateway(worker.gateway)
    seated = await Player(gateway, table, account, conn=1).joined()
    [snapshot, *_] = seated.seen.of(frames.Snapshot)
    await gateway.close()
    assert {(seat.name, seat.verified) for seat in snapshot.seats if seat.kind == "person"} == {(name, own)}
    assert not any(seat.verified for seat in snapshot.seats if seat.kind == "bot")
