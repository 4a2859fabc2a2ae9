"""Starting, keeping jobs going, draining in order, stopping; and the commands of every `__main__`."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from structlog.testing import capture_logs

from libs.chassis.db import Database, Store
from libs.chassis.errors import DomainError
from libs.chassis.events.memory import MemoryBus
from libs.chassis.rpc.peer import Peer
from libs.chassis.run import address_of, running, running_together
from libs.chassis.service import Chassis, Job, Service, Spec
from libs.chassis.settings import ServiceSettings
from libs.chassis.telemetry.metrics import job_failures, job_last_success, metrics_listener
from services.coach.wiring import MIGRATIONS as COACH_MIGRATIONS
from tests.chassis.sample import MIGRATIONS, Reader, SampleTransaction, message, rows, until
from tests.chassis.test_rpc import HINT, Behaviour
from tests.conftest import MakeDatabase
from whist.coach.v1.coach_pb2 import HintRequest
from whist.coach.v1.coach_pb2_grpc import CoachServiceStub, add_CoachServiceServicer_to_server

SERVING, NOT_SERVING = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING
ROOT = Path(__file__).parents[2]


def spec_of(**service: Any) -> Spec[ServiceSettings]:
    built = Service(
        registrars=[partial(add_CoachServiceServicer_to_server, Behaviour())],
        allow={HINT: frozenset({"gateway"})},
        **service,
    )
    return Spec(name="sample", settings=ServiceSettings, wire=lambda _: built)


async def health(target: str, part: str) -> int:
    async with grpc.aio.insecure_channel(target) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        answer = await stub.Check(health_pb2.HealthCheckRequest(service=part), timeout=3)
    return int(answer.status)


async def test_calls_are_served_while_draining_and_not_ready_is_said_before(tmp_path: Path) -> None:
    target = f"unix:{tmp_path}/s"
    story: list[tuple[object, ...]] = []
    peer = Peer(target, "gateway")
    stub = CoachServiceStub(peer.channel)

    async def start() -> None:
        story.append(("start", await health(target, "ready"), await health(target, "live")))

    async def drain() -> None:
        served = (await peer.call(stub.Hint, HintRequest())).turn
        story.append(("drain", await health(target, "ready"), await health(target, "live"), served))

    async def close() -> None:
        with pytest.raises(DomainError) as refused:
            await peer.call(stub.Hint, HintRequest(), seconds=1, tries=1)
        story.append(("close", refused.value.reason))

    spec = spec_of(start=start, drain=drain, close=close)
    settings = ServiceSettings(grpc_listen=target)
    async with spec.open(settings, bus=MemoryBus()) as (chassis, service), running(spec, chassis, service):
        story.append(("serve", await health(target, "ready"), chassis.address))
    await peer.close()
    assert story == [
        ("start", NOT_SERVING, SERVING),
        ("serve", SERVING, target),
        ("drain", NOT_SERVING, SERVING, 7),
        ("close", "UNAVAILABLE"),
    ]


async def test_a_drain_that_hangs_is_cut_off(tmp_path: Path) -> None:
    closed = asyncio.Event()

    async def close() -> None:
        closed.set()

    spec = spec_of(drain=asyncio.Event().wait, close=close)
    settings = ServiceSettings(grpc_listen=f"unix:{tmp_path}/s", drain_seconds=0.05)
    async with spec.open(settings, bus=MemoryBus()) as (chassis, service), running(spec, chassis, service):
        pass
    assert closed.is_set()


async def test_a_drain_that_fails_does_not_keep_the_service_from_closing(tmp_path: Path) -> None:
    closed = asyncio.Event()

    async def drain() -> None:
        raise OSError("the database is away")

    async def close() -> None:
        closed.set()

    spec = spec_of(drain=drain, close=close)
    settings = ServiceSettings(grpc_listen=f"unix:{tmp_path}/s")
    with capture_logs() as logs:
        async with spec.open(settings, bus=MemoryBus()) as (chassis, service), running(spec, chassis, service):
            pass
    assert closed.is_set()
    assert [line["event"] for line in logs if line["log_level"] == "error"] == ["drain_failed"]
    with pytest.raises(grpc.aio.AioRpcError):
        await health(settings.grpc_listen, "live")


async def test_a_start_that_fails_leaves_no_listener(tmp_path: Path) -> None:
    closed = asyncio.Event()

    async def start() -> None:
        raise ValueError("cannot start")

    async def close() -> None:
        closed.set()

    spec = spec_of(start=start, close=close)
    target = f"unix:{tmp_path}/s"
    async with spec.open(ServiceSettings(grpc_listen=target), bus=MemoryBus()) as (chassis, service):
        with pytest.raises(ExceptionGroup) as failed:
            async with running(spec, chassis, service):
                pass
    assert failed.group_contains(ValueError, match="cannot start")
    assert closed.is_set()
    with pytest.raises(grpc.aio.AioRpcError):
        await health(target, "live")


async def test_a_job_that_raises_comes_again_and_is_counted(tmp_path: Path) -> None:
    runs, recovered = 0, asyncio.Event()

    async def job() -> None:
        nonlocal runs
        runs += 1
        if runs < 3:
            raise ValueError("not yet")
        recovered.set()

    counter = job_failures.labels("sample", "faulty")
    before = counter._value.get()
    spec = spec_of(jobs=[Job(name="faulty", run=job, every_seconds=0.01)])
    settings = ServiceSettings(grpc_listen=f"unix:{tmp_path}/s")
    async with spec.open(settings, bus=MemoryBus()) as (chassis, service), running(spec, chassis, service):
        async with asyncio.timeout(10):
            await recovered.wait()
    assert counter._value.get() == before + 2


async def test_a_job_without_a_period_runs_once_to_its_end(tmp_path: Path) -> None:
    runs = 0
    turns = asyncio.Event()

    async def once() -> None:
        nonlocal runs
        runs += 1

    async def turn() -> None:
        if job_last_success.labels("sample", "once")._value.get():
            turns.set()

    spec = spec_of(jobs=[Job(name="once", run=once), Job(name="turn", run=turn, every_seconds=0.01)])
    settings = ServiceSettings(grpc_listen=f"unix:{tmp_path}/s")
    async with spec.open(settings, bus=MemoryBus()) as (chassis, service), running(spec, chassis, service):
        async with asyncio.timeout(10):
            await turns.wait()
    assert runs == 1


async def test_what_an_outbox_still_holds_reaches_a_service_that_starts_later(
    database: Database, store: Store[SampleTransaction], tmp_path: Path, new_topic: Callable[[], str]
) -> None:
    """Left there by a process that was killed between commit and relay."""
    topic, key = new_topic(), b"k" * 16
    reader = Reader(store, topic)
    async with store.transaction() as transaction:
        for number in range(3):
            await transaction.publish(topic, key, message(key, number))
    url = database.engine.url.render_as_string(hide_password=False)
    teller = Spec(name="sample", settings=ServiceSettings, wire=lambda _: Service(), migrations=MIGRATIONS)

    async def start() -> None:
        await until(lambda: sent(database, topic))

    slow = Spec(name="slow", settings=ServiceSettings, wire=lambda _: Service(start=start))
    later = Spec(name="later", settings=ServiceSettings, wire=lambda _: Service(subscriptions=[reader.subscription]))
    parts = [
        (teller, ServiceSettings(database_url=url, grpc_listen=f"unix:{tmp_path}/teller")),
        (slow, ServiceSettings(grpc_listen=f"unix:{tmp_path}/slow")),
        (later, ServiceSettings(grpc_listen=f"unix:{tmp_path}/later")),
    ]
    async with running_together(parts, MemoryBus(), {}):
        assert await sent(database, topic), "the relay was faster than the services that came later"
    assert await reader.notes(key) == [0, 1, 2]


async def sent(database: Database, topic: str) -> bool:
    return not await rows(database, "select 1 from sample.outbox where topic = :topic limit 1", topic=topic)


async def test_a_port_of_zero_is_replaced_by_the_one_given() -> None:
    spec = spec_of()
    settings = ServiceSettings(grpc_listen="127.0.0.1:0", health_listen="127.0.0.1:0")
    async with spec.open(settings, bus=MemoryBus()) as (chassis, service), running(spec, chassis, service) as server:
        assert chassis.address == f"127.0.0.1:{server.port}"
        assert await health(chassis.address, "ready") == SERVING
        assert await health(f"127.0.0.1:{server.health_port}", "ready") == SERVING


def test_an_address_on_a_socket_is_itself() -> None:
    assert address_of("unix:/a/b", 0) == "unix:/a/b"
    assert address_of("[::1]:0", 7) == "[::1]:7"


def test_the_metrics_listener_answers_and_goes() -> None:
    with metrics_listener("127.0.0.1:0") as port:
        found = subprocess.run(
            [sys.executable, "-c", f"import urllib.request as u; print(u.urlopen('http://127.0.0.1:{port}/metrics').read())"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert "whist_rpc_seconds" in found.stdout
    with metrics_listener("") as none:
        assert none == 0


def command(service: str, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", f"services.{service}", *words], cwd=ROOT, capture_output=True, text=True, timeout=60,
        check=False, env={"PATH": os.environ["PATH"], **environment},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("service", "words", "environment", "told"),
    [
        ("coach", ("dance",), {}, "usage: python -m services.coach [serve|migrate|check]"),
        ("coach", ("check", "twice"), {}, "usage:"),
        ("coach", ("check",), {"WHIST_DATABASE_POOL": "many"}, "WHIST_DATABASE_POOL: "),
        ("coach", ("check",), {"WHIST_HINT_WORKERS": "0"}, "WHIST_HINT_WORKERS: "),
        ("coach", ("check",), {"WHIST_TLS_CERT": "/x"}, "WHIST_TLS_CERT, WHIST_TLS_KEY and WHIST_TLS_CA"),
        ("leagues", ("serve",), {}, "WHIST_KAFKA_BOOTSTRAP: "),
    ],
)
def test_p83_what_is_wrong_is_named_and_stops_the_start(
    service: str, words: tuple[str, ...], environment: dict[str, str], told: str
) -> None:
    done = command(service, *words, **environment)
    assert told in done.stderr
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr


async def test_sigterm_stops_a_process_cleanly(tmp_path: Path, make_database: MakeDatabase, kafka: str) -> None:
    target = f"unix:{tmp_path}/s"
    database_url = await make_database(COACH_MIGRATIONS)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "services.coach", "serve", cwd=ROOT, stderr=asyncio.subprocess.PIPE,
        env={
            "PATH": os.environ["PATH"], "WHIST_GRPC_LISTEN": target, "WHIST_DATABASE_URL": database_url,
            "WHIST_KAFKA_BOOTSTRAP": kafka,
        },
    )  # fmt: skip
    assert process.stderr is not None
    async with asyncio.timeout(30):
        while b"service_ready" not in (line := await process.stderr.readline()):
            assert line, "the process ended"
        assert await health(target, "ready") == SERVING
        process.send_signal(signal.SIGTERM)
        rest = await process.stderr.read()
        assert await process.wait() == 0
    assert b"service_stopped" in rest


def test_each_chassis_has_one_channel_a_target() -> None:
    async def ask() -> bool:
        chassis = Chassis("sample", ServiceSettings(), bus=MemoryBus())
        same = chassis.peer("a", "unix:/a") is chassis.peer("a", "unix:/a")
        await chassis.close()
        return same

    assert asyncio.run(ask())
