"""The wallet as leagues hear and call it: it pays prizes, takes them back, tells both by events, and seals weeks."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any
from uuid import UUID

import grpc

from libs.chassis.events.envelope import Event
from libs.chassis.rpc.peer import Peer
from services.leagues.peers import WalletPeer
from tests.services.leagues.builders import EVENING, WEEK, game_refunded, new_id, prize_paid, prize_reversed
from whist.wallet.v1.wallet_pb2 import SealWeekRequest, SealWeekResponse, WeekTotal
from whist.wallet.v1.wallet_pb2_grpc import WalletServiceServicer, add_WalletServiceServicer_to_server


class Wallet(WalletServiceServicer):
    """A ledger of prizes by week; a week's games are settled unless it is `unsettled`. What is sealed stays so."""

    def __init__(self, *, page: int = 3) -> None:
        self.page = page
        self.paid: dict[tuple[str, UUID], dict[UUID, int]] = {}
        self.unsettled: set[str] = set()
        self.sealed: dict[str, dict[UUID, int]] = {}
        self.asked: list[str] = []

    def forget(self) -> None:
        """As a new wallet."""
        for kept in (self.paid, self.unsettled, self.sealed, self.asked):
            kept.clear()

    def pay(self, account: UUID, coins: int, *, table: UUID | None = None, week: str = WEEK,
            at: datetime = EVENING) -> Event:  # fmt: skip
        """Pay a prize and answer its event, which may come whenever it comes."""
        table_id = table or new_id()
        self.paid.setdefault((week, account), {})[table_id] = coins
        return prize_paid(account, coins, table_id=table_id, week=week, at=at)

    def refund(self, account: UUID, table: UUID, *, week: str = WEEK) -> Event:
        coins = self.paid[week, account].pop(table)
        return game_refunded(account, coins, table, week=week)

    def reverse(self, account: UUID, table: UUID, *, week: str = WEEK) -> Event:
        """An operator has voided the game, maybe long after its week was sealed."""
        coins = self.paid[week, account].pop(table)
        return prize_reversed(account, coins, table, week=week)

    def totals(self, week: str) -> dict[UUID, int]:
        """Of those with more than nothing."""
        sums = {account: sum(prizes.values()) for (of, account), prizes in self.paid.items() if of == week}
        return {account: coins for account, coins in sorted(sums.items()) if coins}

    async def SealWeek(self, request: SealWeekRequest, context: Any) -> SealWeekResponse:  # noqa: N802
        del context
        week = request.week_id
        self.asked.append(week)
        if week in self.unsettled:
            return SealWeekResponse(sealed=False)
        totals = self.sealed.setdefault(week, self.totals(week))
        behind = [(who, coins) for who, coins in totals.items() if who.bytes > request.after]
        shown = [
            WeekTotal(account_id=who.bytes, coins=coins, prizes=len(self.paid[week, who]))
            for who, coins in behind[: self.page]
        ]
        return SealWeekResponse(sealed=True, totals=shown, more=len(behind) > self.page)


def a_wallet() -> Wallet:
    return Wallet()  # type: ignore[abstract] # what leagues do not call is not served


@asynccontextmanager
async def wallet_serving(wallet: Wallet, target: str) -> AsyncIterator[WalletPeer]:
    """A gRPC server at `target`, and the peer of leagues that calls it."""
    server = grpc.aio.server()
    add_WalletServiceServicer_to_server(wallet, server)
    server.add_insecure_port(target)
    await server.start()
    peer = Peer(target, "leagues")
    try:
        yield WalletPeer(peer)
    finally:
        await peer.close()
        await server.stop(0)
