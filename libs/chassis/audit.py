"""Who did what: one row for each act of an operator, in the transaction of the act, never changed (P82).

A service that operators act on makes the table in a migration (`create_audit_table`), takes the act's words from the
request (`asked`) and calls `Transaction.record_act` before it changes anything.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from libs.chassis.errors import DomainError, Kind

LINES_DEFAULT, LINES_MAX = 100, 500
ID_BYTES = 16
OPERATOR_MAX, REASON_MAX = 64, 500  # characters, as the table's columns

_DDL = (
    """
    create table {schema}.audit (
      n bigint generated always as identity primary key,
      request_id uuid not null unique,
      operator text not null check (length(operator) between 1 and 64),
      act text not null check (act ~ '^[a-z_]+$'),
      subject text not null check (length(subject) <= 200),
      reason text not null check (length(reason) between 1 and 500),
      details jsonb not null,
      at timestamptz not null default clock_timestamp()
    )
    """,
    """
    create function {schema}.refuse_audit_change() returns trigger language plpgsql as $$
    begin
      raise exception 'the audit log is never changed' using errcode = 'restrict_violation';
    end $$
    """,
    """
    create trigger audit_kept before update or delete or truncate on {schema}.audit
    for each statement execute function {schema}.refuse_audit_change()
    """,
)


class ActDiffers(DomainError):
    """The request id belongs to another act: nothing was done."""

    kind = Kind.CONFLICT
    reason = "ACT_DIFFERS"


class BadAct(DomainError):
    """An act without a name, a reason or an id of its own; `field` says which. Nothing was done."""

    kind = Kind.INVALID
    reason = "BAD_ACT"


class BadLimit(DomainError):
    """A page has 1 to `most` lines; 0 means the default."""

    kind = Kind.INVALID
    reason = "BAD_LIMIT"


class BadPosition(DomainError):
    """Lines are numbered from 1; 0 begins with the newest."""

    kind = Kind.INVALID
    reason = "BAD_POSITION"


class Asked(Protocol):
    """The words of a request (`whist.types.v1.Act`)."""

    @property
    def request_id(self) -> bytes: ...
    @property
    def operator(self) -> str: ...
    @property
    def reason(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """What an operator does, to whom, and why. `details` must be JSON; no secret, no card, no address."""

    request_id: UUID
    operator: str
    act: str  # snake_case, e.g. "suspend"
    subject: str  # an id, or what the act is about
    reason: str  # the operator's words
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLine:
    """An act as it was recorded; `n` ascends."""

    n: int
    act: Act
    at: datetime


def asked(words: Asked, act: str, subject: str, **details: Any) -> Act:
    """The act that a request asks for: ``asked(request.act, "suspend", account.hex())``. Raises BadAct."""
    if len(words.request_id) != ID_BYTES:
        raise BadAct(field="request_id")
    # PostgreSQL keeps no NUL, and a name or reason of spaces, or of what cannot be seen, says nothing.
    for field_, text, most in (("operator", words.operator, OPERATOR_MAX), ("reason", words.reason, REASON_MAX)):
        if not _is_seen(text) or len(text) > most or "\0" in text:
            raise BadAct(field=field_, most=most)
    return Act(
        request_id=UUID(bytes=words.request_id), operator=words.operator, act=act, subject=subject,
        reason=words.reason, details=details,
    )  # fmt: skip


def _is_seen(text: str) -> bool:
    return any(char.isprintable() and not char.isspace() for char in text)


def asked_page(before: int, limit: int) -> tuple[int | None, int]:
    """What an ``AuditLog`` request asks for, as `lines` takes it. Raises BadPosition, BadLimit."""
    if before < 0:
        raise BadPosition
    if not 0 <= limit <= LINES_MAX:
        raise BadLimit(limit=limit, most=LINES_MAX)
    return before or None, limit or LINES_DEFAULT


def told(line: AuditLine) -> Mapping[str, Any]:
    """The fields of a `whist.types.v1.AuditLine`; this library knows no contract, so the caller makes the message."""
    act = line.act
    return {
        "n": line.n,
        "at": line.at,
        "act": {"request_id": act.request_id.bytes, "operator": act.operator, "reason": act.reason},
        "name": act.act,
        "subject": act.subject,
        "details_json": json.dumps(dict(act.details), sort_keys=True),
    }


def create_audit_table(execute: Callable[[str], object], schema: str) -> None:
    """For a migration: ``create_audit_table(op.execute, SCHEMA)``."""
    for statement in _DDL:
        execute(statement.format(schema=schema))


async def record(connection: AsyncConnection, schema: str, act: Act) -> bool:
    """Write the act down. False when its request was recorded before: the act has been done and is not done again.

    Raises ActDiffers when that was another act.
    """
    inserted = await connection.execute(
        sa.text(
            f"insert into {schema}.audit (request_id, operator, act, subject, reason, details) "  # noqa: S608
            "values (:request_id, :operator, :act, :subject, :reason, cast(:details as jsonb)) "
            "on conflict (request_id) do nothing"
        ),
        {
            "request_id": act.request_id,
            "operator": act.operator,
            "act": act.act,
            "subject": act.subject,
            "reason": act.reason,
            "details": json.dumps(dict(act.details), sort_keys=True),
        },
    )
    if inserted.rowcount:
        return True
    [known] = await _lines(connection, schema, "where request_id = :request_id", {"request_id": act.request_id})
    if known.act != act:
        raise ActDiffers
    return False


async def lines(connection: AsyncConnection, schema: str, *, before: int | None, limit: int) -> Sequence[AuditLine]:
    """Acts, newest first; `before` is the `n` of the last line already seen. `limit` is at most LINES_MAX."""
    return await _lines(
        connection,
        schema,
        "where (cast(:before as bigint) is null or n < :before) order by n desc limit :limit",
        {"before": before, "limit": min(limit, LINES_MAX)},
    )


async def _lines(connection: AsyncConnection, schema: str, where: str, values: Mapping[str, Any]) -> list[AuditLine]:
    rows = await connection.execute(
        sa.text(f"select n, request_id, operator, act, subject, reason, details, at from {schema}.audit {where}"),  # noqa: S608
        dict(values),
    )
    return [
        AuditLine(
            n=row.n,
            act=Act(
                request_id=row.request_id,
                operator=row.operator,
                act=row.act,
                subject=row.subject,
                reason=row.reason,
                details=row.details if isinstance(row.details, dict) else json.loads(row.details),
            ),
            at=row.at,
        )
        for row in rows
    ]
