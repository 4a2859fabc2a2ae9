"""The run loop of a service: start, serve, drain on SIGTERM, stop. And the three commands of every `__main__`."""

import asyncio
import contextlib
import gc
import signal
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, TypeVar

import structlog
import uvloop

from libs.chassis.clock import Clock
from libs.chassis.events.bus import Bus
from libs.chassis.events.housekeeping import keep_event_tables
from libs.chassis.logs import configure_logs
from libs.chassis.rpc.server import Server
from libs.chassis.service import Chassis, Job, Service, Spec
from libs.chassis.settings import ServiceSettings, WrongSettings, load_settings
from libs.chassis.telemetry.hot import carry_cells
from libs.chassis.telemetry.metrics import (
    job_failures,
    job_last_success,
    loop_lag_seconds,
    metrics_listener,
)
from libs.chassis.telemetry.tracing import configure_tracing

log = structlog.get_logger()

S = TypeVar("S", bound=ServiceSettings)

LAG_PROBE_SECONDS = 0.5
CARRY_SECONDS = 1.0
RETRY_SECONDS = 1.0  # after a run of a job that raised; twice as long after each one more
LONGEST_RETRY_SECONDS = 60.0
SERVER_GRACE_SECONDS = 5.0  # for calls that run when everything is handed over
HOUSEKEEPING_SECONDS = 3600.0
# Containers made before the collector looks for cycles. Python's default of 700 makes it look all the time on a server
# whose objects reference counting frees.
COLLECT_EVERY = 50_000


@contextlib.asynccontextmanager
async def running(spec: Spec[S], chassis: Chassis[S], service: Service) -> AsyncIterator[Server]:
    """Serve inside the block; drain and stop at its end. The bus is run by whoever owns it.

    `service` has subscribed already, and so have all others on the same in-process bus (`Spec.open`).
    """
    server = Server(spec.name, service.allow, chassis.clock, chassis.tls)
    await server.start(chassis.settings.grpc_listen, service.registrars, chassis.settings.health_listen)
    chassis.address = address_of(chassis.settings.grpc_listen, server.port)
    async with asyncio.TaskGroup() as group:
        try:
            await service.start()
        except BaseException:
            await server.stop(0)
            await service.close()
            raise
        background = [group.create_task(_keep(spec.name, job, chassis.clock)) for job in _jobs(spec, chassis, service)]
        await server.ready()
        log.info("service_ready", service=spec.name, address=chassis.address)
        try:
            yield server
        finally:
            await _drain(spec.name, chassis.settings.drain_seconds, server, service)
            for task in background:
                task.cancel()
            await service.close()
            log.info("service_stopped", service=spec.name)


async def _drain(name: str, seconds: float, server: Server, service: Service) -> None:
    """Hand over, then stop serving. A hand-over that fails or takes too long is cut off: others do as after a crash."""
    try:
        async with asyncio.timeout(seconds):
            await server.ready(serving=False)
            await service.drain()
    except TimeoutError:
        log.warning("drain_cut_off", service=name, seconds=seconds)
    except Exception:  # the process's root: the stop goes on, whatever the hand-over met (CONTRIBUTING, style 3)
        log.exception("drain_failed", service=name)
    await server.stop(min(seconds, SERVER_GRACE_SECONDS))


@contextlib.asynccontextmanager
async def running_together(
    parts: Sequence[tuple[Spec[Any], Any]], bus: Bus, neighbours: dict[str, Any]
) -> AsyncIterator[None]:
    """Several services of one process on one bus, each (spec, settings), started in this order and stopped in reverse.

    All of them have subscribed before the first one's relay looks into its outbox: an in-process event counts as
    published when every subscribed consumer has had it, so one that the last run left there would be lost to a
    service that comes later.
    """
    async with contextlib.AsyncExitStack() as stack:
        opened = [
            (spec, *await stack.enter_async_context(spec.open(settings, bus=bus, neighbours=neighbours)))
            for spec, settings in parts
        ]
        for spec, chassis, service in opened:
            await stack.enter_async_context(running(spec, chassis, service))
        yield


def address_of(listen: str, port: int) -> str:
    """How others reach what listens there: a port 0 is replaced by the one that was given."""
    if listen.startswith("unix:"):
        return listen
    host, _, _ = listen.rpartition(":")
    return f"{host}:{port}"


def _jobs(spec: Spec[S], chassis: Chassis[S], service: Service) -> list[Job]:
    jobs = [
        *service.jobs,
        Job(name="loop_lag", run=lambda: _probe_lag(spec.name, chassis.clock)),
        Job(name="hot_metrics", run=carry_cells, every_seconds=CARRY_SECONDS),
    ]
    if spec.migrations is not None:
        jobs.append(Job(name="relay", run=chassis.relay.run))
        jobs.append(
            Job(
                name="event_tables",
                run=lambda: keep_event_tables(chassis.database),
                every_seconds=HOUSEKEEPING_SECONDS,
            )
        )
    return jobs


async def _keep(service: str, job: Job, clock: Clock) -> None:
    """Run a job for as long as it wants to run; what it raises is logged, counted and tried again."""
    pause = RETRY_SECONDS
    while True:
        try:
            await job.run()
            job_last_success.labels(service, job.name).set(clock.now().timestamp())
        except Exception:
            job_failures.labels(service, job.name).inc()
            log.exception("job_failed", service=service, job=job.name)
            await asyncio.sleep(min(pause, job.every_seconds or RETRY_SECONDS))
            pause = min(2 * pause, LONGEST_RETRY_SECONDS)
            continue
        if not job.every_seconds:
            return
        pause = RETRY_SECONDS
        await asyncio.sleep(job.every_seconds)


async def _probe_lag(service: str, clock: Clock) -> None:
    while True:
        before = clock.monotonic()
        await asyncio.sleep(LAG_PROBE_SECONDS)
        loop_lag_seconds.labels(service).set(max(0.0, clock.monotonic() - before - LAG_PROBE_SECONDS))


async def serve(spec: Spec[S], settings: S) -> None:
    """One service in this process until SIGTERM or SIGINT. Raises WrongSettings when it has events but no broker."""
    stop = stop_signal()
    async with spec.open(settings) as (chassis, service):
        if not settings.kafka_bootstrap and (spec.migrations or service.subscriptions or service.listeners):
            raise WrongSettings("WHIST_KAFKA_BOOTSTRAP: needed where services run in processes of their own")
        with metrics_listener(settings.metrics_listen):
            async with asyncio.TaskGroup() as group:
                async with running(spec, chassis, service):
                    calm_collector()
                    bus = group.create_task(chassis.bus.run())
                    await stop.wait()
                bus.cancel()


def calm_collector() -> None:
    """Once everything is loaded: what stands now is never looked through again, and what comes, less often.

    A full collection over the modules of all services takes 0.1 s of CPU, in which every table stands still.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_EVERY, 20, 100)


def stop_signal() -> asyncio.Event:
    """Set on the first SIGTERM or SIGINT."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    return stop


def main(spec: Spec[Any], arguments: Sequence[str] | None = None) -> None:
    """``python -m services.<name> serve|migrate|check``. Exit status 2 for wrong settings or usage."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    command = words[0] if words else "serve"
    if command not in ("serve", "migrate", "check") or len(words) > 1:
        sys.exit(f"usage: python -m services.{spec.name} [serve|migrate|check]")
    try:
        settings = load_settings(spec.settings)
        configure_logs(settings.log_level, settings.log_format)
        configure_tracing(spec.name, settings.otlp_endpoint, settings.trace_ratio)
        uvloop.run(_command(command, spec, settings))
    except (WrongSettings, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)
    except BaseExceptionGroup as group:
        # What a service meets while it opens its addresses and files comes out of task groups.
        wrong, others = group.split(WrongSettings)
        if wrong is None or others is not None:
            raise
        sys.stderr.write("".join(f"{error}\n" for error in leaves(wrong)))
        sys.exit(2)


def leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    """What a group holds, also inside other groups."""
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from leaves(error)
        else:
            yield error


async def _command(command: str, spec: Spec[S], settings: S) -> None:
    if command == "migrate":
        if spec.migrations is not None:
            await spec.migrations.upgrade(settings.database_url)
            log.info("migrated", service=spec.name, revision=spec.migrations.head())
        return
    if command == "serve":
        await serve(spec, settings)
        return
    await check(spec, settings)


async def check(spec: Spec[S], settings: S) -> None:
    """Wire the service and see that its database, where it has one, is at the newest revision.

    Raises ValueError naming what is wrong.
    """
    async with spec.open(settings) as (chassis, _):
        if spec.migrations is not None:
            await chassis.database.ping()
    if spec.migrations is not None:
        current = await spec.migrations.current(settings.database_url)
        if current != spec.migrations.head():
            raise ValueError(
                f"WHIST_DATABASE_URL: schema {spec.name} is at {current or 'nothing'}, not at {spec.migrations.head()}"
            )
