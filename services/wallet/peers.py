"""The services the wallet calls."""

from uuid import UUID

from libs.chassis.rpc.peer import Peer
from services.wallet.domain.ledger import TableId
from services.wallet.domain.weeks import FinishedGames
from whist.tables.v1 import tables_pb2
from whist.tables.v1.tables_pb2_grpc import TablesServiceStub


class TablesPeer:
    """`services.wallet.ports.Tables` over gRPC; any worker can answer."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._stub = TablesServiceStub(peer.channel)

    async def abandon(self, table_id: TableId) -> bool:
        """Only the word ABANDONED releases; whatever else is answered leaves the hold to the table's event."""
        response = await self._peer.call(self._stub.Abandon, tables_pb2.AbandonRequest(table_id=table_id.bytes))
        return bool(response.outcome == tables_pb2.ABANDON_OUTCOME_ABANDONED)

    async def finished_games(self, week_id: str, *, after: TableId | None) -> FinishedGames:
        request = tables_pb2.FinishedGamesRequest(week_id=week_id, after=b"" if after is None else after.bytes)
        response = await self._peer.call(self._stub.FinishedGames, request)
        return FinishedGames(
            tables=[TableId(UUID(bytes=each)) for each in response.table_ids],
            more=response.more,
            complete=response.complete,
        )
