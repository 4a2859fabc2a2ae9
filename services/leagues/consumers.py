"""Topic to handler. What an event lacks or has wrong raises ValueError, and the bus parks its key."""

from collections.abc import Mapping
from datetime import UTC
from types import MappingProxyType
from uuid import UUID

from libs.house.calendar import week_bounds
from libs.house.platform import Platform
from services.leagues.domain.results import (
    AccountId,
    FinishedGame,
    FinishedSeat,
    GameKind,
    Prize,
    PrizeReturn,
    TableId,
    WeekId,
)
from services.leagues.handlers import facts, offline
from services.leagues.ports import Ledger
from whist.auth.v1.events_pb2 import AuthEvent
from whist.tables.v1.events_pb2 import GameFinished, SeatResult, TablesEvent
from whist.tables.v1.tables_pb2 import TABLE_KIND_FRIENDS, TABLE_KIND_QUICK
from whist.wallet.v1.events_pb2 import WalletEvent

TABLES_TOPIC = "whist.tables.events.v1"
WALLET_TOPIC = "whist.wallet.events.v1"
AUTH_TOPIC = "whist.auth.events.v1"

# Tables of the load harness earn nothing.
KINDS: Mapping[int, GameKind] = MappingProxyType(
    {TABLE_KIND_QUICK: GameKind.QUICK, TABLE_KIND_FRIENDS: GameKind.FRIENDS}
)


async def on_tables(ledger: Ledger, event: TablesEvent, *, platform: Platform) -> None:
    """`leagues.tables`: quick play and friends' games: that they are played here, how they end, that they are void."""
    match event.WhichOneof("event"):
        case "game_started" if event.game_started.kind in KINDS and event.game_started.commitment:
            await offline.known_online(event.game_started.commitment, ledger=ledger)
        case "game_finished" if event.game_finished.kind in KINDS:
            await facts.game_finished(_game(event), ledger=ledger, platform=platform)
        case "game_voided" if event.game_voided.kind in KINDS and event.game_voided.had_finished:
            await facts.game_voided(_table(event.game_voided.table_id), ledger=ledger, platform=platform)


async def on_wallet(ledger: Ledger, event: WalletEvent, *, platform: Platform) -> None:
    """`leagues.wallet`: prizes as paid, and those that went back."""
    match event.WhichOneof("event"):
        case "prize_paid":
            paid = event.prize_paid
            prize = Prize(
                account_id=_account(paid.account_id),
                table_id=_table(paid.table_id),
                week_id=_week(paid.week_id),
                coins=paid.coins,
                paid_at=event.occurred_at.ToDatetime(tzinfo=UTC),
            )
            await facts.prize_paid(prize, ledger=ledger, platform=platform)
        # A refund of a game that had won nothing takes nothing off.
        case "game_refunded" if event.game_refunded.prize_coins:
            refunded = event.game_refunded
            await _returned(ledger, refunded.account_id, refunded.table_id, refunded.week_id, refunded.prize_coins)
        case "prize_reversed":
            gone = event.prize_reversed
            await _returned(ledger, gone.account_id, gone.table_id, gone.week_id, gone.coins)


async def _returned(ledger: Ledger, account_id: bytes, table_id: bytes, week: str, coins: int) -> None:
    gone = PrizeReturn(account_id=_account(account_id), table_id=_table(table_id), week_id=_week(week), coins=coins)
    await facts.prize_returned(gone, ledger=ledger)


async def on_auth(ledger: Ledger, event: AuthEvent, *, platform: Platform) -> None:
    """`leagues.auth`: who is a guest, who has signed in, who is gone."""
    match event.WhichOneof("event"):
        case "account_created":
            created = event.account_created
            await facts.account_created(
                _account(created.account_id), guest=created.guest, ledger=ledger, platform=platform
            )
        case "guest_upgraded":
            upgraded = _account(event.guest_upgraded.account_id)
            await facts.account_created(upgraded, guest=False, ledger=ledger, platform=platform)
        case "account_deleted":
            await facts.account_deleted(_account(event.account_deleted.account_id), ledger=ledger)


def _game(event: TablesEvent) -> FinishedGame:
    finished: GameFinished = event.game_finished
    return FinishedGame(
        table_id=_table(finished.table_id),
        kind=KINDS[finished.kind],
        players=len(finished.seats),
        week_id=_week(finished.week_id),
        finished_at=event.occurred_at.ToDatetime(tzinfo=UTC),
        seats=tuple(_seat(result) for result in finished.seats if result.seat.account_id),
    )


def _seat(result: SeatResult) -> FinishedSeat:
    return FinishedSeat(
        account_id=_account(result.seat.account_id),
        place=result.place,
        rounds=result.rounds,
        own_bids=result.own_bids,
        own_made=result.own_made,
        bid_lately=result.bid_lately,
        left=result.left,
    )


def _account(plain: bytes) -> AccountId:
    return AccountId(UUID(bytes=plain))


def _table(plain: bytes) -> TableId:
    return TableId(UUID(bytes=plain))


def _week(text: str) -> WeekId:
    week_bounds(text)
    return WeekId(text)
