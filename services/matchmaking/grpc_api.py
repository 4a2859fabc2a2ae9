"""The RPCs of matchmaking: translation between messages and the domain, nothing else."""

from collections.abc import AsyncIterator, Mapping
from typing import Any
from uuid import UUID

from libs.house.modes import Coffee, Mode
from libs.house.prizes import PLACE_BP, prize_coins
from services.matchmaking.domain.admission import linkage_of
from services.matchmaking.domain.errors import BadId, UnknownCoffee, UnknownMode
from services.matchmaking.domain.ids import AccountId
from services.matchmaking.domain.tickets import Place, TicketState, Wish
from services.matchmaking.handlers.queueing import OpenRoom, Queueing
from services.matchmaking.handlers.watching import Watching
from services.matchmaking.peers import COFFEES, MODES
from whist.matchmaking.v1 import matchmaking_pb2 as pb
from whist.matchmaking.v1.matchmaking_pb2_grpc import MatchmakingServiceServicer
from whist.types.v1 import types_pb2

STATES: Mapping[TicketState, pb.QueueState.ValueType] = {
    TicketState.WAITING: pb.QUEUE_STATE_WAITING,
    TicketState.MATCHED: pb.QUEUE_STATE_MATCHED,
    TicketState.SEATED: pb.QUEUE_STATE_SEATED,
    TicketState.DROPPED: pb.QUEUE_STATE_DROPPED,
    TicketState.CANCELLED: pb.QUEUE_STATE_DROPPED,  # one that the player took back reads as idle
}
_MODES = {word: mode for mode, word in MODES.items()}
_COFFEES = {word: coffee for coffee, word in COFFEES.items()}


class MatchmakingApi(MatchmakingServiceServicer):
    """whist.matchmaking.v1.MatchmakingService."""

    def __init__(self, queueing: Queueing, watching: Watching, linkage_key: bytes) -> None:
        self._queueing = queueing
        self._watching = watching
        self._linkage_key = linkage_key

    async def Rooms(self, request: pb.RoomsRequest, context: Any) -> pb.RoomsResponse:  # noqa: N802
        del context
        account_id = _account(request.account_id)
        rooms = await self._queueing.rooms(account_id, guest=request.guest)
        vip_weekdays = self._queueing.days.weekdays(account_id, guest=request.guest)
        return pb.RoomsResponse(rooms=[_room(room) for room in rooms], vip_weekdays=vip_weekdays)

    async def Enqueue(self, request: pb.EnqueueRequest, context: Any) -> pb.EnqueueResponse:  # noqa: N802
        del context
        wish = Wish(
            account_id=_account(request.account_id),
            guest=request.guest,
            name=request.name,
            room=request.room,
            mode=_mode(request.mode),
            coffee=_coffee(request.coffee),
            linkage=linkage_of(request.network, self._linkage_key),
        )
        return pb.EnqueueResponse(status=status_of(await self._queueing.enqueue(wish)))

    async def Cancel(self, request: pb.CancelRequest, context: Any) -> pb.CancelResponse:  # noqa: N802
        del context
        await self._queueing.cancel(_account(request.account_id))
        return pb.CancelResponse()

    async def Status(self, request: pb.StatusRequest, context: Any) -> pb.StatusResponse:  # noqa: N802
        del context
        return pb.StatusResponse(status=status_of(await self._queueing.place(_account(request.account_id))))

    async def Watch(self, request: pb.WatchRequest, context: Any) -> AsyncIterator[pb.WatchResponse]:  # noqa: N802
        del context
        async for place in self._watching.follow(_account(request.account_id)):
            yield pb.WatchResponse(status=status_of(place))


def status_of(place: Place) -> pb.QueueStatus:
    """The contract's form of a place."""
    ticket = place.ticket
    if ticket is None:
        return pb.QueueStatus(state=pb.QUEUE_STATE_IDLE)
    status = pb.QueueStatus(
        state=STATES[ticket.state],
        ticket_id=ticket.ticket_id.bytes,
        table_id=b"" if ticket.table_id is None else ticket.table_id.bytes,
        room=ticket.wish.room,
        mode=MODES[ticket.wish.mode],
        coffee=COFFEES[ticket.wish.coffee],
        seats_filled=place.seats_filled,
        dropped_reason=ticket.dropped_reason,
        position=place.in_line.position,
        waiting=place.in_line.waiting,
        remaining_ms=place.remaining_ms,
    )
    if place.deals_at is not None:
        status.deals_at.FromDatetime(place.deals_at)
    return status


def _room(open_room: OpenRoom) -> pb.Room:
    room = open_room.room
    return pb.Room(
        room=room.number,
        name=room.name,
        entry_coins=room.entry_coins,
        entry_bars=room.entry_bars,
        prizes=[prize_coins(room.prize_coins, place, Coffee.NONE) for place in range(1, len(PLACE_BP) + 1)],
        level=room.level,
        vip=room.vip,
        closed_reason=open_room.closed_reason,
        waiting=open_room.waiting,
    )


def _account(raw: bytes) -> AccountId:
    if len(raw) != 16:
        raise BadId(field="account_id")
    return AccountId(UUID(bytes=raw))


def _mode(word: types_pb2.Mode.ValueType) -> Mode:
    if word not in _MODES:
        raise UnknownMode(mode=int(word))
    return _MODES[word]


def _coffee(word: types_pb2.Coffee.ValueType) -> Coffee:
    if word not in _COFFEES:
        raise UnknownCoffee(coffee=int(word))
    return _COFFEES[word]
