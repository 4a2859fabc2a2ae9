"""Rooms, queue and tables of the account that asks, and the coach's hints."""

import json
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request

from libs.chassis.errors import DomainError, Kind
from services.gateway.http import models
from services.gateway.http.accounts import IdempotencyKey
from services.gateway.http.bearer import Holder
from services.gateway.http.parts import Parts, PartsOf
from services.gateway.network import neighbours_of
from whist.auth.v1 import auth_pb2
from whist.coach.v1 import coach_pb2
from whist.matchmaking.v1 import matchmaking_pb2
from whist.tables.v1 import tables_pb2
from whist.types.v1 import types_pb2

router = APIRouter(prefix="/v1", tags=["play"])

TableId = Annotated[models.Id, Path()]
STATUSES = {
    tables_pb2.TABLE_STATUS_LIVE: "live",
    tables_pb2.TABLE_STATUS_FINISHED: "finished",
    tables_pb2.TABLE_STATUS_VOIDED: "voided",
    tables_pb2.TABLE_STATUS_ABANDONED: "abandoned",
}


class HintsNotAllowed(DomainError):
    """Hints are for friends' tables and for VIP days (P13, P23)."""

    kind = Kind.FORBIDDEN
    reason = "HINTS_NOT_ALLOWED"


class GameOver(DomainError):
    """The table is not live any more."""

    kind = Kind.CONFLICT
    reason = "GAME_OVER"


@router.get("/rooms")
async def rooms(parts: PartsOf, holder: Holder) -> models.Rooms:
    """The rooms, for each why one may not enter it now (P2), and one's VIP days (P13)."""
    answer = await parts.clients.matchmaking.call(
        parts.clients.matchmaking_stub.Rooms,
        matchmaking_pb2.RoomsRequest(account_id=holder.account_id, guest=holder.guest),
    )
    return models.Rooms(
        rooms=[models.Room.of(room) for room in answer.rooms],
        vip_days=[models.WEEKDAYS[day] for day in answer.vip_weekdays],
    )


@router.post("/queue")
async def enqueue(
    request: Request,
    parts: PartsOf,
    holder: Holder,
    body: models.QueueRequest,
    idempotency_key: IdempotencyKey = None,
) -> models.Place:
    """Ask for a seat. A second request returns the first ticket or the live seat (P8), with a key or without."""
    account = await parts.clients.auth.call(
        parts.clients.auth_stub.GetAccount, auth_pb2.GetAccountRequest(account_id=holder.account_id)
    )
    answer = await parts.clients.matchmaking.call(
        parts.clients.matchmaking_stub.Enqueue,
        matchmaking_pb2.EnqueueRequest(
            account_id=holder.account_id,
            guest=account.account.guest,
            name=account.account.name,
            room=body.room,
            mode=models.MODE_OF[body.mode],
            coffee=models.COFFEE_OF[body.coffee] if body.coffee else types_pb2.COFFEE_UNSPECIFIED,
            network=neighbours_of(request.state.network),
        ),
    )
    return models.Place.of(answer.status)


@router.get("/queue")
async def place(parts: PartsOf, holder: Holder) -> models.Place:
    """Idle, waiting, matched or seated; on the socket, `watch` tells each change."""
    answer = await parts.clients.matchmaking.call(
        parts.clients.matchmaking_stub.Status, matchmaking_pb2.StatusRequest(account_id=holder.account_id)
    )
    return models.Place.of(answer.status)


@router.delete("/queue", status_code=204)
async def cancel(parts: PartsOf, holder: Holder) -> None:
    """Take the ticket back before the deal, for free. Idempotent."""
    await parts.clients.matchmaking.call(
        parts.clients.matchmaking_stub.Cancel, matchmaking_pb2.CancelRequest(account_id=holder.account_id)
    )


@router.get("/seat")
async def seat(parts: PartsOf, holder: Holder) -> models.Seat:
    """Where one sits, waiting or playing, quick or friends': there is one such table at most (X3)."""
    answer = await parts.clients.table_call("SeatOf", tables_pb2.SeatOfRequest(account_id=holder.account_id))
    return models.Seat.of(answer)


@router.get("/tables/{table_id}")
async def table(parts: PartsOf, holder: Holder, table_id: TableId) -> models.TableView:
    """A table as one's own seat sees it; who has no seat there is refused."""
    answer = await _get_table(parts, holder.account_id, table_id)
    return models.TableView.model_validate(
        {
            "table": table_id,
            "status": STATUSES.get(answer.status, "abandoned"),
            "seat": answer.seat,
            "left": answer.left,
            "hints": answer.hints,
            "view": json.loads(answer.view_json) if answer.view_json else None,
        }
    )


@router.post("/tables/{table_id}/hint")
async def hint(parts: PartsOf, holder: Holder, table_id: TableId) -> models.Hint:
    """What the coach would do and what each legal move promises, from what one's own seat can know (P60)."""
    seen = await _get_table(parts, holder.account_id, table_id)
    if not seen.hints or seen.left:
        raise HintsNotAllowed
    if not seen.view_json:
        raise GameOver
    answer = await parts.clients.coach.call(
        parts.clients.coach_stub.Hint, coach_pb2.HintRequest(game=seen.game or "romanian", view_json=seen.view_json)
    )
    return models.Hint.of(answer)


async def _get_table(parts: Parts, account_id: bytes, table_id: str) -> Any:
    return await parts.clients.tables.call(
        parts.clients.tables_stub.GetTable,
        tables_pb2.GetTableRequest(table_id=bytes.fromhex(table_id), account_id=account_id),
    )
