"""Operators: tables for the load harness. One bearer token from a file, an audit line for each act."""

import asyncio
import hmac
import json
from ipaddress import IPv6Address
from typing import Annotated

import structlog
from fastapi import Depends, FastAPI, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, ConfigDict, Field
from starlette.types import ASGIApp

from libs.chassis.errors import DomainError, Kind
from libs.chassis.settings import WrongSettings
from libs.house.ids import table_id as new_table_id
from services.gateway.http.edge import Edge
from services.gateway.http.parts import Parts, PartsOf
from services.gateway.http.problems import install
from whist.auth.v1 import auth_pb2
from whist.tables.v1 import tables_pb2

audit = structlog.get_logger("audit")

SEATS = 4
AT_ONCE = 32  # tables being made
GAME = "romanian"

_scheme = HTTPBearer(auto_error=False)


class NotAnOperator(DomainError):
    """The operators' token is missing or wrong."""

    kind = Kind.UNAUTHENTICATED
    reason = "NOT_AN_OPERATOR"


class BenchTables(BaseModel):
    """How many tables, and how long their games."""

    model_config = ConfigDict(extra="forbid", strict=True)

    rounds: int = Field(ge=1, le=100_000)
    count: int = Field(ge=1, le=2_000)


class BenchTable(BaseModel):
    """A table and the access tokens of its four guests."""

    table: str
    tokens: list[str]


class BenchTablesMade(BaseModel):
    """In no particular order."""

    tables: list[BenchTable]


def build(parts: Parts, operator_token: str) -> ASGIApp:
    """What the operators' listener serves. Raises WrongSettings for a token too short to be a secret."""
    if len(operator_token) < 32:
        raise WrongSettings("WHIST_OPERATOR_TOKEN_FILE: the token must have at least 32 characters")
    app = FastAPI(title="Whist operators", docs_url=None, redoc_url=None, openapi_url=None)
    app.state.parts = parts
    install(app)

    def operator(credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_scheme)]) -> None:
        given = credentials.credentials if credentials else ""
        if not hmac.compare_digest(given.encode(), operator_token.encode()):
            raise NotAnOperator

    @app.post("/admin/v1/bench-tables", dependencies=[Depends(operator)])
    async def bench_tables(request: Request, parts: PartsOf, body: BenchTables) -> BenchTablesMade:
        """Tables on which four guests play quick rounds and nobody is paid."""
        # As a warning, so that no log level hides who did what.
        audit.warning(
            "bench_tables", count=body.count, rounds=body.rounds, request_id=request.state.request_id,
            network=request.state.network,
        )  # fmt: skip
        at_once = asyncio.Semaphore(AT_ONCE)

        async def one() -> BenchTable:
            async with at_once:
                return await _bench_table(parts, body.rounds)

        async with asyncio.TaskGroup() as group:
            made = [group.create_task(one()) for _ in range(body.count)]
        return BenchTablesMade(tables=[each.result() for each in made])

    return Edge(
        app,
        limits=parts.limits,
        clock=parts.clock,
        entropy=parts.entropy,
        trusted_proxies=0,
    )


async def _bench_table(parts: Parts, rounds: int) -> BenchTable:
    clients = parts.clients
    # A private network a table (fd00::/8): made by us, so that nobody's network is counted for it.
    network = str(IPv6Address(b"\xfd" + parts.entropy.bytes(7) + bytes(8)))
    guests = [
        await clients.auth.call(
            clients.auth_stub.CreateGuest,
            auth_pb2.CreateGuestRequest(device="bench", network=network, request_id=parts.entropy.bytes(16)),
        )
        for _ in range(SEATS)
    ]
    table_id = new_table_id(parts.entropy.uuid7())
    await clients.tables.call(
        clients.tables_stub.CreateTable,
        tables_pb2.CreateTableRequest(
            table_id=table_id.bytes,
            kind=tables_pb2.TABLE_KIND_BENCH,
            game=GAME,
            options_json=json.dumps({"mode": "bench", "rounds": rounds}),
            players=[
                tables_pb2.Player(account_id=each.account.account_id, name=each.account.name, guest=True)
                for each in guests
            ],
            seats=SEATS,
        ),
    )
    return BenchTable(table=table_id.hex, tokens=[each.tokens.access_token for each in guests])
