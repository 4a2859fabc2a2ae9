"""How a table worker is put together; the only place that names concrete classes."""

from functools import partial
from pathlib import Path

from libs.chassis.db.migrate import Migrations
from libs.chassis.events.bus import Subscription
from libs.chassis.service import Chassis, Job, Service, Spec
from libs.house import platform
from libs.search import compiled
from services.tables import consumers
from services.tables.actor import Pace
from services.tables.bots import BotPlayers
from services.tables.grpc_api.tables import ALLOW, TablesApi
from services.tables.handlers import friends, personal
from services.tables.settings import TablesSettings
from services.tables.storage.friends import FriendsTransaction
from services.tables.storage.journal import GroupJournal
from services.tables.storage.operators import OperatorsTransaction
from services.tables.storage.ownership import Ownership
from services.tables.storage.personal import PersonalTransaction
from services.tables.storage.store import SCHEMA, TablesTransaction
from services.tables.watching import Watching
from services.tables.worker import Worker, worker_incarnation
from whist.auth.v1.events_pb2 import AuthEvent
from whist.tables.v1 import tables_pb2_grpc

SWEEP_SECONDS = 2.0  # a small part of the shortest lease that is any use
FORGET_SECONDS = 3600.0
STRIKE_OUT_SECONDS = 60.0  # names of deleted accounts, out of journals
MIGRATIONS = Migrations(schema=SCHEMA, folder=Path(__file__).parent / "migrations")


def wire(chassis: Chassis[TablesSettings]) -> Service:
    """One worker with its own journal and lease connections besides the pool."""
    settings = chassis.settings
    house = platform.load(settings.platform_config)
    # asyncpg wants the plain scheme; the rest of the URL is the same.
    dsn = settings.database_url.replace("postgresql+asyncpg://", "postgresql://", 1)
    store = chassis.store(TablesTransaction)
    incarnation = worker_incarnation(chassis.entropy)
    worker_id = settings.worker_id or incarnation.hex
    journal = GroupJournal(dsn, chassis.clock, chassis.entropy, chassis.relay.wake)
    bots = BotPlayers(house.bots, chassis.clock, compiled=compiled())
    worker = Worker(
        worker_id=worker_id,
        ownership=Ownership(dsn, worker_id, incarnation),
        journal=journal,
        store=store,
        clock=chassis.clock,
        entropy=chassis.entropy,
        pace=Pace(
            turns=house.turns,
            bot_scale=settings.bot_pace_scale,
            limit_scale=settings.turn_limit_scale,
            deserted_ms=house.friends.deserted_ms,
        ),
        bots=bots,
        zone=house.zone,
    )
    desk = friends.Desk(store=chassis.store(FriendsTransaction), friends=house.friends, entropy=chassis.entropy)
    watching = Watching(desk, chassis.clock)
    persons = chassis.store(PersonalTransaction)
    api = TablesApi(worker, store, desk, watching, chassis.store(OperatorsTransaction), persons)

    async def start() -> None:
        address = settings.advertise or chassis.address
        await worker.start(address)
        chassis.neighbours[address] = worker

    async def drain() -> None:
        watching.close()
        await worker.drain()

    async def close() -> None:
        chassis.neighbours.pop(worker.address, None)
        await worker.close()
        await bots.close()

    return Service(
        registrars=[lambda server: tables_pb2_grpc.add_TablesServiceServicer_to_server(api, server)],
        allow=ALLOW,
        subscriptions=[
            Subscription(
                consumer="tables.auth",
                topic=consumers.AUTH_TOPIC,
                message=AuthEvent,
                types=frozenset({"account_deleted"}),
                handle=consumers.on_auth,
                transaction=persons.transaction,
                database=chassis.database,
            )
        ],
        jobs=[
            Job(name="journal", run=journal.run),
            Job(name="lease", run=worker.keep_lease),
            Job(name="watching", run=watching.run),
            Job(name="friends", run=partial(friends.sweep, desk=desk), every_seconds=SWEEP_SECONDS),
            Job(name="forget", run=partial(friends.forget_old, desk=desk), every_seconds=FORGET_SECONDS),
            Job(
                name="strike_out",
                run=partial(personal.strike_out_all, store=persons),
                every_seconds=STRIKE_OUT_SECONDS,
            ),
        ],
        start=start,
        drain=drain,
        close=close,
    )


SPEC = Spec(name="tables", settings=TablesSettings, wire=wire, migrations=MIGRATIONS)
