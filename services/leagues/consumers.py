"""Topic to handler. What an event lacks or has wrong raises ValueError, and the bus parks its key."""

from datetime import UTC
from uuid import UUID

from libs.house.calendar import week_bounds
from libs.house.platform import Platform
from services.leagues import handlers
from services.leagues.domain.results import AccountId, FinishedGame, FinishedSeat, Prize, TableId, WeekId
from services.leagues.ports import Ledger
from whist.auth.v1.events_pb2 import AuthEvent
from whist.tables.v1.events_pb2 import GameFinished, SeatResult, TablesEvent
from whist.tables.v1.tables_pb2 import TABLE_KIND_QUICK
from whist.wallet.v1.events_pb2 import WalletEvent

TABLES_TOPIC = "whist.tables.events.v1"
WALLET_TOPIC = "whist.wallet.events.v1"
AUTH_TOPIC = "whist.auth.events.v1"


async def on_tables(ledger: Ledger, event: TablesEvent, *, platform: Platform) -> None:
    """`leagues.tables`: finished quick games; other games earn nothing here."""
    if event.WhichOneof("event") == "game_finished" and event.game_finished.kind == TABLE_KIND_QUICK:
        await handlers.game_finished(_game(event), ledger=ledger, platform=platform)


async def on_wallet(ledger: Ledger, event: WalletEvent) -> None:
    """`leagues.wallet`: prizes as paid."""
    if event.WhichOneof("event") == "prize_paid":
        paid = event.prize_paid
        prize = Prize(
            account_id=AccountId(UUID(bytes=paid.account_id)),
            table_id=TableId(UUID(bytes=paid.table_id)),
            week_id=_week(paid.week_id),
            coins=paid.coins,
        )
        await handlers.prize_paid(prize, ledger=ledger)


async def on_auth(ledger: Ledger, event: AuthEvent) -> None:
    """`leagues.auth`: who is a guest."""
    if event.WhichOneof("event") == "account_created":
        created = event.account_created
        await handlers.account_created(AccountId(UUID(bytes=created.account_id)), guest=created.guest, ledger=ledger)


def _game(event: TablesEvent) -> FinishedGame:
    finished: GameFinished = event.game_finished
    return FinishedGame(
        table_id=TableId(UUID(bytes=finished.table_id)),
        week_id=_week(finished.week_id),
        finished_at=event.occurred_at.ToDatetime(tzinfo=UTC),
        seats=tuple(_seat(result) for result in finished.seats if result.seat.account_id),
    )


def _seat(result: SeatResult) -> FinishedSeat:
    return FinishedSeat(
        account_id=AccountId(UUID(bytes=result.seat.account_id)),
        place=result.place,
        rounds=result.rounds,
        own_bids=result.own_bids,
        own_made=result.own_made,
        bid_lately=result.bid_lately,
        left=result.left,
    )


def _week(text: str) -> WeekId:
    week_bounds(text)
    return WeekId(text)
