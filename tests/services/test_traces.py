"""P81: one trace from the socket's frame through gRPC, the journal and the events to the last consumer."""

import asyncio
import os
import re
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from uuid import UUID, uuid4

import pytest
from msgspec import UnsetType
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import TraceFlags
from starlette.types import Message, Receive, Scope, Send

from libs.chassis.clock import SystemClock
from libs.chassis.db import Database, Store
from libs.chassis.entropy import SystemEntropy
from libs.chassis.errors import DomainError
from libs.chassis.events.memory import MemoryBus
from libs.chassis.events.relay import Relay
from libs.chassis.settings import load_settings
from libs.chassis.telemetry.tracing import configure_tracing, current_traceparent, span
from libs.engine import bots
from libs.engine.cards import CARD_BY_TEXT
from libs.wire import frames
from services.gateway.http.edge import Edge
from services.gateway.limits import Limits
from services.gateway.settings import GatewaySettings
from tests.chassis.sample import MIGRATIONS, Reader, SampleTransaction, message
from tests.conftest import MakeDatabase
from tests.services.gateway.world import Player as SocketPlayer
from tests.services.gateway.world import staged
from tests.services.tables.conftest import Cluster, Gateway, Player, clustered, eventually
from whist.tables.v1 import tables_pb2, tables_pb2_grpc

STAGES = {"tables.decide", "tables.journal", "tables.fanout"}


def fresh_trace() -> str:
    """A trace that somebody decided to record."""
    return f"00-{os.urandom(16).hex()}-{os.urandom(8).hex()}-01"


def trace_of(traceparent: str) -> int:
    return int(traceparent.split("-")[1], 16)


class Recorded:
    """The spans that have ended so far."""

    def __init__(self, exporter: InMemorySpanExporter) -> None:
        self._exporter = exporter

    def of(self, trace: int) -> dict[str, ReadableSpan]:
        """By name, those of one trace."""
        return {each.name: each for each in self.all() if each.context is not None and each.context.trace_id == trace}

    def all(self) -> Sequence[ReadableSpan]:
        return self._exporter.get_finished_spans()

    async def until(self, trace: int, *names: str) -> dict[str, ReadableSpan]:
        """The trace, as soon as it has spans of these names."""

        async def complete() -> dict[str, ReadableSpan]:
            found = self.of(trace)
            return found if set(names) <= found.keys() else {}

        return await eventually(complete)


@pytest.fixture(scope="module")
def exporter() -> InMemorySpanExporter:
    """The process's only one: a tracer provider is set once. Nothing is recorded that was not decided before."""
    exporter = InMemorySpanExporter()
    configure_tracing("tests", "", 0.0, processor=SimpleSpanProcessor(exporter))
    return exporter


@pytest.fixture
def recorded(exporter: InMemorySpanExporter) -> Iterator[Recorded]:
    exporter.clear()
    yield Recorded(exporter)
    # What is recorded can be exported: a root that was made by hand has all that the protocol asks for.
    encode_spans(exporter.get_finished_spans())


@pytest.fixture(scope="module")
async def cluster(make_database: MakeDatabase) -> AsyncIterator[Cluster]:
    async with clustered(make_database) as made:
        yield made


def parent_of(child: ReadableSpan) -> int:
    assert child.parent is not None
    return int(child.parent.span_id)


def id_of(each: ReadableSpan) -> int:
    assert each.context is not None
    return int(each.context.span_id)


async def own_turn(player: SocketPlayer) -> tuple[int, dict[str, object]]:
    """Read until this player is to act; returns the turn and a legal move."""
    while True:
        async with asyncio.timeout(10):
            frame = frames.decode_server.decode(await player.socket.recv())
        if isinstance(frame, frames.Private) and not isinstance(frame.legal, UnsetType):
            return frame.turn, frame.legal[0]


async def test_a_sampled_move_is_one_trace_from_the_socket_to_the_fan_out(cluster: Cluster, recorded: Recorded) -> None:
    account = uuid4()
    with tempfile.TemporaryDirectory(prefix="wt-") as folder:
        async with (
            cluster.worker() as worker,
            staged(Path(folder), tables_target=worker.address, otlp_endpoint="127.0.0.1:1", trace_ratio=1.0) as stage,
            stage.player(account) as player,
        ):
            person = tables_pb2.Player(account_id=account.bytes, name="P", guest=True, room=1)
            table, _ = await worker.create(players=[person])
            await player.say(frames.Join(table=table.hex()))
            snapshot = await player.hear(frames.Snapshot)
            if "legal" in snapshot.view:
                turn, action = snapshot.view["turn"], bots.choose("romanian", snapshot.view)
            else:
                turn, action = await own_turn(player)
            await player.act("mine", table.hex(), turn, **action)

            async def moves() -> list[ReadableSpan]:
                return [each for each in recorded.all() if each.name == "move"]

            [move] = await eventually(moves)
            assert move.context is not None
            trace = await recorded.until(move.context.trace_id, "move", *STAGES)
            assert move.parent is None, "the socket's frame is where the trace begins"
            assert {parent_of(trace[name]) for name in STAGES} == {id_of(move)}
            for each in trace.values():
                assert each.start_time is not None and each.end_time is not None
                assert each.start_time <= each.end_time


async def test_what_sampled_moves_publish_belongs_to_their_traces(cluster: Cluster, recorded: Recorded) -> None:
    async with cluster.worker() as worker:
        table, accounts = await worker.create(people=6)
        gateway = Gateway(worker.gateway)
        players = [Player(gateway, table, account, conn) for conn, account in enumerate(accounts, 1)]
        traces: list[str] = []

        def next_trace() -> str:
            traces.append(fresh_trace())
            return traces[-1]

        for player in players:
            player.trace = next_trace
        await asyncio.gather(*(player.play_on() for player in players))
        await gateway.close()
    published = await cluster.query(
        "select type, traceparent from tables.event where key = :key order by occurred_at, event_id", key=table
    )
    assert [row.type for row in published] == ["game_started", *["round_ended"] * 6, "game_finished"]
    sent = [trace_of(each) for each in traces]
    rounds = [trace_of(row.traceparent) for row in published[1:-1]]
    assert set(rounds) <= set(sent), "a round's end is the doing of its last card"
    assert len(set(rounds)) == 6
    assert trace_of(published[-1].traceparent) == rounds[-1] == sent[-1]
    assert STAGES | {"tables.close"} == recorded.of(sent[-1]).keys()


async def test_p71_no_span_of_a_game_names_a_card_or_a_person(cluster: Cluster, recorded: Recorded) -> None:
    async with cluster.worker() as worker:
        table, accounts = await worker.create(people=6)
        gateway = Gateway(worker.gateway)
        players = [Player(gateway, table, account, conn) for conn, account in enumerate(accounts, 1)]
        traces = [fresh_trace() for _ in players]
        for player, trace in zip(players, traces, strict=True):
            player.trace = trace.__str__
        await asyncio.gather(*(player.play_on() for player in players))
        await gateway.close()
    spans = [
        each for trace in traces for each in recorded.all() if each.context and each.context.trace_id == trace_of(trace)
    ]
    assert len(spans) > 100
    said = " ".join(f"{each.name} {dict(each.attributes or {})} {each.events} {each.status}" for each in spans)
    assert not re.search(rf"\b({'|'.join(CARD_BY_TEXT)})\b", said)
    assert not [account for account in (table, *accounts) if account.hex() in said]


async def test_a_move_that_is_not_sampled_leaves_no_span_and_no_trace(cluster: Cluster, recorded: Recorded) -> None:
    async with cluster.worker() as worker:
        table, [account] = await worker.create()
        gateway = Gateway(worker.gateway)
        player = Player(gateway, table, account, conn=1)
        player.trace = lambda: fresh_trace()[:-1] + "0"
        await player.play_on()
        await gateway.close()
    assert recorded.all() == ()
    published = await cluster.query("select traceparent from tables.event where key = :key", key=table)
    asked = [int(row.traceparent[-2:], 16) & TraceFlags.SAMPLED for row in published if row.traceparent]
    assert not any(asked), "nothing that is published asks for recording"


async def test_a_request_is_a_span_of_its_own_around_all_it_calls(recorded: Recorded) -> None:
    inside: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        scope["route"] = SimpleNamespace(path="/v1/rooms")
        inside.append(current_traceparent())
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message["type"])

    sent: list[str] = []
    clock = SystemClock()
    edge = Edge(
        app,
        limits=Limits(load_settings(GatewaySettings), clock),
        clock=clock,
        entropy=SystemEntropy(),
        trusted_proxies=0,
    )
    forged = fresh_trace()
    scope = {"type": "http", "method": "GET", "client": ("192.0.2.1", 1), "path": "/v1/rooms", "query_string": b"",
             "headers": [(b"traceparent", forged.encode())]}  # fmt: skip
    began = fresh_trace()
    with span("outside", began):
        await edge(scope, receive, send)
    trace = await recorded.until(trace_of(began), "outside", "GET /v1/rooms")
    assert [each.split("-")[2] for each in inside] == [f"{id_of(trace['GET /v1/rooms']):016x}"]
    assert sent == ["http.response.start", "http.response.body"]
    assert not recorded.of(trace_of(forged)), "who asks from outside does not decide what is recorded"


async def test_a_call_under_a_span_goes_on_in_the_callee(cluster: Cluster, recorded: Recorded) -> None:
    async with cluster.worker() as worker:
        stub = tables_pb2_grpc.TablesServiceStub(worker.gateway.channel)
        began = fresh_trace()
        with span("caller", began), pytest.raises(DomainError):
            await worker.gateway.call(stub.Locate, tables_pb2.LocateRequest(table_id=uuid4().bytes))
        trace = await recorded.until(trace_of(began), "caller", "Locate")
        assert parent_of(trace["Locate"]) == id_of(trace["caller"])


async def test_an_event_published_under_a_span_is_consumed_in_its_trace(
    make_database: MakeDatabase, recorded: Recorded
) -> None:
    database = Database.open(await make_database(MIGRATIONS), "sample", pool=3)
    try:
        bus = MemoryBus()
        relay = Relay(database, bus)
        store = Store(database, SampleTransaction, SystemEntropy(), relay.wake)
        heard: list[str] = []

        async def before(_key: bytes, _number: int) -> None:
            heard.append(current_traceparent())

        bus.subscribe(Reader(store, "traces", before).subscription)
        began, key = fresh_trace(), UUID(int=7).bytes
        with span("publisher", began):
            async with store.transaction() as tx:
                await tx.publish("traces", key, message(key, 1))
        assert await relay.step() == 1
        trace = await recorded.until(trace_of(began), "publisher", "consume level_reached")
        assert parent_of(trace["consume level_reached"]) == id_of(trace["publisher"])
        assert [trace_of(each) for each in heard] == [trace_of(began)]
    finally:
        await database.close()
