"""P70, P72: a table's record is the engine's, plays again, and is there for a game that was called off too."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from libs.chassis.db.database import Database, Store
from libs.chassis.entropy import SystemEntropy
from libs.chassis.errors import DomainError
from libs.engine import bots, fair
from libs.engine.errors import UnknownRulesVersion
from libs.engine.record import model
from libs.engine.record.model import Record
from libs.engine.record.plain import dumps, from_json, loads
from libs.engine.record.replaying import played
from libs.wire import frames, link
from services.tables.domain.entries import (
    Body,
    By,
    Moved,
    Opened,
    Resumed,
    SeatFacts,
    Vacated,
    decode_body,
    encode_body,
)
from services.tables.domain.errors import GameRunning
from services.tables.domain.outcome import PAUSES_MAX, called_off, record
from services.tables.domain.table import Table, decide_draws, decide_move, opened
from services.tables.handlers import games
from services.tables.storage.store import TablesTransaction
from tests.services.tables.conftest import Cluster, Gateway, Player, as_id
from whist.tables.v1 import events_pb2, tables_pb2, tables_pb2_grpc

TABLE_ID = UUID(int=7)
BEGUN = datetime(2026, 11, 30, 10, 0, 0, 123_000, tzinfo=UTC)
ACCOUNT, OTHER = b"\x07" * 16, b"\x08" * 16
OPENED = Opened(
    kind=1,
    mode=1,
    game="romanian",
    rules_version=1,
    options={"mode": "quick"},
    seats=[
        SeatFacts(ACCOUNT, "Ana", room=3),
        *(SeatFacts(b"", "Bot") for _ in range(4)),
        SeatFacts(OTHER, "Radu", room=1),
    ],
    secret=bytes(range(32)),
)


def at(seq: int) -> datetime:
    return BEGUN + timedelta(seconds=seq)


def by_of(seat: int, turn: int) -> By:
    return By.BOT if OPENED.seats[seat].account == b"" else By.TIME_OUT if turn % 5 == 0 else By.PERSON


def journal(moves: int | None = None) -> tuple[Table, list[tuple[Body, datetime]]]:
    """A game by the calm bot, its rows a second apart; to its end, or so many decisions."""
    table = opened(TABLE_ID, OPENED)
    rows: list[tuple[Body, datetime]] = [(OPENED, at(0))]
    while not table.game.over(table.state) and (moves is None or table.game.turn(table.state) < moves):
        body: Body
        if (drawn := decide_draws(table)) is not None:
            body = drawn[0]
        else:
            seat, turn = table.game.to_act(table.state), table.game.turn(table.state)
            assert seat is not None
            action = bots.choose("romanian", table.view(seat))
            body, _ = decide_move(table, seat, turn, action, by_of(seat, turn), "")
        table.apply(body)
        rows.append((body, at(len(rows))))
    return table, rows


def decided(rows: Sequence[tuple[Body, datetime]]) -> list[tuple[int, model.By, int]]:
    """Seat, actor and time of each decision in the journal."""
    words = {By.PERSON: model.By.PERSON, By.TIME_OUT: model.By.TIME_OUT, By.BOT: model.By.BOT}
    return [
        (body.seat, words[By(body.by)], round(when.timestamp() * 1000))
        for body, when in rows
        if isinstance(body, Moved)
    ]


def in_record(kept: Record) -> list[tuple[int, Any, Any]]:
    return [(one.seat, one.by, one.at_ms) for one in kept.moves]


def test_p72_a_finished_tables_record_is_the_engines_and_plays_again_to_the_same_result() -> None:
    table, rows = journal()
    kept = record(TABLE_ID, OPENED, rows, at(len(rows)))
    assert in_record(kept) == decided(rows)
    assert {one.by for one in kept.moves} == set(model.By)
    assert kept.secret == OPENED.secret and kept.names == ()
    assert played(kept).result == table.game.result(table.state).dump()
    assert loads(dumps(kept)) == kept
    assert kept.table == {
        "id": TABLE_ID.hex,
        "status": "finished",
        "reason": None,
        "started_at": 1_796_032_800_123,
        "finished_at": 1_796_032_800_123 + 1000 * len(rows),
        "seats": [
            {"account": ACCOUNT.hex(), "room": 3},
            *({"account": None, "room": 0} for _ in range(4)),
            {"account": OTHER.hex(), "room": 1},
        ],
        "left": [],
        "pauses": [],
    }


def test_p8_p33_who_left_and_when_nobody_could_move_are_in_the_record() -> None:
    _, rows = journal(20)
    rows[9:9] = [(Vacated(5, "bye"), at(400))]
    rows[12:12] = [(Resumed(each), at(500 + each)) for each in range(PAUSES_MAX + 6)]
    kept = record(TABLE_ID, OPENED, rows, at(900))
    assert kept.table is not None
    assert kept.table["left"] == [[5, round(at(400).timestamp() * 1000)]]
    assert len(kept.table["pauses"]) == PAUSES_MAX
    assert kept.table["pauses"][-1] == [round(at(500 + PAUSES_MAX + 5).timestamp() * 1000), PAUSES_MAX + 5]
    assert len(kept.moves) == 20
    assert loads(dumps(kept)) == kept


def broken(rows: list[tuple[Body, datetime]], number: int, body: Body) -> list[tuple[Body, datetime]]:
    """The journal with another body in the place of decision `number`."""
    place = [index for index, (each, _) in enumerate(rows) if isinstance(each, Moved)][number]
    return [*rows[:place], (body, rows[place][1]), *rows[place + 1 :]]


@pytest.mark.parametrize(
    "body",
    [
        Moved(0, 0, 11, "", [["no such event"]]),
        Moved(0, 0, 11, "", []),
        Moved(0, 3, 11, "", [["bid", 0, 0]]),
        Moved(0, 0, 12, "", [["bid", 0, 0]]),
        Moved(5, 0, 11, "", [["play", 5, 14]]),
        Resumed(1),
    ],
    ids=["unknown event", "no event", "no actor", "a gap", "another's turn", "a missing row"],
)
def test_p70_a_game_called_off_shows_what_stood_before_its_fault_and_no_result(body: Body) -> None:
    _, rows = journal(30)
    kept = called_off(TABLE_ID, OPENED, broken(rows, 11, body), at(99), "unfoldable_journal")
    assert in_record(kept) == decided(rows)[:11]
    plain = json.loads(dumps(kept))
    assert (plain["result"], plain["secret"]) == (None, OPENED.secret.hex())
    assert (plain["table"]["status"], plain["table"]["reason"]) == ("voided", "unfoldable_journal")
    assert from_json(plain) == kept


def test_p70_a_game_called_off_at_its_very_end_has_no_result_either() -> None:
    _, rows = journal()
    kept = called_off(TABLE_ID, OPENED, rows, at(999), "fault")
    assert in_record(kept) == decided(rows)[:-1]
    assert played(kept).result is None


def test_a_row_that_cannot_be_read_is_an_error_for_a_game_that_was_played_out() -> None:
    _, rows = journal()
    with pytest.raises((LookupError, ValueError, TypeError, UnknownRulesVersion)):
        record(TABLE_ID, OPENED, broken(rows, 11, Moved(0, 0, 11, "", [["no such event"]])), at(99))


@pytest.mark.parametrize("body", [encode_body(Moved(0, 0, 0, "", [["no such event"]])), b"\xc1"], ids=["move", "junk"])
async def test_p70_p72_who_played_a_voided_game_is_shown_its_secret_and_how_far_it_went(
    cluster: Cluster, body: bytes
) -> None:
    async with cluster.worker(dies=True) as first:
        table, [account] = await first.create()
        gateway = Gateway(first.gateway)
        player = Player(gateway, table, account, conn=1)
        await player.play_on(moves=2)
        await gateway.until(lambda: player.acks() == 2)
        await gateway.close()
    before = await cluster.rows(table)
    await cluster.query(
        "update tables.table_log set body = :body where table_id = :id and seq = :seq",
        body=body, id=as_id(table), seq=before[-1].seq,
    )  # fmt: skip
    # What a checkpoint stands behind is not read again when the table is folded.
    await cluster.query("update tables.table_head set checkpoint_seq = 1 where table_id = :id", id=as_id(table))
    async with cluster.worker() as second:
        await cluster.until("select 1 from tables.game_record where table_id = :id", id=as_id(table))
        stub = tables_pb2_grpc.TablesServiceStub(second.gateway.channel)
        found = await second.gateway.call(stub.Record, tables_pb2.RecordRequest(table_id=table, account_id=account))
    plain = json.loads(found.record_json)
    kept = from_json(plain)
    assert plain["result"] is None and kept.secret is not None
    assert (plain["table"]["status"], plain["table"]["reason"]) == ("voided", "unfoldable_journal")
    # Of a row that is no entry at all, nothing but the opening is left to read.
    people = sum(one.by is model.By.PERSON for one in kept.moves)
    assert (len(kept.moves) >= 2 and people >= 1) if body != b"\xc1" else kept.moves == ()
    assert await cluster.events(table) == ["game_started", "game_voided"]


async def test_a_record_that_does_not_play_again_costs_nobody_the_game(cluster: Cluster) -> None:
    async with cluster.worker() as worker:
        table, [account] = await worker.create()
        gateway = Gateway(worker.gateway)
        player = Player(gateway, table, account, conn=1)
        await player.play_on(moves=2)
        rows = [(row.seq, decode_body(bytes(row.body))) for row in await cluster.rows(table)]
        seq, move = next((seq, body) for seq, body in rows if isinstance(body, Moved))
        [kind, seat, _] = move.events[0]
        too_high = Moved(move.seat, move.by, move.turn, move.req, [[kind, seat, 9]])
        await cluster.query(
            "update tables.table_log set body = :body where table_id = :id and seq = :seq",
            body=encode_body(too_high), id=as_id(table), seq=seq,
        )  # fmt: skip
        await player.play_on()
        [over] = await gateway.until(lambda: player.seen.of(frames.Over))
        assert (over.status, len(over.secret)) == ("finished", 64)
        [row] = await cluster.query(
            "select payload from tables.event where key = :key and type = 'game_finished'", key=table
        )
        finished = events_pb2.TablesEvent.FromString(bytes(row.payload)).game_finished
        assert finished.record_json == ""
        assert sorted(each.place for each in finished.seats) == [1, 2, 3, 4, 5, 6]
        stub = tables_pb2_grpc.TablesServiceStub(worker.gateway.channel)
        with pytest.raises(DomainError, match="TABLE_UNKNOWN"):
            await worker.gateway.call(stub.Record, tables_pb2.RecordRequest(table_id=table, account_id=account))
        await gateway.close()


async def test_p8_a_record_says_who_left(cluster: Cluster) -> None:
    async with cluster.worker() as worker:
        table, [account] = await worker.create()
        gateway = Gateway(worker.gateway)
        player = Player(gateway, table, account, conn=1)
        await gateway.until(player.may_move)
        gateway.send(link.Vacate(table, account, 1, "bye"))
        await cluster.until("select 1 from tables.game_record where table_id = :id", id=as_id(table))
        stub = tables_pb2_grpc.TablesServiceStub(worker.gateway.channel)
        found = await worker.gateway.call(stub.Record, tables_pb2.RecordRequest(table_id=table, account_id=account))
        kept = loads(found.record_json)
        [snapshot] = player.seen.of(frames.Snapshot)
        assert kept.table is not None and kept.secret is not None
        [[seat, when]] = kept.table["left"]
        assert kept.table["seats"][seat]["account"] == account.hex()
        assert kept.table["started_at"] <= when <= kept.table["finished_at"]
        assert fair.commitment(kept.secret).hex() == snapshot.commitment
        await gateway.close()


async def test_p72_a_record_asked_for_while_the_game_ends_is_not_there_yet_but_never_unknown(cluster: Cluster) -> None:
    database = Database.open(cluster.url, "tables")

    class Overtaken(TablesTransaction):
        """Another transaction ends the game between two looks of this one."""

        async def record(self, asked: UUID) -> tuple[list[bytes], bytes] | None:
            found = await super().record(asked)
            async with Store(database, TablesTransaction, SystemEntropy()).transaction() as other:
                await other.end(asked, 1, games.PLAYED_OUT)
            return found

    try:
        async with cluster.worker() as worker:
            table, accounts = await worker.create()
            with pytest.raises(GameRunning):
                await games.fetch_record(
                    UUID(bytes=table), accounts[0], store=Store(database, Overtaken, SystemEntropy())
                )
    finally:
        await database.close()
