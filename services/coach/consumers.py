"""Topic to handler. What an event lacks or has wrong raises ValueError, and the bus parks its key."""

from uuid import UUID

from libs.house.calendar import week_bounds
from services.coach import handlers
from services.coach.announcements import KINDS, MODES
from services.coach.domain.games import AccountId, FinishedGame, Person, TableId
from services.coach.ports import Games
from whist.tables.v1.events_pb2 import GameFinished, TablesEvent

TABLES_TOPIC = "whist.tables.events.v1"


async def on_tables(games: Games, event: TablesEvent) -> None:
    """`coach.tables`: finished games of people, and voided ones. The load harness's tables have nobody to grade."""
    match event.WhichOneof("event"):
        case "game_finished" if event.game_finished.kind in KINDS:
            await handlers.game_finished(_game(event.game_finished), games=games)
        case "game_voided":
            await handlers.game_voided(TableId(UUID(bytes=event.game_voided.table_id)), games=games)
        case _:
            pass


def _game(finished: GameFinished) -> FinishedGame:
    week_bounds(finished.week_id)
    return FinishedGame(
        table_id=TableId(UUID(bytes=finished.table_id)),
        kind=KINDS[finished.kind],
        mode=MODES[finished.mode],
        game=finished.game,
        week_id=finished.week_id,
        day_id=finished.day_id,
        people=tuple(
            Person(
                seat=result.seat.seat,
                account_id=AccountId(UUID(bytes=result.seat.account_id)),
                hints=result.seat.hints,
            )
            for result in finished.seats
            if result.seat.account_id
        ),
        record=finished.record_json,
    )
