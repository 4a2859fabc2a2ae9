"""All services in one process: gRPC on Unix sockets, one in-process bus, one PostgreSQL from a wheel."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import structlog

from libs.chassis.events.memory import MemoryBus
from libs.chassis.run import calm_collector, running_together, stop_signal
from libs.chassis.service import Spec
from libs.chassis.settings import load_settings
from libs.chassis.telemetry.metrics import metrics_listener
from services.allinone.home import Home
from services.allinone.settings import AllInOneSettings
from services.allinone.terminal import greet, page_url
from services.auth.wiring import SPEC as AUTH
from services.coach.wiring import SPEC as COACH
from services.gateway.wiring import SPEC as GATEWAY
from services.leagues.wiring import SPEC as LEAGUES
from services.matchmaking.wiring import SPEC as MATCHMAKING
from services.tables.wiring import SPEC as TABLES
from services.wallet.wiring import SPEC as WALLET

log = structlog.get_logger()

# Callees before callers: they start in this order and stop in the opposite one.
SPECS: tuple[Spec[Any], ...] = (AUTH, WALLET, LEAGUES, COACH, TABLES, MATCHMAKING, GATEWAY)
PROCESS_WIDE = ("metrics_listen", "otlp_endpoint", "health_listen")


async def serve(settings: AllInOneSettings, home: Home) -> None:
    """Until SIGTERM or SIGINT; PostgreSQL is stopped last."""
    stop = stop_signal()
    postgres = await asyncio.to_thread(home.postgres)
    try:
        await migrate(postgres.url())
        bus, neighbours = MemoryBus(), dict[str, Any]()
        async with AsyncExitStack() as stack:
            stack.enter_context(metrics_listener(settings.metrics_listen))
            group = await stack.enter_async_context(asyncio.TaskGroup())
            places = [(spec, _settings(spec, settings, home, postgres.url())) for spec in SPECS]
            await stack.enter_async_context(running_together(places, bus, neighbours))
            calm_collector()
            delivering = group.create_task(bus.run())
            log.info("whist_ready", url=page_url(settings.http_listen))
            greet(settings.http_listen, settings.log_format)
            await stop.wait()
            delivering.cancel()
    finally:
        await asyncio.to_thread(postgres.stop)


async def migrate(database_url: str) -> None:
    """Bring every schema to its newest revision."""
    for spec in SPECS:
        migrations = spec.migrations
        if migrations is not None and await migrations.current(database_url) != migrations.head():
            await migrations.upgrade(database_url)


def _settings(spec: Spec[Any], settings: AllInOneSettings, home: Home, database_url: str) -> Any:
    """One service's settings: the environment's, with this machine's places filled in."""
    places: dict[str, object] = {
        "database_url": database_url,
        "grpc_listen": _socket(home, spec.name),
        "data_dir": home.folder,
        "http_listen": settings.http_listen,
        "socket_listen": settings.socket_listen,
        "admin_listen": settings.admin_listen,
        "operators_file": home.operators,
        "signing_keys": home.signing_keys,
        "pepper_file": home.secret("pepper"),
        "keys_create": True,
        "vip_key": home.secret("vip-key").read_text(),
        "mail_dir": home.mails,
        "allowed_origins": _origins(settings.http_listen),
        **dict.fromkeys(PROCESS_WIDE, ""),
        **{f"{callee.name}_target": _socket(home, callee.name) for callee in SPECS},
    }
    known = spec.settings.model_fields
    return load_settings(spec.settings, **{name: value for name, value in places.items() if name in known})


def _socket(home: Home, name: str) -> str:
    return f"unix:{home.sockets}/{name}.sock"


def _origins(http_listen: str) -> tuple[str, ...]:
    _, _, port = http_listen.rpartition(":")
    return (f"http://localhost:{port}", f"http://127.0.0.1:{port}")
