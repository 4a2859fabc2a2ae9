"""Names the concrete classes of coach."""

from functools import partial
from pathlib import Path

from libs.chassis.db import Migrations
from libs.chassis.events.bus import Subscription
from libs.chassis.service import Chassis, Job, Service, Spec
from libs.house import platform as house
from libs.search import compiled
from services.coach import consumers
from services.coach.grpc_api import ALLOW, CoachApi
from services.coach.jobs import analyse_games
from services.coach.settings import CoachSettings
from services.coach.storage.games import CoachTransaction
from services.coach.storage.tables import SCHEMA
from services.coach.thinking import ThreadAnalyst, ThreadThinker
from whist.coach.v1.coach_pb2_grpc import add_CoachServiceServicer_to_server
from whist.tables.v1.events_pb2 import TablesEvent

MIGRATIONS = Migrations(schema=SCHEMA, folder=Path(__file__).parent / "migrations")

# Where the kernel is interpreted: 20 to 120 ms a hint; a thousand would take two seconds, in which nothing else moves
# in a process.
INTERPRETED_SAMPLES = 50
INTERPRETED_ANALYSIS_SAMPLES = 10  # and an analysis has a thousand decisions


def wire(chassis: Chassis[CoachSettings]) -> Service:
    """Hints over a few threads, analyses over PostgreSQL and a thread of their own."""
    settings = chassis.settings
    store = chassis.store(CoachTransaction)
    platform = house.load(settings.platform_config)
    hint_samples, analysis_samples = settings.hint_samples, settings.analysis_samples
    if not compiled():
        hint_samples = min(hint_samples, INTERPRETED_SAMPLES)
        analysis_samples = min(analysis_samples, INTERPRETED_ANALYSIS_SAMPLES)
    thinker = ThreadThinker(settings.hint_workers, settings.hint_queue, hint_samples)
    analyst = ThreadAnalyst(thinker.hints, analysis_samples, platform.coach.marks)

    async def close() -> None:
        await analyst.close()
        await thinker.close()

    return Service(
        registrars=[partial(add_CoachServiceServicer_to_server, CoachApi(thinker, store))],
        allow=ALLOW,
        subscriptions=[
            Subscription(
                consumer="coach.tables",
                topic=consumers.TABLES_TOPIC,
                message=TablesEvent,
                types=frozenset({"game_finished", "game_voided"}),
                handle=consumers.on_tables,
                transaction=store.transaction,
                database=chassis.database,
            )
        ],
        jobs=[
            Job(
                name="analyse_games",
                run=partial(analyse_games, store, analyst),
                every_seconds=settings.analysis_check_seconds,
            )
        ],
        close=close,
    )


SPEC: Spec[CoachSettings] = Spec(name="coach", settings=CoachSettings, wire=wire, migrations=MIGRATIONS)
