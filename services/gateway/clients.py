"""The other services as the gateway calls them: requests out, answers and refusals in."""

import json
from collections.abc import AsyncIterator
from datetime import UTC
from typing import Any

import stamina
from google.protobuf.message import Message

from libs.chassis.errors import DomainError, Kind
from libs.chassis.rpc.peer import CALL_SECONDS, Peer, is_unavailable
from libs.wire.frames import Chat, Choices, Friend, Queue, Waiting
from services.gateway.locating import Locating
from services.gateway.ports import OpenPeer, Whereabouts
from whist.auth.v1 import auth_pb2, auth_pb2_grpc
from whist.coach.v1 import coach_pb2_grpc
from whist.leagues.v1 import leagues_pb2_grpc
from whist.matchmaking.v1 import matchmaking_pb2, matchmaking_pb2_grpc
from whist.tables.v1 import friends_pb2, tables_pb2, tables_pb2_grpc
from whist.types.v1 import types_pb2
from whist.wallet.v1 import wallet_pb2_grpc

OWNER_TRIES = 4  # a table may change its worker between the question and the call

STATES = {
    matchmaking_pb2.QUEUE_STATE_IDLE: "idle",
    matchmaking_pb2.QUEUE_STATE_WAITING: "waiting",
    matchmaking_pb2.QUEUE_STATE_MATCHED: "matched",
    matchmaking_pb2.QUEUE_STATE_SEATED: "seated",
    matchmaking_pb2.QUEUE_STATE_DROPPED: "dropped",
}
MODES = {types_pb2.MODE_QUICK: "quick", types_pb2.MODE_CLASSIC: "classic"}


class AccountSuspended(DomainError):
    """Its sessions are over, which this gateway may not have heard (it has started since)."""

    kind = Kind.FORBIDDEN
    reason = "ACCOUNT_SUSPENDED"


class Clients:
    """One stub a service, beside the peer that calls it."""

    def __init__(
        self, *, auth: Peer, matchmaking: Peer, tables: Peer, wallet: Peer, leagues: Peer, coach: Peer,
        open_peer: OpenPeer,
    ) -> None:  # fmt: skip
        self._open_peer = open_peer
        self.auth, self.auth_stub = auth, auth_pb2_grpc.AuthServiceStub(auth.channel)
        self.matchmaking = matchmaking
        self.matchmaking_stub = matchmaking_pb2_grpc.MatchmakingServiceStub(matchmaking.channel)
        self.tables, self.tables_stub = tables, tables_pb2_grpc.TablesServiceStub(tables.channel)
        self._locating = Locating(tables)
        self.wallet, self.wallet_stub = wallet, wallet_pb2_grpc.WalletServiceStub(wallet.channel)
        self.leagues, self.leagues_stub = leagues, leagues_pb2_grpc.LeaguesServiceStub(leagues.channel)
        self.coach, self.coach_stub = coach, coach_pb2_grpc.CoachServiceStub(coach.channel)

    async def jwks(self) -> str:
        """Auth's public keys. Raises DomainError of kind UNAVAILABLE."""
        answer = await self.auth.call(self.auth_stub.Jwks, auth_pb2.JwksRequest())
        return str(answer.jwks_json)

    async def locate(self, table_id: bytes) -> Whereabouts:
        """`Locator` by any table worker; one try, the caller comes again."""
        return await self._locating.locate(table_id)

    async def watch(self, account_id: bytes) -> AsyncIterator[Queue]:
        """`QueueWatch` by matchmaking's stream."""
        request = matchmaking_pb2.WatchRequest(account_id=account_id)
        async for answer in self.matchmaking.watch(self.matchmaking_stub.Watch, request):
            yield queue_frame(answer.status)

    async def friend(self, account_id: bytes) -> friends_pb2.Friend:
        """An account as friends' tables know it. Raises AccountSuspended."""
        found = await self.auth.call(self.auth_stub.GetAccount, auth_pb2.GetAccountRequest(account_id=account_id))
        if found.account.suspended:
            raise AccountSuspended
        return friends_pb2.Friend(account_id=account_id, name=found.account.name, guest=found.account.guest)

    async def table_call(self, rpc: str, request: Message) -> Any:
        """Call any table worker."""
        return await self.tables.call(getattr(self.tables_stub, rpc), request)

    async def take_seat(self, request: friends_pb2.TakeSeatRequest) -> int:
        """Ask the worker that owns the table. Raises DomainError."""
        return int((await self._owner_call("TakeSeat", request, request.table_id)).seq)

    async def void_game(self, request: tables_pb2.VoidGameRequest) -> bool:
        """Ask the worker that owns the table, or any where it has ended; whether it had. Raises DomainError."""
        try:
            answer = await self._owner_call("VoidGame", request, request.table_id)
        except DomainError as refusal:
            if refusal.reason != "TABLE_FINISHED":
                raise
            answer = await self.table_call("VoidGame", request)
        return bool(answer.had_finished)

    async def _owner_call(self, rpc: str, request: Message, table_id: bytes) -> Any:
        """Call the owner of a live table; another try where it has just changed hands. Raises DomainError."""
        async for attempt in stamina.retry_context(
            on=is_unavailable, attempts=OWNER_TRIES, timeout=CALL_SECONDS, wait_initial=0.1, wait_max=0.5
        ):
            with attempt:
                found = await self.locate(table_id)
                owner = self._open_peer(found.address)
                try:
                    stub = tables_pb2_grpc.TablesServiceStub(owner.channel)
                    return await owner.call(getattr(stub, rpc), request, tries=1)
                finally:
                    await owner.close()
        raise AssertionError("unreachable: retry_context raises")

    async def enter(self, table_id: bytes, account_id: bytes, since_line: int) -> AsyncIterator[Waiting | Chat]:
        """`Company` by any table worker's stream."""
        request = friends_pb2.WatchFriendsTableRequest(table_id=table_id, account_id=account_id, since_line=since_line)
        async for told in self.tables.watch(self.tables_stub.WatchFriendsTable, request):
            if told.HasField("table"):
                yield waiting_frame(told.table)
            for line in told.lines:
                yield chat_frame(table_id, line)

    async def say(self, table_id: bytes, account_id: bytes, req: str, words: str) -> int:
        """`Company` by any table worker."""
        who = await self.friend(account_id)
        request = friends_pb2.SayRequest(table_id=table_id, who=who, request_id=req, words=words)
        return int((await self.table_call("Say", request)).line)


STAGES = {
    friends_pb2.FRIENDS_STAGE_WAITING: "waiting",
    friends_pb2.FRIENDS_STAGE_DEALT: "dealt",
    friends_pb2.FRIENDS_STAGE_CLOSED: "closed",
}


def waiting_frame(table: friends_pb2.FriendsTable) -> Waiting:
    """A friends' table as sockets and REST show it."""
    chosen = table.choices
    return Waiting(
        table=table.table_id.hex(),
        stage=STAGES.get(table.stage, "closed"),
        version=table.version,
        host=table.host.hex(),
        choices=Choices(
            game=chosen.game,
            options=json.loads(chosen.options_json or "{}"),
            players=chosen.players,
            bid_seconds=chosen.bid_seconds,
            bots=chosen.bots,
            listed=chosen.listed,
            spectators=chosen.spectators,
            open_chat=chosen.open_chat,
        ),
        seats=[
            Friend(account=seat.who.account_id.hex(), name=seat.who.name, guest=seat.who.guest)
            if seat.HasField("who")
            else None
            for seat in table.seats
        ],
    )


def chat_frame(table_id: bytes, line: friends_pb2.ChatLine) -> Chat:
    """A line as sockets show it."""
    return Chat(
        table=table_id.hex(),
        line=line.line,
        account=line.account_id.hex(),
        name=line.name,
        words=line.words,
        at=int(line.at.ToDatetime(UTC).timestamp() * 1000),
    )


def queue_frame(status: matchmaking_pb2.QueueStatus) -> Queue:
    """A place in matchmaking as the socket shows it."""
    return Queue(
        state=STATES.get(status.state, "idle"),
        table=status.table_id.hex(),
        room=status.room,
        mode=MODES.get(status.mode, ""),
        seats=status.seats_filled,
        deals_at=int(status.deals_at.ToDatetime(UTC).timestamp() * 1000) if status.HasField("deals_at") else 0,
        position=status.position,
        waiting=status.waiting,
        remaining_ms=status.remaining_ms,
        reason=status.dropped_reason,
    )
