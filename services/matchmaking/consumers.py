"""Topic → handler."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from uuid import UUID

from libs.chassis.db import Database, Transaction
from libs.chassis.events.bus import Subscription
from services.matchmaking.domain.ids import AccountId, TableId
from services.matchmaking.domain.tickets import Tier
from services.matchmaking.handlers.following import game_over, level_reached, seat_vacated, tier_changed
from services.matchmaking.ports import Records
from whist.leagues.v1.events_pb2 import LeaguesEvent
from whist.tables.v1.events_pb2 import TablesEvent

TABLES_TOPIC = "whist.tables.events.v1"
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
    match event.WhichOneof("event"):
        case "level_reached":
            reached = event.level_reached
            await level_reached(_account(reached.account_id), reached.level, tx=tx)
        case "tier_changed":
            changed = event.tier_changed
            await tier_changed(_account(changed.account_id), Tier(changed.tier), tx=tx)


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
    )


def _account(raw: bytes) -> AccountId:
    return AccountId(UUID(bytes=raw))


def _table(raw: bytes) -> TableId:
    return TableId(UUID(bytes=raw))
