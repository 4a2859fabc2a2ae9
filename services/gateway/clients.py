"""The other services as the gateway calls them: requests out, answers and refusals in."""

from collections.abc import AsyncIterator
from datetime import UTC

from libs.chassis.rpc.peer import Peer
from libs.wire.frames import Queue
from services.gateway.ports import Whereabouts
from whist.auth.v1 import auth_pb2, auth_pb2_grpc
from whist.coach.v1 import coach_pb2_grpc
from whist.leagues.v1 import leagues_pb2_grpc
from whist.matchmaking.v1 import matchmaking_pb2, matchmaking_pb2_grpc
from whist.tables.v1 import tables_pb2, tables_pb2_grpc
from whist.types.v1 import types_pb2
from whist.wallet.v1 import wallet_pb2_grpc

LOCATE_SECONDS = 2.0

STATES = {
    matchmaking_pb2.QUEUE_STATE_IDLE: "idle",
    matchmaking_pb2.QUEUE_STATE_WAITING: "waiting",
    matchmaking_pb2.QUEUE_STATE_MATCHED: "matched",
    matchmaking_pb2.QUEUE_STATE_SEATED: "seated",
    matchmaking_pb2.QUEUE_STATE_DROPPED: "dropped",
}
MODES = {types_pb2.MODE_QUICK: "quick", types_pb2.MODE_CLASSIC: "classic"}


class Clients:
    """One stub a service, beside the peer that calls it."""

    def __init__(
        self, *, auth: Peer, matchmaking: Peer, tables: Peer, wallet: Peer, leagues: Peer, coach: Peer
    ) -> None:
        self.auth, self.auth_stub = auth, auth_pb2_grpc.AuthServiceStub(auth.channel)
        self.matchmaking = matchmaking
        self.matchmaking_stub = matchmaking_pb2_grpc.MatchmakingServiceStub(matchmaking.channel)
        self.tables, self.tables_stub = tables, tables_pb2_grpc.TablesServiceStub(tables.channel)
        self.wallet, self.wallet_stub = wallet, wallet_pb2_grpc.WalletServiceStub(wallet.channel)
        self.leagues, self.leagues_stub = leagues, leagues_pb2_grpc.LeaguesServiceStub(leagues.channel)
        self.coach, self.coach_stub = coach, coach_pb2_grpc.CoachServiceStub(coach.channel)

    async def jwks(self) -> str:
        """Auth's public keys. Raises DomainError of kind UNAVAILABLE."""
        answer = await self.auth.call(self.auth_stub.Jwks, auth_pb2.JwksRequest())
        return str(answer.jwks_json)

    async def locate(self, table_id: bytes) -> Whereabouts:
        """`Locator` by any table worker; one try, the caller comes again."""
        found = await self.tables.call(
            self.tables_stub.Locate, tables_pb2.LocateRequest(table_id=table_id), seconds=LOCATE_SECONDS, tries=1
        )
        return Whereabouts(address=found.worker_address, epoch=found.epoch)

    async def watch(self, account_id: bytes) -> AsyncIterator[Queue]:
        """`QueueWatch` by matchmaking's stream."""
        request = matchmaking_pb2.WatchRequest(account_id=account_id)
        async for answer in self.matchmaking.watch(self.matchmaking_stub.Watch, request):
            yield queue_frame(answer.status)


def queue_frame(status: matchmaking_pb2.QueueStatus) -> Queue:
    """A place in matchmaking as the socket shows it."""
    return Queue(
        state=STATES.get(status.state, "idle"),
        table=status.table_id.hex(),
        room=status.room,
        mode=MODES.get(status.mode, ""),
        seats=status.seats_filled,
        deals_at=int(status.deals_at.ToDatetime(UTC).timestamp() * 1000) if status.HasField("deals_at") else 0,
        reason=status.dropped_reason,
    )
