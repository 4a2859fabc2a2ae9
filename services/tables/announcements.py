"""From a table's facts to the events that other services hear (topic whist.tables.events.v1)."""

from collections.abc import Sequence
from datetime import datetime

from google.protobuf.message import Message

from libs.engine import fair
from libs.engine.game import State
from services.tables.domain.entries import Body, Moved, Opened, SeatFacts, TakenOver, Vacated
from services.tables.domain.outcome import outcomes
from services.tables.domain.table import Table
from services.tables.ports import Seating
from whist.tables.v1 import events_pb2, tables_pb2

TOPIC = "whist.tables.events.v1"
BID_COLUMNS = {"cards", "bids", "taken", "scores"}


def of(table: Table, body: Body, after: State) -> Sequence[Message]:
    """What one entry that leads to the state `after` tells the others. Almost every entry tells nothing."""
    if isinstance(body, Vacated):
        return (
            events_pb2.TablesEvent(
                seat_vacated=events_pb2.SeatVacated(
                    table_id=table.table_id.bytes, account_id=table.seats[body.seat].account, seat=body.seat
                )
            ),
        )
    if isinstance(body, Moved) and len(body.events) > 1:
        return _round_ended(table, after)
    return ()


def seating(table: Table, body: Body) -> Seating | None:
    """Whose seat one entry gives or takes (X3), before it is applied."""
    match body:
        case TakenOver(seat=seat, who=who):
            return Seating(account=who.account, seat=seat, name=who.name, guest=who.guest, sits=True)
        case Vacated(seat=seat):
            who = table.seats[seat]
            return Seating(account=who.account, seat=seat, name=who.name, guest=who.guest, sits=False)
        case _:
            return None


def _round_ended(table: Table, state: State) -> Sequence[Message]:
    game = table.game
    # A round ends with the next deal due, or the game: a trick alone is not worth a view of the table.
    if game.draw(state) is None and not game.over(state):
        return ()
    sheet = game.view(state, None).get("score_sheet", [])
    # A sheet has one line a finished round; the round that ran is number rounds - 1.
    if len(sheet) < table.rounds:
        return ()
    line = sheet[-1]
    ended = events_pb2.RoundEnded(table_id=table.table_id.bytes, round=table.rounds - 1)
    # Every game writes its own score sheet; the columns of bids are Romanian Whist's.
    if line.keys() >= BID_COLUMNS:
        ended.cards = line["cards"]
        for column in ("bids", "taken", "scores"):
            getattr(ended, column).extend(line[column])
    return (events_pb2.TablesEvent(round_ended=ended),)


def game_started(table_id: bytes, opened: Opened) -> events_pb2.TablesEvent:
    """The first deal is journaled: holds become entries."""
    return events_pb2.TablesEvent(
        game_started=events_pb2.GameStarted(
            table_id=table_id,
            kind=tables_pb2.TableKind.ValueType(opened.kind),
            mode=opened.mode,  # type: ignore[arg-type] # the enum's number
            game=opened.game,
            seats=_seats(opened.seats),
            commitment=fair.commitment(opened.secret),
        )
    )


def game_finished(
    table: Table, record_json: str, *, started_at: datetime, week_id: str, day_id: str
) -> events_pb2.TablesEvent:
    """Placings, and who bid themselves in which rounds; week and day are stamped once, here."""
    opened = table.opened
    finished = events_pb2.GameFinished(
        table_id=table.table_id.bytes,
        kind=tables_pb2.TableKind.ValueType(opened.kind),
        mode=opened.mode,  # type: ignore[arg-type] # the enum's number
        game=opened.game,
        week_id=week_id,
        day_id=day_id,
        record_json=record_json,
        seats=[
            events_pb2.SeatResult(
                seat=seat,
                place=outcome.place,
                total=outcome.total,
                own_bids=outcome.own_bids,
                own_made=outcome.own_made,
                rounds=outcome.rounds,
                bid_lately=outcome.bid_lately,
                left=outcome.left,
            )
            for seat, outcome in zip(_seats(table.seats), outcomes(table), strict=True)
        ],
    )
    finished.started_at.FromDatetime(started_at)
    return events_pb2.TablesEvent(game_finished=finished)


def game_voided(
    table_id: bytes, kind: int, seats: Sequence[SeatFacts], reason: str, *, had_finished: bool = False
) -> events_pb2.TablesEvent:
    """A fault or an operator ended the game: everything goes back, and of one that had finished what it won (P82).

    `seats` as opened; none where nobody can read them.
    """
    return events_pb2.TablesEvent(
        game_voided=events_pb2.GameVoided(
            table_id=table_id,
            kind=tables_pb2.TableKind.ValueType(kind),
            seats=_seats(seats),
            reason=reason,
            had_finished=had_finished,
        )
    )


def _seats(seats: Sequence[SeatFacts]) -> list[events_pb2.Seat]:
    return [
        events_pb2.Seat(
            seat=number,
            account_id=facts.account,
            guest=facts.guest,
            room=facts.room,
            coffee=facts.coffee,  # type: ignore[arg-type] # the enum's number
            hints=facts.hints,
        )
        for number, facts in enumerate(seats)
    ]
