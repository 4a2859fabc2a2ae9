"""The one place where matchmaking's parts are chosen and put together."""

from pathlib import Path

from libs.chassis.db import Migrations
from libs.chassis.service import Chassis, Job, Service, Spec
from libs.house import platform as house
from services.matchmaking.consumers import subscriptions
from services.matchmaking.domain.matches import VipDays
from services.matchmaking.grpc_api import MatchmakingApi
from services.matchmaking.handlers.matching import Matching
from services.matchmaking.handlers.queueing import Queueing
from services.matchmaking.handlers.seating import Seating
from services.matchmaking.handlers.watching import Watching
from services.matchmaking.jobs import FORGET_SECONDS, Matcher, forget_ended
from services.matchmaking.peers import TablesPeer, WalletPeer
from services.matchmaking.settings import MatchmakingSettings
from services.matchmaking.storage.records import MatchmakingTransaction
from services.matchmaking.storage.schema import SCHEMA
from whist.matchmaking.v1 import matchmaking_pb2
from whist.matchmaking.v1.matchmaking_pb2_grpc import add_MatchmakingServiceServicer_to_server

MIGRATIONS = Migrations(schema=SCHEMA, folder=Path(__file__).parent / "migrations")

_SERVICE = matchmaking_pb2.DESCRIPTOR.services_by_name["MatchmakingService"]
ALLOW = {f"/{_SERVICE.full_name}/{method.name}": frozenset({"gateway"}) for method in _SERVICE.methods}


def wire(chassis: Chassis[MatchmakingSettings]) -> Service:
    """Matchmaking on this chassis."""
    store = chassis.store(MatchmakingTransaction)
    wallet = WalletPeer(chassis.peer("wallet", chassis.settings.wallet_target))
    tables = TablesPeer(chassis.peer("tables", chassis.settings.tables_target))
    platform = house.load(chassis.settings.platform_config)
    days = VipDays(key=chassis.settings.vip_key_bytes(), zone=platform.zone)
    matching = Matching(store=store, platform=platform, entropy=chassis.entropy, owner=chassis.entropy.uuid7())
    seating = Seating(store=store, wallet=wallet, tables=tables, platform=platform, days=days)
    matcher = Matcher(matching, seating)
    queueing = Queueing(
        store=store, wallet=wallet, tables=tables, platform=platform, days=days,
        entropy=chassis.entropy, wake=matcher.wake,
    )  # fmt: skip
    watching = Watching(queueing.places, chassis.clock)
    api = MatchmakingApi(queueing, watching, linkage_key=days.key)
    return Service(
        registrars=(lambda server: add_MatchmakingServiceServicer_to_server(api, server),),
        allow=ALLOW,
        subscriptions=subscriptions(store.transaction, chassis.database),
        jobs=(
            Job(name="matcher", run=matcher.run),
            Job(name="watching", run=watching.run),
            Job(name="forget_ended", run=lambda: forget_ended(store), every_seconds=FORGET_SECONDS),
        ),
        drain=matcher.drain,
    )


SPEC = Spec(name="matchmaking", settings=MatchmakingSettings, wire=wire, migrations=MIGRATIONS)
