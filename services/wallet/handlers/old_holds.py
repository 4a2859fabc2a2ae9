"""Holds whose table was never heard of again (reliability B17)."""

import structlog

from libs.chassis.errors import DomainError
from services.wallet.domain.ledger import TableId
from services.wallet.handlers.entries import abandon_table
from services.wallet.ports import Tables, Wallets

log = structlog.get_logger()

PAGE = 100


async def resolve_old_holds(*, age_seconds: float, wallets: Wallets, tables: Tables) -> int:
    """Ask the table of each hold open for longer than `age_seconds`; release where it will never be dealt.

    A hold never ends by time alone: a table that was dealt keeps it, and its event will come. A table that cannot be
    asked now is asked at the next turn. Returns how many holds were released.
    """
    released, after = 0, None
    while True:
        async with wallets.transaction() as ledger:
            page = await ledger.tables_of_old_holds(age_seconds, after=after, limit=PAGE)
        for table_id in page:
            released += await _resolve(table_id, wallets, tables)
        if len(page) < PAGE:
            return released
        after = page[-1]


async def _resolve(table_id: TableId, wallets: Wallets, tables: Tables) -> int:
    try:
        abandoned = await tables.abandon(table_id)
    except DomainError as error:
        log.warning("old_hold_not_resolved", table_id=str(table_id), reason=error.reason)
        return 0
    return await abandon_table(table_id, wallets=wallets) if abandoned else 0
