"""The table workers as the wallet meets them, in memory and over the wire; test_old_holds.py runs one suite on both."""

from collections import defaultdict
from typing import Any
from uuid import UUID

import grpc

from libs.chassis.errors import Unavailable
from services.wallet.domain.ledger import TableId
from services.wallet.domain.weeks import FinishedGames
from whist.tables.v1 import tables_pb2
from whist.tables.v1.tables_pb2_grpc import TablesServiceServicer


class FakeTables:
    """The port's contract in memory: once a table has answered, it answers the same for ever."""

    def __init__(self) -> None:
        self.dealt: set[TableId] = set()
        self.silent: set[TableId] = set()
        self.asked: list[TableId] = []
        # Quick games by the week in which they finished, and the weeks that no game can join any more.
        self.finished: dict[str, list[TableId]] = defaultdict(list)
        self.complete: set[str] = set()
        self.page = 5000

    async def finished_games(self, week_id: str, *, after: TableId | None) -> FinishedGames:
        found = sorted(table for table in self.finished[week_id] if after is None or table > after)
        return FinishedGames(tables=found[: self.page], more=len(found) > self.page, complete=week_id in self.complete)

    async def abandon(self, table_id: TableId) -> bool:
        self.asked.append(table_id)
        if table_id in self.silent:
            raise Unavailable
        return table_id not in self.dealt


class TablesServer(TablesServiceServicer):
    """A worker's answer over the wire, decided by the same fake."""

    def __init__(self, fake: FakeTables) -> None:
        self.fake = fake

    async def Abandon(  # noqa: N802
        self, request: tables_pb2.AbandonRequest, context: Any
    ) -> tables_pb2.AbandonResponse:
        table_id = TableId(UUID(bytes=request.table_id))
        try:
            abandoned = await self.fake.abandon(table_id)
        except Unavailable:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "away")
        outcome = tables_pb2.ABANDON_OUTCOME_ABANDONED if abandoned else tables_pb2.ABANDON_OUTCOME_DEALT
        return tables_pb2.AbandonResponse(outcome=outcome)

    async def FinishedGames(  # noqa: N802
        self, request: tables_pb2.FinishedGamesRequest, context: Any
    ) -> tables_pb2.FinishedGamesResponse:
        after = TableId(UUID(bytes=request.after)) if request.after else None
        page = await self.fake.finished_games(request.week_id, after=after)
        return tables_pb2.FinishedGamesResponse(
            table_ids=[each.bytes for each in page.tables], more=page.more, complete=page.complete
        )
