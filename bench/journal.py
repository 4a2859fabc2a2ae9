"""What was acknowledged must be in the journal: by table, row number and command id."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import asyncpg

from services.tables.domain.table import command_id

# (table, row) -> the account whose move it was, and its request.
Acked = Mapping[tuple[UUID, int], tuple[UUID, str]]


async def lost(acked: Acked, **place: Any) -> int:
    """How many acknowledged moves are not rows under the command ids that account and request give.

    `place` is where PostgreSQL is, as asyncpg wants it.
    """
    connection = await asyncpg.connect(**place)
    try:
        rows = await connection.fetch("select table_id, seq, command_id from tables.table_log")
    finally:
        await connection.close()
    kept = {(row["table_id"], row["seq"]): row["command_id"] for row in rows}
    return sum(
        kept.get((table, seq)) != command_id(table, account.bytes, request)
        for (table, seq), (account, request) in acked.items()
    )
