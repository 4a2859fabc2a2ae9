"""The RPCs of operators: translation between protobuf and the use cases (P82)."""
# ruff: noqa: N802 - named by the contract

from datetime import datetime, timedelta
from functools import partial
from typing import Any

from libs.chassis.audit import asked, asked_page, told
from services.tables.domain.errors import BadSpan
from services.tables.grpc_api.friends import id_of
from services.tables.handlers import games, operators
from services.tables.handlers.friends import Desk
from services.tables.handlers.operators import OperatorsStore
from services.tables.storage.operators import ReportSeen, TableSeen
from services.tables.watching import Watching
from services.tables.worker import Worker
from whist.tables.v1 import tables_pb2
from whist.types.v1 import audit_pb2

SILENCE_MINUTES_MAX = 525_600  # a year
TABLES_DEFAULT, TABLES_MAX = 100, 500
REPORTS_DEFAULT, REPORTS_MAX = 20, 100  # one holds up to fifty lines of chat
STATUSES = {
    games.LIVE: tables_pb2.TABLE_STATUS_LIVE,
    games.PLAYED_OUT: tables_pb2.TABLE_STATUS_FINISHED,
    games.VOIDED: tables_pb2.TABLE_STATUS_VOIDED,
    games.ABANDONED: tables_pb2.TABLE_STATUS_ABANDONED,
    "waiting": tables_pb2.TABLE_STATUS_WAITING,  # a friends' table without a head yet; operators alone see it
}


class OperatorsApi:
    """Each method: decode, one call, encode."""

    def __init__(self, worker: Worker, store: OperatorsStore, desk: Desk, watching: Watching) -> None:
        self._worker = worker
        self._operators = store
        self._desk = desk
        self._watching = watching

    async def VoidGame(self, request: tables_pb2.VoidGameRequest, context: Any) -> tables_pb2.VoidGameResponse:
        table_id = id_of(request.table_id, "table_id")
        act = asked(request.act, "void", table_id.hex)
        decide = partial(operators.void_game, act, table_id, store=self._operators, zone=self._worker.zone)
        had_finished = await self._worker.void(table_id, lambda epoch: decide(epoch=epoch))
        return tables_pb2.VoidGameResponse(had_finished=had_finished)

    async def CloseTable(self, request: tables_pb2.CloseTableRequest, context: Any) -> tables_pb2.CloseTableResponse:
        table_id = id_of(request.table_id, "table_id")
        act = asked(request.act, "close", table_id.hex)
        await operators.close_table(act, table_id, store=self._operators, desk=self._desk)
        self._watching.changed(table_id)
        return tables_pb2.CloseTableResponse()

    async def Silence(self, request: tables_pb2.SilenceRequest, context: Any) -> tables_pb2.SilenceResponse:
        account = id_of(request.account_id, "account_id").bytes
        if not 0 <= request.minutes <= SILENCE_MINUTES_MAX:
            raise BadSpan(most=SILENCE_MINUTES_MAX)
        act = asked(request.act, "silence", account.hex(), minutes=request.minutes)
        until = await operators.silence(act, account, timedelta(minutes=request.minutes), store=self._operators)
        response = tables_pb2.SilenceResponse()
        if until is not None:
            response.until.FromDatetime(until)
        return response

    async def ListTables(self, request: tables_pb2.ListTablesRequest, context: Any) -> tables_pb2.ListTablesResponse:
        found = await operators.list_tables(
            account=id_of(request.account_id, "account_id").bytes if request.account_id else None,
            table_id=id_of(request.table_id, "table_id") if request.table_id else None,
            live=request.live,
            most=_most(request.limit, TABLES_DEFAULT, TABLES_MAX),
            store=self._operators,
        )
        return tables_pb2.ListTablesResponse(tables=[_table(each) for each in found])

    async def ListReports(self, request: tables_pb2.ListReportsRequest, context: Any) -> tables_pb2.ListReportsResponse:
        found = await operators.list_reports(
            reported=id_of(request.reported, "reported").bytes if request.reported else None,
            before=request.before if request.before > 0 else None,
            most=_most(request.limit, REPORTS_DEFAULT, REPORTS_MAX),
            store=self._operators,
        )
        return tables_pb2.ListReportsResponse(reports=[_report(each) for each in found])

    async def AuditLog(self, request: tables_pb2.AuditLogRequest, context: Any) -> tables_pb2.AuditLogResponse:
        before, most = asked_page(request.before, request.limit)
        found = await operators.audit_log(before=before, most=most, store=self._operators)
        return tables_pb2.AuditLogResponse(lines=[audit_pb2.AuditLine(**told(each)) for each in found])


def _most(asked_for: int, default: int, most: int) -> int:
    return min(asked_for, most) if asked_for > 0 else default


def _table(seen: TableSeen) -> tables_pb2.TableSeen:
    message = tables_pb2.TableSeen(
        table_id=seen.table_id.bytes,
        kind=tables_pb2.TableKind.ValueType(seen.kind),
        game=seen.game,
        status=STATUSES[seen.status],
        worker_address=seen.worker_address,
        epoch=seen.epoch,
        rows=seen.rows,
        account_ids=seen.accounts,
        had_finished=seen.had_finished,
    )
    message.created_at.FromDatetime(seen.created_at)
    if seen.ended_at is not None:
        message.ended_at.FromDatetime(seen.ended_at)
    return message


def _report(seen: ReportSeen) -> tables_pb2.ChatReport:
    message = tables_pb2.ChatReport(
        n=seen.n, table_id=seen.table_id.bytes, reporter=seen.reporter, reported=seen.reported, words=seen.words
    )
    message.at.FromDatetime(seen.at)
    for line, at, words in seen.lines:
        message.lines.add(line=line, words=words).at.FromDatetime(datetime.fromisoformat(at))
    return message
