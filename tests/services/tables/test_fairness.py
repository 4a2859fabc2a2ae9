"""P70, P72: the commitment before the first card, the secret after the last, to players and spectators alike."""

import json
from collections.abc import AsyncIterator
from hashlib import sha256
from typing import Any
from uuid import uuid4

import pytest

from libs.engine.record.plain import loads
from libs.engine.record.replaying import played
from libs.wire import frames, link
from services.tables.domain.entries import Opened, decode_body
from tests.services.tables.conftest import Cluster, Gateway, Player, RunningWorker
from tests.services.tables.test_friends import Person, refused
from whist.tables.v1 import events_pb2, tables_pb2


@pytest.fixture(scope="module")
async def worker(cluster: Cluster) -> AsyncIterator[RunningWorker]:
    async with cluster.worker() as made:
        yield made


async def secret_of(cluster: Cluster, table: bytes) -> bytes:
    """As the journal keeps it and nobody else."""
    body = decode_body(bytes((await cluster.rows(table))[0].body))
    assert isinstance(body, Opened)
    return body.secret


async def events_of(cluster: Cluster, table: bytes) -> list[Any]:
    found = await cluster.query("select payload from tables.event where key = :key order by occurred_at", key=table)
    return [events_pb2.TablesEvent.FromString(bytes(row.payload)) for row in found]


def record_of(person: Person, table: bytes) -> Any:
    return person.call("Record", tables_pb2.RecordRequest(table_id=table, account_id=person.account))


@pytest.mark.parametrize("game", [("romanian", '{"mode":"8-1-8"}', 4), ("german", "{}", 2)], ids=lambda each: each[0])
async def test_p70_who_plays_and_who_watches_is_promised_the_deals_first_and_shown_the_secret_last(
    worker: RunningWorker, cluster: Cluster, game: tuple[str, str, int]
) -> None:
    name, options, players = game
    ana, zoe = Person(worker, "Ana"), Person(worker, "Zoe")
    table = (await ana.open(game=name, options_json=options, players=players)).table_id
    await ana.deal(table)
    secret = await secret_of(cluster, table)
    promise = sha256(secret).digest()
    [started] = await events_of(cluster, table)
    assert started.game_started.commitment == promise
    gateway = Gateway(worker.gateway)
    seen = [await Player(gateway, table, person.account, conn).joined() for conn, person in enumerate((ana, zoe), 1)]
    snapshots = [player.seen.of(frames.Snapshot)[0] for player in seen]
    assert [each.seat for each in snapshots] == [0, -1]
    assert {each.commitment for each in snapshots} == {promise.hex()}
    for person in (ana, zoe, Person(worker, "Eve")):
        assert await refused(record_of(person, table)) == "GAME_RUNNING"
    gateway.send(link.Vacate(table, ana.account, 1, "bye"))
    await gateway.until(lambda: all(player.finished() for player in seen), 60)
    overs = [player.seen.of(frames.Over)[0] for player in seen]
    assert [(over.status, over.secret) for over in overs] == [("finished", secret.hex())] * 2
    shown = [each for each in gateway.down if secret.hex() in str(each) or secret in link.encode_batch([each])]
    assert len(shown) == 1, "but for the last frame nobody was shown it"
    *before, finished = await events_of(cluster, table)
    assert not any(secret in each.SerializeToString() for each in before)
    kept = loads((await record_of(ana, table)).record_json)
    assert (kept.commitment, kept.secret) == (promise, secret)
    assert played(kept).result is not None and json.loads(finished.game_finished.record_json)["secret"] == secret.hex()
    for stranger in (zoe, Person(worker, "Eve")):
        assert await refused(record_of(stranger, table)) == "NOT_AT_TABLE"
    await gateway.close()


async def test_p70_a_deserted_game_is_called_off_and_its_spectator_shown_the_secret(cluster: Cluster) -> None:
    # A thousandth of the limits: deserted after 0.3 s; the bots take their time, so that the game is not over.
    async with cluster.worker(bot_pace_scale=1.0, turn_limit_scale=0.001) as worker:
        ana, zoe = Person(worker, "Ana"), Person(worker, "Zoe")
        table = (await ana.open()).table_id
        await ana.deal(table)
        gateway = Gateway(worker.gateway)
        watcher = gateway.follow(table, zoe.account, 1)
        await gateway.until(lambda: watcher.of(frames.Over))
        [over] = watcher.of(frames.Over)
        assert over.status == "voided"
        assert sha256(bytes.fromhex(over.secret)).hexdigest() == watcher.of(frames.Snapshot)[0].commitment
        assert loads((await record_of(ana, table)).record_json).secret == bytes.fromhex(over.secret)
        assert await refused(record_of(zoe, table)) == "NOT_AT_TABLE"
        await gateway.close()


async def test_p70_a_table_that_is_abandoned_was_never_dealt_and_has_nothing_to_show(
    worker: RunningWorker, cluster: Cluster
) -> None:
    table = uuid4().bytes
    stub = tables_pb2.AbandonRequest(table_id=table)
    rpc = Person(worker, "x")
    answer = await worker.matchmaking.call(rpc._stub.Abandon, stub)
    assert answer.outcome == tables_pb2.ABANDON_OUTCOME_ABANDONED
    assert await refused(worker.create(table_id=table)) == "TABLE_ABANDONED"
    assert await refused(record_of(rpc, table)) == "TABLE_UNKNOWN"
    assert await cluster.rows(table) == [] and await events_of(cluster, table) == []
