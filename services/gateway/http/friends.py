"""Friends' tables: open, find, sit, choose, deal, play again (P20-P25). Changes are told on the socket (`enter`)."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from libs.chassis.errors import DomainError, Kind
from services.gateway.http import models
from services.gateway.http.accounts import IdempotencyKey, request_id
from services.gateway.http.bearer import Holder
from services.gateway.http.parts import Parts, PartsOf
from services.gateway.sessions import Bearer
from whist.matchmaking.v1 import matchmaking_pb2
from whist.tables.v1 import friends_pb2

router = APIRouter(prefix="/v1", tags=["friends"])


class AlreadySeated(DomainError):
    """Who waits for a quick table sits nowhere else (X3): the ticket may be taken back first."""

    kind = Kind.CONFLICT
    reason = "ALREADY_SEATED"


TableId = Annotated[models.Id, Path()]
AccountId = Annotated[models.Id, Path()]
ANY_SEAT = -1


@router.get("/friends-tables")
async def friends_tables(
    parts: PartsOf, holder: Holder, limit: Annotated[int, Query(ge=1, le=100)] = 50
) -> models.FriendsTables:
    """The table list: those that wait, and those in play, which may be watched."""
    answer = await parts.clients.table_call("ListFriendsTables", friends_pb2.ListFriendsTablesRequest(limit=limit))
    return models.FriendsTables(tables=[models.FriendsTable.of(table) for table in answer.tables])


@router.post("/friends-tables", status_code=201)
async def open_friends_table(
    parts: PartsOf, holder: Holder, body: models.Choices, idempotency_key: IdempotencyKey = None
) -> models.FriendsTable:
    """Open a table and sit down at it as its host. Guests open none (P42)."""
    parts.limits.table(holder.account_id)
    await _require_no_ticket(parts, holder)
    answer = await parts.clients.table_call(
        "OpenFriendsTable",
        friends_pb2.OpenFriendsTableRequest(
            who=await parts.clients.friend(holder.account_id),
            request_id=_request(idempotency_key, parts),
            choices=body.to_message(),
        ),
    )
    return models.FriendsTable.of(answer.table)


@router.get("/friends-tables/{table_id}")
async def friends_table(parts: PartsOf, holder: Holder, table_id: TableId) -> models.FriendsTable:
    """One table, listed or not: whoever has its link may look."""
    answer = await parts.clients.table_call(
        "GetFriendsTable", friends_pb2.GetFriendsTableRequest(table_id=bytes.fromhex(table_id))
    )
    return models.FriendsTable.of(answer.table)


@router.delete("/friends-tables/{table_id}")
async def close_friends_table(
    parts: PartsOf, holder: Holder, table_id: TableId, idempotency_key: IdempotencyKey = None
) -> models.FriendsTable:
    """Close the table before the deal (the host)."""
    return await _change(parts, holder, table_id, idempotency_key, close=friends_pb2.Close())


@router.put("/friends-tables/{table_id}/choices")
async def choose(
    parts: PartsOf, holder: Holder, table_id: TableId, body: models.Choices, idempotency_key: IdempotencyKey = None
) -> models.FriendsTable:
    """Choose anew, all of it (the host)."""
    wish = friends_pb2.Choose(choices=body.to_message())
    return await _change(parts, holder, table_id, idempotency_key, choose=wish)


@router.post("/friends-tables/{table_id}/sit")
async def sit(
    parts: PartsOf, holder: Holder, table_id: TableId, body: models.SeatWish, idempotency_key: IdempotencyKey = None
) -> models.FriendsTable:
    """Sit down, or move to another seat, before the deal."""
    await _require_no_ticket(parts, holder)
    wish = friends_pb2.Sit(seat=ANY_SEAT if body.seat is None else body.seat)
    return await _change(parts, holder, table_id, idempotency_key, sit=wish)


@router.post("/friends-tables/{table_id}/stand")
async def stand(
    parts: PartsOf, holder: Holder, table_id: TableId, idempotency_key: IdempotencyKey = None
) -> models.FriendsTable:
    """Give the seat up before the deal; afterwards, on the socket: `quit`."""
    return await _change(parts, holder, table_id, idempotency_key, stand=friends_pb2.Stand())


@router.post("/friends-tables/{table_id}/kick")
async def kick(
    parts: PartsOf, holder: Holder, table_id: TableId, body: models.Person, idempotency_key: IdempotencyKey = None
) -> models.FriendsTable:
    """Send somebody away for good, before the deal (the host)."""
    wish = friends_pb2.Kick(account_id=bytes.fromhex(body.account))
    return await _change(parts, holder, table_id, idempotency_key, kick=wish)


@router.post("/friends-tables/{table_id}/deal")
async def deal(
    parts: PartsOf, holder: Holder, table_id: TableId, idempotency_key: IdempotencyKey = None
) -> models.FriendsTable:
    """Deal (the host): bots take the empty seats, and the game is followed on the socket by `join`."""
    return await _change(parts, holder, table_id, idempotency_key, deal=friends_pb2.Deal())


@router.post("/friends-tables/{table_id}/rematch")
async def rematch(parts: PartsOf, holder: Holder, table_id: TableId) -> models.FriendsTable:
    """A new table for those who played: the first who asks opens it, the others sit down at it. Idempotent."""
    parts.limits.table(holder.account_id)
    await _require_no_ticket(parts, holder)
    answer = await parts.clients.table_call(
        "Rematch",
        friends_pb2.RematchRequest(table_id=bytes.fromhex(table_id), who=await parts.clients.friend(holder.account_id)),
    )
    return models.FriendsTable.of(answer.table)


@router.post("/friends-tables/{table_id}/take-seat")
async def take_seat(
    parts: PartsOf, holder: Holder, table_id: TableId, body: models.SeatTaken, idempotency_key: IdempotencyKey = None
) -> models.Seated:
    """Take over a seat of a game in play that was left, or that only a bot holds (P22)."""
    await _require_no_ticket(parts, holder)
    seq = await parts.clients.take_seat(
        friends_pb2.TakeSeatRequest(
            table_id=bytes.fromhex(table_id),
            who=await parts.clients.friend(holder.account_id),
            request_id=_request(idempotency_key, parts),
            seat=body.seat,
        )
    )
    return models.Seated(seq=seq)


@router.post("/friends-tables/{table_id}/report", status_code=204)
async def report(
    parts: PartsOf, holder: Holder, table_id: TableId, body: models.Report, idempotency_key: IdempotencyKey = None
) -> None:
    """Tell the operators of somebody's chat; what they said last is kept with it."""
    parts.limits.table(holder.account_id)
    await parts.clients.table_call(
        "Report",
        friends_pb2.ReportRequest(
            table_id=bytes.fromhex(table_id),
            account_id=holder.account_id,
            request_id=_request(idempotency_key, parts),
            reported=bytes.fromhex(body.account),
            words=body.words,
        ),
    )


@router.put("/mutes/{account_id}", status_code=204)
async def mute(parts: PartsOf, holder: Holder, account_id: AccountId) -> None:
    """Do not see this account's chat any more, at any table. Idempotent."""
    await _mute(parts, holder, account_id, on=True)


@router.delete("/mutes/{account_id}", status_code=204)
async def unmute(parts: PartsOf, holder: Holder, account_id: AccountId) -> None:
    """See it again. Idempotent."""
    await _mute(parts, holder, account_id, on=False)


async def _mute(parts: Parts, holder: Bearer, account_id: str, *, on: bool) -> None:
    muted = bytes.fromhex(account_id)
    await parts.clients.table_call("Mute", friends_pb2.MuteRequest(account_id=holder.account_id, muted=muted, mute=on))


async def _change(
    parts: Parts, holder: Bearer, table_id: str, idempotency_key: str | None, **change: Any
) -> models.FriendsTable:
    answer = await parts.clients.table_call(
        "ChangeFriendsTable",
        friends_pb2.ChangeFriendsTableRequest(
            table_id=bytes.fromhex(table_id),
            who=await parts.clients.friend(holder.account_id),
            request_id=_request(idempotency_key, parts),
            **change,
        ),
    )
    return models.FriendsTable.of(answer.table)


async def _require_no_ticket(parts: Parts, holder: Bearer) -> None:
    """Raises AlreadySeated. A ticket made in the same moment is dropped when its table is dealt; the seat stands."""
    try:
        answer = await parts.clients.matchmaking.call(
            parts.clients.matchmaking_stub.Status, matchmaking_pb2.StatusRequest(account_id=holder.account_id)
        )
    except DomainError as error:
        if error.kind is not Kind.UNAVAILABLE:
            raise
        return  # friends play on without matchmaking
    if answer.status.state in (matchmaking_pb2.QUEUE_STATE_WAITING, matchmaking_pb2.QUEUE_STATE_MATCHED):
        raise AlreadySeated(queue=True)


def _request(idempotency_key: str | None, parts: Parts) -> str:
    return request_id(idempotency_key, parts).hex()
