"""Names the concrete classes of the wallet."""

from functools import partial
from pathlib import Path

from libs.chassis.db import Migrations
from libs.chassis.events.bus import Subscription
from libs.chassis.service import Chassis, Job, Service, Spec
from libs.house import platform as house
from services.wallet import consumers
from services.wallet.grpc_api import ALLOW, WalletApi
from services.wallet.handlers.refunds import RefundDesk
from services.wallet.jobs import check_holds, check_ledger
from services.wallet.peers import TablesPeer
from services.wallet.settings import WalletSettings
from services.wallet.storage.ledger import LedgerStore
from services.wallet.storage.tables import SCHEMA
from whist.auth.v1.events_pb2 import AuthEvent
from whist.coach.v1.events_pb2 import CoachEvent
from whist.leagues.v1.events_pb2 import LeaguesEvent
from whist.tables.v1.events_pb2 import TablesEvent
from whist.wallet.v1.wallet_pb2_grpc import add_WalletServiceServicer_to_server

MIGRATIONS = Migrations(schema=SCHEMA, folder=Path(__file__).parent / "migrations")


def wire(chassis: Chassis[WalletSettings]) -> Service:
    """Handlers over PostgreSQL, four consumers, two jobs."""
    settings = chassis.settings
    platform = house.load(settings.platform_config)
    wallets = LedgerStore(chassis.database, chassis.entropy, chassis.relay.wake)
    proofs = LedgerStore(chassis.proofs_database, chassis.entropy)
    tables = TablesPeer(chassis.peer("tables", settings.tables_target))
    desk = RefundDesk(wallets=wallets, platform=platform, vip_key=settings.vip_key_bytes())
    subscribe = partial(Subscription, transaction=wallets.transaction, database=chassis.database)
    return Service(
        registrars=[partial(add_WalletServiceServicer_to_server, WalletApi(desk, tables, proofs))],
        allow=ALLOW,
        subscriptions=[
            subscribe(
                consumer="wallet.auth",
                topic=consumers.AUTH_TOPIC,
                message=AuthEvent,
                types=frozenset({"account_created", "guest_upgraded", "account_seen"}),
                handle=partial(consumers.on_auth, platform=platform),
            ),
            subscribe(
                consumer="wallet.tables",
                topic=consumers.TABLES_TOPIC,
                message=TablesEvent,
                types=frozenset({"game_started", "game_finished", "game_voided", "seat_vacated"}),
                handle=partial(consumers.on_tables, platform=platform),
            ),
            subscribe(
                consumer="wallet.coach",
                topic=consumers.COACH_TOPIC,
                message=CoachEvent,
                types=frozenset({"game_analysed"}),
                handle=partial(consumers.on_coach, platform=platform),
            ),
            subscribe(
                consumer="wallet.leagues",
                topic=consumers.LEAGUES_TOPIC,
                message=LeaguesEvent,
                types=frozenset({"podium_won"}),
                handle=consumers.on_leagues,
            ),
        ],
        jobs=[
            Job(
                name="check_holds",
                run=partial(check_holds, wallets, tables, settings.hold_ask_seconds),
                every_seconds=settings.hold_check_seconds,
            ),
            Job(name="check_ledger", run=partial(check_ledger, proofs), every_seconds=settings.ledger_check_seconds),
        ],
    )


SPEC: Spec[WalletSettings] = Spec(name="wallet", settings=WalletSettings, wire=wire, migrations=MIGRATIONS)
