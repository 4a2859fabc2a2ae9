"""What coach tells the others (topic whist.coach.events.v1, key table_id)."""

from collections.abc import Mapping

from services.coach.domain.games import FinishedGame, Kind, Mode
from services.coach.domain.study import Study
from services.coach.ports import Games
from whist.coach.v1.events_pb2 import CoachEvent, GameAnalysed, SeatAnalysed
from whist.tables.v1.tables_pb2 import TABLE_KIND_FRIENDS, TABLE_KIND_QUICK, TableKind
from whist.types.v1 import types_pb2

TOPIC = "whist.coach.events.v1"

KINDS: Mapping["TableKind.ValueType", Kind] = {TABLE_KIND_QUICK: Kind.QUICK, TABLE_KIND_FRIENDS: Kind.FRIENDS}
MODES: Mapping["types_pb2.Mode.ValueType", Mode] = {
    types_pb2.MODE_UNSPECIFIED: Mode.NONE,
    types_pb2.MODE_QUICK: Mode.QUICK,
    types_pb2.MODE_CLASSIC: Mode.CLASSIC,
}
_KIND_NUMBERS = {kind: number for number, kind in KINDS.items()}
_MODE_NUMBERS = {mode: number for number, mode in MODES.items()}


async def announce(game: FinishedGame, study: Study, *, games: Games) -> None:
    """Tell what was made of a game's people, with the commit of `games`: those who sat there at its end."""
    analysed = GameAnalysed(
        table_id=game.table_id.bytes,
        kind=_KIND_NUMBERS[game.kind],
        mode=_MODE_NUMBERS[game.mode],
        week_id=game.week_id,
        day_id=game.day_id,
        seats=[
            SeatAnalysed(
                account_id=one.account_id.bytes, seat=one.seat, grade=one.grade, runs_of_seven=one.runs_of_seven
            )
            for one in study.seats
            if one.stayed
        ],
    )
    await games.publish(TOPIC, game.table_id.bytes, CoachEvent(game_analysed=analysed))
