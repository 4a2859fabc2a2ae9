"""Commands of long ago: older than a table's memory, or never made."""

from collections.abc import Callable
from datetime import date
from uuid import UUID

import structlog

from services.tables.ports import Journal

log = structlog.get_logger()


async def look_up(
    journal: Journal,
    table_id: UUID,
    born: date,
    command_id: UUID,
    found: Callable[[int], None],
    missed: Callable[[], None],
) -> None:
    """Tell `found` the row that the command became; `missed` when there is none, or when nobody can say."""
    try:
        seq = await journal.find(table_id, born, command_id)
    except Exception as error:
        log.warning("stale_lookup_failed", table=table_id.hex, error=repr(error))
        seq = None
    if seq is None:
        missed()
    else:
        found(seq)
