"""Tables: seen, voided, closed; complaints about what was said at them."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from libs.chassis.errors import DomainError, Kind
from services.gateway.admin import models
from services.gateway.admin.gate import ActKey, Looks, Rules, act
from services.gateway.http.models import Id
from services.gateway.http.parts import PartsOf
from whist.tables.v1 import tables_pb2

router = APIRouter(prefix="/admin/v1", tags=["tables"])

TableId = Annotated[Id, Path()]


class TableUnknown(DomainError):
    """There is no such table, waiting, live or ended."""

    kind = Kind.NOT_FOUND
    reason = "TABLE_UNKNOWN"


@router.get("/tables")
async def tables(
    parts: PartsOf,
    operator: Looks,
    account: Annotated[Id | None, Query(description="This account's alone.")] = None,
    live: Annotated[bool, Query(description="Those that wait or are in play alone.")] = False,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> models.Tables:
    """Tables as they stand, newest first; never a card."""
    request = tables_pb2.ListTablesRequest(account_id=bytes.fromhex(account or ""), live=live, limit=limit)
    answer = await parts.clients.table_call("ListTables", request)
    return models.Tables(tables=[models.Table.of(each) for each in answer.tables])


@router.get("/tables/{table_id}")
async def table(parts: PartsOf, operator: Looks, table_id: TableId) -> models.Table:
    """One table; never a card."""
    request = tables_pb2.ListTablesRequest(table_id=bytes.fromhex(table_id), limit=1)
    for seen in (await parts.clients.table_call("ListTables", request)).tables:
        return models.Table.of(seen)
    raise TableUnknown


@router.post("/tables/{table_id}/void")
async def void(parts: PartsOf, operator: Rules, table_id: TableId, body: models.Why, key: ActKey) -> models.Voided:
    """End a live game, or undo a finished one: entries come back, and what was won is taken back."""
    request = tables_pb2.VoidGameRequest(act=act(operator, key, body.reason), table_id=bytes.fromhex(table_id))
    return models.Voided(had_finished=await parts.clients.void_game(request))


@router.post("/tables/{table_id}/close")
async def close(parts: PartsOf, operator: Rules, table_id: TableId, body: models.Why, key: ActKey) -> models.Done:
    """Close a friends' table that waits."""
    request = tables_pb2.CloseTableRequest(act=act(operator, key, body.reason), table_id=bytes.fromhex(table_id))
    await parts.clients.table_call("CloseTable", request)
    return models.Done()


@router.get("/reports")
async def reports(
    parts: PartsOf,
    operator: Looks,
    account: Annotated[Id | None, Query(description="About this account alone.")] = None,
    before: Annotated[int | None, Query(ge=1, lt=2**63, description="`next_before` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> models.Reports:
    """Complaints about chatters, newest first, with what the other had said."""
    request = tables_pb2.ListReportsRequest(reported=bytes.fromhex(account or ""), before=before or 0, limit=limit)
    found = [models.Report.of(each) for each in (await parts.clients.table_call("ListReports", request)).reports]
    return models.Reports(reports=found, next_before=found[-1].number if len(found) == limit else None)
