"""B32: random bytes and almost right messages at every entry. Each is refused or done; nothing breaks or moves."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import grpc
import httpx
from google.protobuf.descriptor import Descriptor
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from libs.chassis.entropy import SystemEntropy
from libs.client import Whist
from libs.wire import frames
from services.allinone.home import Home
from tests.chaos.logs import logged
from tests.chaos.noise import a_batch, a_frame, any_message, noise, nonsense
from tests.chaos.scenario import Run, scenario
from tests.e2e.conftest import UNLIMITED, Embedded, embedded, own_folder
from tests.e2e.rogue import bearer, rogue, socket_url
from tests.e2e.story import moves_in, play
from tests.services.gateway.world import staged

SERVICES = ("auth", "wallet", "leagues", "coach", "tables", "matchmaking")
MILLION = {"frame decoder": 800_000, "gRPC methods": 120_000, "Play stream": 20_000, "REST": 30_000, "sockets": 30_000}
SMALL = {"frame decoder": 3_000, "gRPC methods": 1_000, "Play stream": 60, "REST": 200, "sockets": 200}
AT_ONCE = 32
CALL_SECONDS = 10.0
FAULTS = re.compile(
    r"rpc_failed|message_failed|request_failed|task_failed|job_failed|decide_failed|entry_done_failed|Traceback"
)


async def at_the_frame_decoder(rng: Random, count: int, folder: Path) -> Counter[str]:
    """Frames of a signed-in socket, handed to the gateway as picows does."""
    counted: Counter[str] = Counter()
    with logged() as lines:
        await _frames(rng, count, folder, counted)
    assert not (found := [line for line in lines if FAULTS.search(line)]), found[:3]
    return counted


async def _frames(rng: Random, count: int, folder: Path, counted: Counter[str]) -> None:
    async with staged(folder, socket_rate=0, rate_chat="") as stage:
        sent: list[bytes] = []
        closed: list[int] = [0]
        for _ in range(count):
            if closed:
                connection = stage.gateway.hub.connection()
                connection.account_id = uuid4().bytes
                connection.send = sent.append  # type: ignore[method-assign, assignment]
                connection.write = lambda whole, count=1: None  # type: ignore[method-assign]
                connection.close = lambda code, why="": closed.append(code)  # type: ignore[method-assign]
                counted.update(f"close {code}" for code in closed if code)
                closed.clear()
                await asyncio.sleep(0)
            connection._take(a_frame(rng), 0.0)
            if sent:
                answer = frames.decode_server.decode(sent.pop())
                counted[answer.reason if isinstance(answer, frames.Error) else type(answer).__name__] += 1
            sent.clear()


def every_method() -> list[tuple[str, str, str, Descriptor]]:
    """(service, full method, a caller that may use it, its request) of every unary or server-streaming method."""
    found = []
    for name in SERVICES:
        wiring = import_module(f"services.{name}.wiring")
        contract = import_module(f"whist.{name}.v1.{name}_pb2")
        [service] = contract.DESCRIPTOR.services_by_name.values()
        for method in service.methods:
            full = f"/{service.full_name}/{method.name}"
            for caller in sorted(wiring.ALLOW.get(full, ()))[:1]:
                if not method.client_streaming:
                    found.append((name, full, caller, method.input_type))
    return found


async def at_the_services(run: Embedded, rng: Random, count: int) -> Counter[str]:
    """Every gRPC method of every service, by callers that may use it."""
    methods, counted, gate = every_method(), Counter[str](), asyncio.Semaphore(AT_ONCE)
    sockets, broken = Home(run.data, SystemEntropy()).sockets, dict[str, bytes]()
    async with asyncio.TaskGroup() as group:
        channels = {name: grpc.aio.insecure_channel(f"unix:{sockets}/{name}.sock") for name in SERVICES}

        async def call(name: str, method: str, caller: str, payload: bytes) -> None:
            # A stream's first answer is enough; a unary call is a stream of one.
            stream: Any = channels[name].unary_stream(method)
            started = stream(payload, timeout=CALL_SECONDS, metadata=(("whist-caller", caller),))
            try:
                await asyncio.wait_for(started.read(), 0.5)
                counted["answered"] += 1
            except TimeoutError:
                counted["nothing to tell yet"] += 1
            except grpc.aio.AioRpcError as error:
                counted[f"{error.code().name}"] += 1
                if error.details() == "INTERNAL":
                    broken[method] = payload
            finally:
                started.cancel()
                gate.release()

        for number in range(count):
            name, method, caller, request = methods[number % len(methods)]
            good = any_message(request, rng).SerializeToString()
            await gate.acquire()
            group.create_task(call(name, method, caller, noise(rng, good) if rng.random() < 0.4 else good))
        for _ in range(AT_ONCE):
            await gate.acquire()
        for channel in channels.values():
            await channel.close()
    assert not broken, {method: payload[:200] for method, payload in broken.items()}
    counted["methods"] = len(methods)
    return counted


async def at_the_stream(run: Embedded, rng: Random, count: int) -> Counter[str]:
    """Batches on the stream between gateway and worker; a broken one ends its stream and no other."""
    counted: Counter[str] = Counter()
    contract = import_module("whist.tables.v1.tables_pb2")
    stub = import_module("whist.tables.v1.tables_pb2_grpc")
    sockets = Home(run.data, SystemEntropy()).sockets
    async with grpc.aio.insecure_channel(f"unix:{sockets}/tables.sock") as channel:
        for _ in range(count):
            stream = stub.TablesServiceStub(channel).Play(metadata=(("whist-caller", "gateway"),))
            await stream.write(contract.PlayRequest(batch=a_batch(rng)))
            await stream.done_writing()
            try:
                async with asyncio.timeout(CALL_SECONDS):
                    answers = [answer async for answer in stream]
                counted["answered" if answers else "ended"] += 1
            except grpc.aio.AioRpcError as error:
                counted[error.code().name] += 1
                assert error.details() != "INTERNAL"
    return counted


async def at_rest(run: Embedded, rng: Random, count: int, who: Whist) -> Counter[str]:
    """Every route with a body or a query, as JSON, as noise, and with nonsense in its fields."""
    counted: Counter[str] = Counter()
    async with httpx.AsyncClient(base_url=run.url, timeout=30) as client:
        document = (await client.get("/openapi.json")).json()
        routes = [(method.upper(), route) for route, methods in document["paths"].items() for method in methods]
        names = sorted(
            {name for schema in document["components"]["schemas"].values() for name in schema.get("properties", {})}
        )

        broken: dict[str, str] = {}

        async def ask(number: int) -> None:
            method, route = routes[number % len(routes)]
            path = re.sub(r"{\w+}", lambda _: rng.choice((uuid4().hex, "0" * 32, "x", "%00", "-1")), route)
            body = {name: nonsense(rng) for name in rng.sample(names, rng.randint(0, 6))}
            raw = json.dumps(body).encode()
            content = noise(rng, raw) if rng.random() < 0.4 else raw
            answer = await client.request(
                method, path, content=content, headers={"Content-Type": "application/json"},
                params={rng.choice(("limit", "before", "x")): str(nonsense(rng))[:200]},
            )  # fmt: skip
            counted[str(answer.status_code)] += 1
            if answer.status_code >= 500:
                broken[f"{method} {path}"] = f"{content[:200]!r} {answer.text}"

        for start in range(0, count, AT_ONCE):
            client.headers.update(await bearer(who))
            await asyncio.gather(*(ask(number) for number in range(start, min(count, start + AT_ONCE))))
        assert not broken, broken
        counted["routes"] = len(routes)
    return counted


async def at_sockets(run: Embedded, rng: Random, count: int, who: Whist) -> Counter[str]:
    """Frames over real sockets, until each is closed for its bad frames."""
    counted: Counter[str] = Counter()
    url = await socket_url(run.url)
    sent = 0
    while sent < count:
        async with connect(url, compression=None, max_queue=None) as socket:
            if rng.random() < 0.5:
                await socket.send(frames.encode(frames.Hello(token=await who._session.access_token())))
            try:
                for _ in range(12):
                    await socket.send(a_frame(rng))
                    sent += 1
            except ConnectionClosed:
                counted["sent too late"] += 1
        counted[f"close {socket.close_code}"] += 1
    return counted


def _total(counted: Counter[str]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in counted.most_common(8))


async def noise_everywhere(run: Run, counts: dict[str, int]) -> None:
    """So many messages at each entry of a running product, at which somebody plays a game meanwhile."""
    with own_folder() as folder:
        async with embedded(folder / "run", **UNLIMITED, WHIST_SOCKET_RATE="0") as product:
            async with Whist.connect(product.url) as whist, Whist.connect(product.url) as other:
                table = await whist.quick_game()
                playing = asyncio.create_task(play(table))
                before = await whist.wallet()
                await _attacked(run, product, other, counts, folder)
                played = await asyncio.wait_for(playing, 120)
                record = await whist.record(table.id)
                assert moves_in(record, whist.account["account_id"]) == played.acknowledged
                after = await whist.wallet()
                assert after["coins"] - before["coins"] in (0, 55, 70, 100), (before, after)
                async with rogue(product.url, await whist._session.access_token()) as socket:
                    await socket.say(frames.Ping(n=7))
                    await socket.hear(frames.Pong, n=7)
            faults = FAULTS.findall(product.log.read_text())
            assert not faults, Counter(faults)
    run.held(f"{sum(counts.values()):,} messages, no 5xx, no fault in the log, the process lives and answers")
    run.held(f"a game played meanwhile lost none of its {len(played.acknowledged)} moves; the purse holds what it won")


async def _attacked(run: Run, product: Embedded, other: Whist, counts: dict[str, int], folder: Path) -> None:
    """Entry by entry; `other` is whose name REST and sockets are tried in, by tokens that are fresh."""
    rng = run.random
    attacks: dict[str, Callable[[int], Awaitable[Counter[str]]]] = {
        "frame decoder": lambda count: at_the_frame_decoder(rng, count, folder),
        "gRPC methods": lambda count: at_the_services(product, rng, count),
        "Play stream": lambda count: at_the_stream(product, rng, count),
        "REST": lambda count: at_rest(product, rng, count, other),
        "sockets": lambda count: at_sockets(product, rng, count, other),
    }
    for name, attack in attacks.items():
        counted = await attack(counts[name])
        run.inject(f"{counts[name]:,} at the {name}: {_total(counted)}")
    assert product.process.returncode is None, "it crashed"


@scenario("B32", "random bytes and almost right messages at every entry")
async def b32(run: Run) -> None:
    await noise_everywhere(run, SMALL if run.small else MILLION)
