"""Who did what: the audit logs of all services as one, newest first (P82)."""

import heapq
import json
import re
from collections.abc import Mapping
from itertools import islice
from typing import Annotated, Any

from fastapi import APIRouter, Query

from libs.chassis.errors import DomainError, Kind
from services.gateway.admin import models
from services.gateway.admin.gate import Looks
from services.gateway.http.parts import Parts, PartsOf
from whist.auth.v1 import auth_pb2
from whist.tables.v1 import tables_pb2
from whist.wallet.v1 import wallet_pb2

router = APIRouter(prefix="/admin/v1", tags=["audit"])

SERVICES: tuple[models.Service, ...] = ("auth", "tables", "wallet")
NEWEST, NOTHING_OLDER = 0, 1  # lines are numbered from 1
_CURSOR = re.compile(r"([0-9]{1,18})\.([0-9]{1,18})\.([0-9]{1,18})")


class BadCursor(DomainError):
    """Not a `next_before` of ours."""

    kind = Kind.INVALID
    reason = "BAD_CURSOR"


@router.get("/audit")
async def audit(
    parts: PartsOf,
    operator: Looks,
    before: Annotated[str, Query(max_length=60, description="`next_before` of the page before.")] = "",
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> models.Audit:
    """Every act of every operator on accounts, tables and purses."""
    since = _read_cursor(before)
    pages = {service: await _page(parts, service, since[service], limit) for service in SERVICES}
    # Within a service by number: of two acts at once the later number may have the earlier time, and a page that ended
    # between them would lose one.
    merged = heapq.merge(*pages.values(), key=lambda line: line.at, reverse=True)
    shown = list(islice(merged, limit))
    at = dict(since)
    for service, page in pages.items():
        told = [line.number for line in shown if line.service == service]
        if len(told) == len(page) < limit:
            at[service] = NOTHING_OLDER
        elif told:
            at[service] = min(told)
    over = all(number == NOTHING_OLDER for number in at.values())
    return models.Audit(lines=shown, next_before=None if over else ".".join(str(at[each]) for each in SERVICES))


def _read_cursor(before: str) -> Mapping[models.Service, int]:
    if not before:
        return dict.fromkeys(SERVICES, NEWEST)
    found = _CURSOR.fullmatch(before)
    if found is None:
        raise BadCursor
    return dict(zip(SERVICES, map(int, found.groups()), strict=True))


async def _page(parts: Parts, service: models.Service, before: int, limit: int) -> list[models.AuditLine]:
    if before == NOTHING_OLDER:
        return []
    clients = parts.clients
    answer: Any
    match service:
        case "auth":
            request = auth_pb2.AuditLogRequest(before=before, limit=limit)
            answer = await clients.auth.call(clients.auth_stub.AuditLog, request)
        case "tables":
            answer = await clients.table_call("AuditLog", tables_pb2.AuditLogRequest(before=before, limit=limit))
        case "wallet":
            asked = wallet_pb2.AuditLogRequest(before=before, limit=limit)
            answer = await clients.wallet.call(clients.wallet_stub.AuditLog, asked)
    return [
        models.AuditLine(
            service=service,
            number=line.n,
            at=models.moment(line.at),
            operator=line.act.operator,
            act=line.name,
            subject=line.subject,
            reason=line.act.reason,
            details=json.loads(line.details_json or "{}"),
            request=line.act.request_id.hex(),
        )
        for line in answer.lines
    ]
