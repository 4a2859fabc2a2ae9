"""What the services answer operators, in the gateway's tests: every act is kept, and one by one written to a log."""
# ruff: noqa: N802 - gRPC names its methods

from datetime import UTC, datetime, timedelta
from typing import Any

from libs.chassis.errors import Kind, Refusal
from whist.auth.v1 import auth_pb2
from whist.tables.v1 import friends_pb2, tables_pb2
from whist.types.v1 import audit_pb2, types_pb2
from whist.wallet.v1 import wallet_pb2

BEGUN = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
NOBODY = b"\xff" * 16  # the account and the table that are unknown


class Desk:
    """Keeps acts; a repeat is known, and another act under its request refused."""

    # Of one service after another, so that the merged log has an order.
    step = timedelta(seconds=1)

    def __init__(self) -> None:
        super().__init__()
        self.acts: list[tuple[str, Any]] = []
        self.lines: list[audit_pb2.AuditLine] = []

    def log(self, name: str, act: audit_pb2.Act, subject: bytes, at: datetime | None = None) -> None:
        line = audit_pb2.AuditLine(
            n=len(self.lines) + 1, act=act, name=name, subject=subject.hex(), details_json='{"minutes": 60}'
        )
        line.at.FromDatetime(at or BEGUN + len(self.lines) * self.step)
        self.lines.append(line)

    def take(self, name: str, request: Any, subject: bytes) -> None:
        for known, earlier in self.acts:
            if earlier.act.request_id == request.act.request_id:
                if (known, earlier) != (name, request):
                    raise Refusal(Kind.CONFLICT, "ACT_DIFFERS")
                return
        self.acts.append((name, request))
        self.log(name, request.act, subject)

    def page(self, request: Any) -> list[audit_pb2.AuditLine]:
        older = [line for line in reversed(self.lines) if not request.before or line.n < request.before]
        return older[: request.limit or 100]


class AccountsDesk(Desk):
    """auth's."""

    async def FindAccounts(self, request: Any, context: Any) -> auth_pb2.FindAccountsResponse:
        self.take("find", request, b"")
        if request.words == "nobody":
            return auth_pb2.FindAccountsResponse()
        found = auth_pb2.FoundAccount(
            account=auth_pb2.Account(account_id=b"a" * 16, name="Ana", named=True, suspended=True),
            email="ana@example.org",
            sessions=2,
        )
        found.account.created_at.FromDatetime(BEGUN)
        return auth_pb2.FindAccountsResponse(accounts=[found])

    async def Suspend(self, request: Any, context: Any) -> auth_pb2.SuspendResponse:
        if request.account_id == NOBODY:
            raise Refusal(Kind.NOT_FOUND, "ACCOUNT_UNKNOWN")
        self.take("suspend", request, request.account_id)
        return auth_pb2.SuspendResponse()

    async def Reinstate(self, request: Any, context: Any) -> auth_pb2.ReinstateResponse:
        self.take("reinstate", request, request.account_id)
        return auth_pb2.ReinstateResponse()

    async def AuditLog(self, request: Any, context: Any) -> auth_pb2.AuditLogResponse:
        return auth_pb2.AuditLogResponse(lines=self.page(request))


class PursesDesk(Desk):
    """wallet's."""

    def __init__(self) -> None:
        super().__init__()
        self.differences: list[wallet_pb2.LedgerDifference] = []
        self.unproved: list[wallet_pb2.LedgerUnproved] = []

    async def CheckLedger(self, request: Any, context: Any) -> wallet_pb2.CheckLedgerResponse:
        return wallet_pb2.CheckLedgerResponse(differences=self.differences, unproved=self.unproved)

    async def Grant(self, request: Any, context: Any) -> wallet_pb2.GrantResponse:
        if request.assets.coins < -1000:
            raise Refusal(Kind.CONFLICT, "INSUFFICIENT_FUNDS")
        self.take("correct", request, request.account_id)
        return wallet_pb2.GrantResponse(assets=types_pb2.Assets(coins=1000 + request.assets.coins))

    async def AuditLog(self, request: Any, context: Any) -> wallet_pb2.AuditLogResponse:
        return wallet_pb2.AuditLogResponse(lines=self.page(request))


class TablesDesk(Desk):
    """tables'."""

    def __init__(self) -> None:
        super().__init__()
        self.has_ended = False

    async def VoidGame(self, request: Any, context: Any) -> tables_pb2.VoidGameResponse:
        self.take("void", request, request.table_id)
        return tables_pb2.VoidGameResponse(had_finished=self.has_ended)

    async def CloseTable(self, request: Any, context: Any) -> tables_pb2.CloseTableResponse:
        self.take("close", request, request.table_id)
        return tables_pb2.CloseTableResponse()

    async def Silence(self, request: Any, context: Any) -> tables_pb2.SilenceResponse:
        self.take("silence", request, request.account_id)
        response = tables_pb2.SilenceResponse()
        if request.minutes:
            response.until.FromDatetime(BEGUN + timedelta(minutes=request.minutes))
        return response

    async def ListTables(self, request: Any, context: Any) -> tables_pb2.ListTablesResponse:
        if request.table_id == NOBODY:
            return tables_pb2.ListTablesResponse()
        seen = tables_pb2.TableSeen(
            table_id=request.table_id or b"t" * 16,
            kind=tables_pb2.TABLE_KIND_QUICK,
            game="romanian",
            status=tables_pb2.TABLE_STATUS_LIVE,
            worker_address="unix:/w",
            epoch=2,
            rows=40,
            account_ids=[request.account_id or b"a" * 16],
        )
        seen.created_at.FromDatetime(BEGUN)
        return tables_pb2.ListTablesResponse(tables=[seen] * min(request.limit, 3))

    async def ListReports(self, request: Any, context: Any) -> tables_pb2.ListReportsResponse:
        top = (request.before or 8) - 1
        reports = [
            tables_pb2.ChatReport(
                n=n, table_id=b"t" * 16, reporter=b"a" * 16, reported=request.reported or b"b" * 16, words="rude",
                lines=[friends_pb2.ChatLine(line=7, words="so rude")],
            )
            for n in range(top, max(0, top - request.limit), -1)
        ]  # fmt: skip
        return tables_pb2.ListReportsResponse(reports=reports)

    async def AuditLog(self, request: Any, context: Any) -> tables_pb2.AuditLogResponse:
        return tables_pb2.AuditLogResponse(lines=self.page(request))
