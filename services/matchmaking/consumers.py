"""Topic → handler."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC
from uuid import UUID

from libs.chassis.db import Database, Transaction
from libs.chassis.events.bus import Subscription
from services.matchmaking.domain.ids import AccountId, TableId
from services.matchmaking.domain.tickets import Tier
from services.matchmaking.handlers.following import (
    account_deleted,
    account_reinstated,
    account_suspended,
    game_over,
    guest_upgraded,
    level_reached,
    name_changed,
    seat_vacated,
    tier_changed,
)
from services.matchmaking.ports import Records
from whist.auth.v1.events_pb2 import AuthEvent
from whist.leagues.v1.events_pb2 import LeaguesEvent
from whist.tables.v1.events_pb2 import TablesEvent

TABLES_TOPIC = "whist.tables.events.v1"
AUTH_TOPIC = "whist.auth.events.v1"
LEAGUES_TOPIC = "whist.leagues.events.v1"


async def on_tables(tx: Records, event: TablesEvent) -> None:
    """Seats end with their game, or when they are left on purpose."""
    match event.WhichOneof("event"):
        case "game_finished":
            await game_over(_table(event.game_finished.table_id), tx=tx)
        case "game_voided":
            await game_over(_table(event.game_voided.table_id), tx=tx)
        case "seat_vacated":
            vacated = event.seat_vacated
            await seat_vacated(_table(vacated.table_id), _account(vacated.account_id), tx=tx)


async def on_leagues(tx: Records, event: LeaguesEvent) -> None:
    """Levels open rooms, tiers decide on company."""
    told_at = event.occurred_at.ToDatetime(UTC)
    match event.WhichOneof("event"):
        case "level_reached":
            reached = event.level_reached
            await level_reached(_account(reached.account_id), reached.level, told_at, tx=tx)
        case "tier_changed":
            changed = event.tier_changed
            await tier_changed(_account(changed.account_id), Tier(changed.tier), told_at, tx=tx)


async def on_auth(tx: Records, event: AuthEvent) -> None:
    """Accounts change their names, are shut out, and go."""
    told_at = event.occurred_at.ToDatetime(UTC)
    match event.WhichOneof("event"):
        case "account_suspended":
            await account_suspended(_account(event.account_suspended.account_id), told_at, tx=tx)
        case "account_reinstated":
            await account_reinstated(_account(event.account_reinstated.account_id), told_at, tx=tx)
        case "account_deleted":
            await account_deleted(_account(event.account_deleted.account_id), told_at, tx=tx)
        case "guest_upgraded":
            await guest_upgraded(_account(event.guest_upgraded.account_id), event.guest_upgraded.name, tx=tx)
        case "name_changed":
            await name_changed(_account(event.name_changed.account_id), event.name_changed.name, tx=tx)


def subscriptions(
    transaction: Callable[[], AbstractAsyncContextManager[Transaction]], database: Database
) -> Sequence[Subscription]:
    """What matchmaking listens to."""
    return (
        Subscription(
            consumer="matchmaking.tables",
            topic=TABLES_TOPIC,
            message=TablesEvent,
            types=frozenset({"game_finished", "game_voided", "seat_vacated"}),
            handle=on_tables,
            transaction=transaction,
            database=database,
        ),
        Subscription(
            consumer="matchmaking.leagues",
            topic=LEAGUES_TOPIC,
            message=LeaguesEvent,
            types=frozenset({"level_reached", "tier_changed"}),
            handle=on_leagues,
            transaction=transaction,
            database=database,
        ),
        Subscription(
            consumer="matchmaking.auth",
            topic=AUTH_TOPIC,
            message=AuthEvent,
            types=frozenset(
                {
                    "account_suspended",
                    "account_reinstated",
                    "account_deleted",
                    "guest_upgraded",
                    "name_changed",
                }
            ),
            handle=on_auth,
            transaction=transaction,
            database=database,
        ),
    )


def _account(raw: bytes) -> AccountId:
    return AccountId(UUID(bytes=raw))


def _table(raw: bytes) -> TableId:
    return TableId(UUID(bytes=raw))
