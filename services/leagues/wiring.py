"""Names the concrete classes of leagues."""

from functools import partial
from pathlib import Path

from libs.chassis.db import Migrations, Store
from libs.chassis.events.bus import Subscription
from libs.chassis.service import Chassis, Job, Service, Spec
from libs.house import platform as house
from services.leagues import consumers
from services.leagues.grpc_api import ALLOW, LeaguesApi
from services.leagues.handlers.offline import Uploads
from services.leagues.jobs import check_totals, close_weeks
from services.leagues.peers import WalletPeer
from services.leagues.settings import LeaguesSettings
from services.leagues.storage.ledger import LeaguesTransaction
from services.leagues.storage.tables import SCHEMA
from whist.auth.v1.events_pb2 import AuthEvent
from whist.leagues.v1.leagues_pb2_grpc import add_LeaguesServiceServicer_to_server
from whist.tables.v1.events_pb2 import TablesEvent
from whist.wallet.v1.events_pb2 import WalletEvent

MIGRATIONS = Migrations(schema=SCHEMA, folder=Path(__file__).parent / "migrations")


def wire(chassis: Chassis[LeaguesSettings]) -> Service:
    """Handlers over PostgreSQL, three consumers; weeks are closed and totals proved."""
    books = chassis.store(LeaguesTransaction)
    proofs = Store(chassis.proofs_database, LeaguesTransaction, chassis.entropy, chassis.relay.wake)
    platform = house.load(chassis.settings.platform_config)
    wallet = WalletPeer(chassis.peer("wallet", chassis.settings.wallet_target))
    subscribe = partial(Subscription, transaction=books.transaction, database=chassis.database)
    return Service(
        registrars=[
            partial(add_LeaguesServiceServicer_to_server, LeaguesApi(books, Uploads(books, platform), platform))
        ],
        allow=ALLOW,
        subscriptions=[
            subscribe(
                consumer="leagues.tables",
                topic=consumers.TABLES_TOPIC,
                message=TablesEvent,
                types=frozenset({"game_started", "game_finished", "game_voided"}),
                handle=partial(consumers.on_tables, platform=platform),
            ),
            subscribe(
                consumer="leagues.wallet",
                topic=consumers.WALLET_TOPIC,
                message=WalletEvent,
                types=frozenset({"prize_paid", "game_refunded", "prize_reversed"}),
                handle=partial(consumers.on_wallet, platform=platform),
            ),
            subscribe(
                consumer="leagues.auth",
                topic=consumers.AUTH_TOPIC,
                message=AuthEvent,
                types=frozenset({"account_created", "guest_upgraded", "account_deleted"}),
                handle=partial(consumers.on_auth, platform=platform),
            ),
        ],
        jobs=[
            Job(
                name="close_weeks",
                run=partial(close_weeks, books, wallet, platform),
                every_seconds=chassis.settings.close_seconds,
            ),
            Job(
                name="check_totals",
                run=partial(check_totals, proofs, platform),
                every_seconds=chassis.settings.check_seconds,
            ),
        ],
    )


SPEC: Spec[LeaguesSettings] = Spec(name="leagues", settings=LeaguesSettings, wire=wire, migrations=MIGRATIONS)
