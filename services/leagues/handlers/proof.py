"""Stored totals against the facts they stand for."""

import structlog

from libs.house.platform import Platform
from services.leagues.domain.results import AccountId
from services.leagues.domain.standing import Progress, wrong_levels
from services.leagues.handlers.levels import settle_level
from services.leagues.ports import Books

log = structlog.get_logger()

REPAIRS_MAX = 1000  # accounts a run; more is a fault to be looked at, and the next run takes the rest


async def recompute(account_id: AccountId, *, books: Books, platform: Platform) -> Progress:
    """Write an account's totals anew from its facts. Idempotent; safe beside games that finish."""
    async with books.transaction() as ledger:
        await ledger.lock(account_id)
        after = await ledger.rebuild(account_id)
        await settle_level(account_id, after, ledger, platform)
        return after


async def check(*, books: Books, platform: Platform) -> int:
    """Compare what is stored with the facts it stands for, and return how many accounts and closed ranks differ.

    An account's totals, standings and tier are repaired. What of a closed week cannot be is logged and left: podiums
    have been paid by it, and a person must look.
    """
    async with books.transaction() as ledger:
        found = {*await ledger.different(REPAIRS_MAX)}
        for level in wrong_levels(await ledger.level_spans(), platform.experience):
            found.update(await ledger.accounts_at(level, REPAIRS_MAX))
        wrong = await ledger.wrong_closes(REPAIRS_MAX)
    for week, what in wrong:
        log.error("closed_week_differs", week=week, what=what)
    for account_id in sorted(found):
        async with books.transaction() as ledger:
            stored = await ledger.progress(account_id)
        repaired = await recompute(account_id, books=books, platform=platform)
        log.error("totals_differed", account_id=str(account_id), stored=str(stored), rebuilt=str(repaired))
    return len(found) + len(wrong)
