"""TablesService: translation between protobuf and the handlers."""

import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

from libs.chassis.errors import DomainError
from services.tables.actor import TableActor
from services.tables.domain.entries import SeatFacts
from services.tables.domain.errors import BadOptions, TooManyTables
from services.tables.domain.table import Table
from services.tables.grpc_api.friends import FriendsApi, id_of, options_of
from services.tables.grpc_api.operators import STATUSES, OperatorsApi
from services.tables.grpc_api.personal import PersonalApi
from services.tables.handlers import finished, games
from services.tables.handlers.friends import Desk
from services.tables.handlers.games import OpenTable, TablesStore
from services.tables.handlers.operators import OperatorsStore
from services.tables.handlers.personal import PersonalStore
from services.tables.ports import Head
from services.tables.watching import Watching
from services.tables.worker import Worker
from whist.tables.v1 import tables_pb2, tables_pb2_grpc

LOCATED_MAX = 1000  # tables a question: a twentieth of what one message may carry

SERVICE = "/whist.tables.v1.TablesService/"
# The load harness's tables are made by the operators' listener, which lives in the gateway.
ALLOW = {
    f"{SERVICE}CreateTable": frozenset({"matchmaking", "gateway"}),
    f"{SERVICE}Locate": frozenset({"gateway"}),
    f"{SERVICE}LocateTables": frozenset({"gateway"}),
    f"{SERVICE}GetTable": frozenset({"gateway", "matchmaking"}),
    f"{SERVICE}SeatOf": frozenset({"gateway", "matchmaking"}),
    f"{SERVICE}Record": frozenset({"gateway"}),
    f"{SERVICE}FinishedGames": frozenset({"wallet"}),
    f"{SERVICE}ExportAccount": frozenset({"gateway"}),
    f"{SERVICE}Abandon": frozenset({"matchmaking", "wallet"}),
    f"{SERVICE}Play": frozenset({"gateway"}),
    f"{SERVICE}OpenFriendsTable": frozenset({"gateway"}),
    f"{SERVICE}ListFriendsTables": frozenset({"gateway"}),
    f"{SERVICE}GetFriendsTable": frozenset({"gateway"}),
    f"{SERVICE}ChangeFriendsTable": frozenset({"gateway"}),
    f"{SERVICE}Rematch": frozenset({"gateway"}),
    f"{SERVICE}TakeSeat": frozenset({"gateway"}),
    f"{SERVICE}Say": frozenset({"gateway"}),
    f"{SERVICE}Mute": frozenset({"gateway"}),
    f"{SERVICE}Report": frozenset({"gateway"}),
    f"{SERVICE}WatchFriendsTable": frozenset({"gateway"}),
    # The operators' listener, which lives in the gateway as well.
    f"{SERVICE}VoidGame": frozenset({"gateway"}),
    f"{SERVICE}CloseTable": frozenset({"gateway"}),
    f"{SERVICE}Silence": frozenset({"gateway"}),
    f"{SERVICE}ListTables": frozenset({"gateway"}),
    f"{SERVICE}ListReports": frozenset({"gateway"}),
    f"{SERVICE}AuditLog": frozenset({"gateway"}),
}


class TablesApi(FriendsApi, OperatorsApi, PersonalApi, tables_pb2_grpc.TablesServiceServicer):
    """Each method: decode, one call, encode. Others are in `friends`, `operators` and `personal`."""

    def __init__(
        self, worker: Worker, store: TablesStore, desk: Desk, watching: Watching, operators: OperatorsStore,
        personal: PersonalStore,
    ) -> None:  # fmt: skip
        FriendsApi.__init__(self, worker, store, desk, watching)
        OperatorsApi.__init__(self, worker, operators, desk, watching)
        PersonalApi.__init__(self, personal)

    async def CreateTable(  # noqa: N802 - named by the contract
        self, request: tables_pb2.CreateTableRequest, context: Any
    ) -> tables_pb2.CreateTableResponse:
        made = await self._worker.create(_open_table(request))
        if isinstance(made, TableActor):
            return tables_pb2.CreateTableResponse(worker_address=self._worker.address, epoch=made.epoch)
        return tables_pb2.CreateTableResponse(worker_address=made.owner_address or "", epoch=made.epoch)

    async def Locate(  # noqa: N802
        self, request: tables_pb2.LocateRequest, context: Any
    ) -> tables_pb2.LocateResponse:
        head = await games.locate(id_of(request.table_id, "table_id"), store=self._store)
        return tables_pb2.LocateResponse(worker_address=head.owner_address or "", epoch=head.epoch)

    async def LocateTables(  # noqa: N802
        self, request: tables_pb2.LocateTablesRequest, context: Any
    ) -> tables_pb2.LocateTablesResponse:
        if len(request.table_ids) > LOCATED_MAX:
            raise TooManyTables(most=LOCATED_MAX)
        ids = {id_of(each, "table_ids") for each in request.table_ids}
        return tables_pb2.LocateTablesResponse(
            tables=[_place(*each) for each in (await games.locate_all(ids, store=self._store)).items()]
        )

    async def GetTable(  # noqa: N802
        self, request: tables_pb2.GetTableRequest, context: Any
    ) -> tables_pb2.GetTableResponse:
        table_id = id_of(request.table_id, "table_id")
        if not request.account_id:
            status = await games.status_of(table_id, store=self._store)
            return tables_pb2.GetTableResponse(status=STATUSES[status], seat=-1)
        actor = self._worker.find(table_id.bytes)
        if actor is not None:
            return _seen(actor.table, request.account_id, games.LIVE)
        head, table = await games.load(table_id, store=self._store)
        return _seen(table, request.account_id, head.status)

    async def SeatOf(  # noqa: N802
        self, request: tables_pb2.SeatOfRequest, context: Any
    ) -> tables_pb2.SeatOfResponse:
        sitting = await games.seat_of(id_of(request.account_id, "account_id").bytes, store=self._store)
        if sitting is None:
            return tables_pb2.SeatOfResponse()
        dealt = sitting.kind is not None
        kind = tables_pb2.TableKind.ValueType(sitting.kind) if sitting.kind else tables_pb2.TABLE_KIND_FRIENDS
        return tables_pb2.SeatOfResponse(table_id=sitting.table_id.bytes, kind=kind, dealt=dealt)

    async def Record(  # noqa: N802
        self, request: tables_pb2.RecordRequest, context: Any
    ) -> tables_pb2.RecordResponse:
        plain = await games.fetch_record(id_of(request.table_id, "table_id"), request.account_id, store=self._store)
        return tables_pb2.RecordResponse(record_json=plain)

    async def FinishedGames(  # noqa: N802
        self, request: tables_pb2.FinishedGamesRequest, context: Any
    ) -> tables_pb2.FinishedGamesResponse:
        page = await finished.finished_games(
            request.week_id,
            after=id_of(request.after, "after") if request.after else None,
            limit=request.limit,
            store=self._store,
            zone=self._worker.zone,
        )
        return tables_pb2.FinishedGamesResponse(
            table_ids=[each.bytes for each in page.tables], more=page.more, complete=page.complete
        )

    async def Abandon(  # noqa: N802
        self, request: tables_pb2.AbandonRequest, context: Any
    ) -> tables_pb2.AbandonResponse:
        abandoned = await games.abandon(id_of(request.table_id, "table_id"), store=self._store)
        outcome = tables_pb2.ABANDON_OUTCOME_ABANDONED if abandoned else tables_pb2.ABANDON_OUTCOME_DEALT
        return tables_pb2.AbandonResponse(outcome=outcome)

    async def Play(  # noqa: N802
        self, request_iterator: AsyncIterator[tables_pb2.PlayRequest], context: Any
    ) -> AsyncIterator[tables_pb2.PlayResponse]:
        async for batch in self._worker.play(request.batch async for request in request_iterator):
            yield tables_pb2.PlayResponse(batch=batch)


def _place(table_id: UUID, place: Head | DomainError) -> tables_pb2.TablePlace:
    if isinstance(place, DomainError):
        status = str(place.facts.get("status", ""))
        return tables_pb2.TablePlace(table_id=table_id.bytes, reason=place.reason, status=status)
    return tables_pb2.TablePlace(table_id=table_id.bytes, worker_address=place.owner_address or "", epoch=place.epoch)


def _seen(table: Table, account: bytes, status: str) -> tables_pb2.GetTableResponse:
    seat, sits = table.seat_of(account), table.sits(account)
    shown = status == games.LIVE and not table.game.over(table.state)
    if sits is None:
        try:
            table.admit_spectator(account)
        except DomainError:
            if seat is None:
                raise
            shown = False  # who has left is told how the game stands with them, and no more of it
    return tables_pb2.GetTableResponse(
        status=STATUSES[status],
        seat=-1 if seat is None else seat,
        game=table.opened.game,
        view_json=json.dumps(table.view(sits), separators=(",", ":")) if shown else "",
        hints=sits is not None and table.seats[sits].hints,
        left=seat is not None and table.tallies[seat].left,
    )


def _open_table(request: tables_pb2.CreateTableRequest) -> OpenTable:
    if request.kind == tables_pb2.TABLE_KIND_UNSPECIFIED:
        raise BadOptions(kind=0)
    return OpenTable(
        table_id=id_of(request.table_id, "table_id"),
        kind=request.kind,
        mode=request.mode,
        game=request.game,
        options=options_of(request.options_json),
        players=[
            SeatFacts(
                account=id_of(player.account_id, "account_id").bytes,
                name=player.name[:32],
                guest=player.guest,
                room=player.room,
                coffee=player.coffee,
                hints=player.hints,
            )
            for player in request.players
        ],
        seats=request.seats,
    )
