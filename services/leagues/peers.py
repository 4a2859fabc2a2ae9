"""The services leagues call."""

from uuid import UUID

from libs.chassis.rpc.peer import Peer
from services.leagues.domain.closing import TotalsPage, WeekTotal
from services.leagues.domain.results import AccountId, WeekId
from whist.wallet.v1 import wallet_pb2
from whist.wallet.v1.wallet_pb2_grpc import WalletServiceStub

SEAL_SECONDS = 30.0  # the first page may have to lock the week's refunds


class WalletPeer:
    """`services.leagues.ports.Wallet` over gRPC."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._stub = WalletServiceStub(peer.channel)

    async def seal_week(self, week: WeekId, after: AccountId | None) -> TotalsPage | None:
        request = wallet_pb2.SealWeekRequest(week_id=week, after=after.bytes if after else b"")
        answer: wallet_pb2.SealWeekResponse = await self._peer.call(self._stub.SealWeek, request, seconds=SEAL_SECONDS)
        if not answer.sealed:
            return None
        return TotalsPage(
            totals=tuple(
                WeekTotal(account_id=AccountId(UUID(bytes=each.account_id)), coins=each.coins, prizes=each.prizes)
                for each in answer.totals
            ),
            more=answer.more,
        )
