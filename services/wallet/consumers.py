"""Topic to handler. What an event lacks or has wrong raises ValueError or UnknownRoom, and the bus parks its key."""

from collections.abc import Mapping, Sequence
from datetime import date
from uuid import UUID

from libs.house.calendar import week_bounds
from libs.house.platform import Platform
from services.wallet.domain.awards import FinishedGame, FinishedSeat
from services.wallet.domain.ledger import AccountId, TableId
from services.wallet.handlers.games import finish_game, start_game, void_game
from services.wallet.handlers.gifts import welcome
from services.wallet.ports import Ledger
from whist.auth.v1.events_pb2 import AuthEvent
from whist.tables.v1.events_pb2 import GameFinished, Seat, SeatResult, TablesEvent
from whist.tables.v1.tables_pb2 import TABLE_KIND_QUICK

AUTH_TOPIC = "whist.auth.events.v1"
TABLES_TOPIC = "whist.tables.events.v1"


async def on_auth(ledger: Ledger, event: AuthEvent, *, platform: Platform) -> None:
    """`wallet.auth`: new accounts are welcomed; guests own nothing (P42)."""
    if event.WhichOneof("event") == "account_created" and not event.account_created.guest:
        await welcome(_account(event.account_created.account_id), ledger=ledger, platform=platform)


async def on_tables(ledger: Ledger, event: TablesEvent, *, platform: Platform) -> None:
    """`wallet.tables`: quick games; no other game moves anything."""
    match event.WhichOneof("event"):
        case "game_started" if event.game_started.kind == TABLE_KIND_QUICK:
            started = event.game_started
            await start_game(_table(started.table_id), _people(started.seats), ledger=ledger)
        case "game_finished" if event.game_finished.kind == TABLE_KIND_QUICK:
            await finish_game(_game(event.game_finished), ledger=ledger, platform=platform)
        case "game_voided" if event.game_voided.kind == TABLE_KIND_QUICK:
            await void_game(_table(event.game_voided.table_id), ledger=ledger)


def _account(plain: bytes) -> AccountId:
    return AccountId(UUID(bytes=plain))


def _table(plain: bytes) -> TableId:
    return TableId(UUID(bytes=plain))


def _people(seats: Sequence[Seat]) -> Mapping[AccountId, Seat]:
    people = [(_account(seat.account_id), seat) for seat in seats if seat.account_id]
    named = dict(people)
    if len(named) != len(people):
        raise ValueError("an account sits twice")
    return named


def _game(finished: GameFinished) -> FinishedGame:
    people = _people([result.seat for result in finished.seats])
    results = {result.seat.account_id: result for result in finished.seats}
    date.fromisoformat(finished.day_id)
    week_bounds(finished.week_id)
    return FinishedGame(
        table_id=_table(finished.table_id),
        day_id=finished.day_id,
        week_id=finished.week_id,
        seats=tuple(_seat(account, results[account.bytes]) for account in people),
    )


def _seat(account: AccountId, result: SeatResult) -> FinishedSeat:
    return FinishedSeat(
        account_id=account,
        guest=result.seat.guest,
        room=result.seat.room,
        place=result.place,
        rounds=result.rounds,
        own_bids=result.own_bids,
        bid_lately=result.bid_lately,
        left=result.left,
    )
