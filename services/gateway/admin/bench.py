"""Tables for the load harness: four guests each, on which nobody is paid."""

import asyncio
import json
from ipaddress import IPv6Address

from fastapi import APIRouter, Request

from libs.house.ids import table_id as new_table_id
from services.gateway.admin import models
from services.gateway.admin.gate import Rules, audit
from services.gateway.http.parts import Parts, PartsOf
from whist.auth.v1 import auth_pb2
from whist.tables.v1 import tables_pb2

router = APIRouter(prefix="/admin/v1", tags=["bench"])

SEATS = 4
AT_ONCE = 32  # tables being made
GAME = "romanian"


@router.post("/bench-tables")
async def bench_tables(
    request: Request, parts: PartsOf, operator: Rules, body: models.BenchTables
) -> models.BenchTablesMade:
    """Tables on which four guests play quick rounds and nobody is paid: no act on anybody, so no reason is asked."""
    # As a warning, so that no log level hides who did what.
    audit.warning(
        "bench_tables", operator=operator.name, count=body.count, rounds=body.rounds,
        request_id=request.state.request_id, network=request.state.network,
    )  # fmt: skip
    at_once = asyncio.Semaphore(AT_ONCE)

    async def one() -> models.BenchTable:
        async with at_once:
            return await _bench_table(parts, body.rounds)

    async with asyncio.TaskGroup() as group:
        made = [group.create_task(one()) for _ in range(body.count)]
    return models.BenchTablesMade(tables=[each.result() for each in made])


async def _bench_table(parts: Parts, rounds: int) -> models.BenchTable:
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
    return models.BenchTable(table=table_id.hex, tokens=[each.tokens.access_token for each in guests])
