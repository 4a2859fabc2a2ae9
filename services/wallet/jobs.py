"""What the wallet does by itself, again and again."""

import structlog

from services.wallet.handlers.ledger_check import ledger_check, take_in_events, unproved
from services.wallet.handlers.old_holds import resolve_old_holds
from services.wallet.metrics import holds_released, ledger_imbalance, ledger_unproved, oldest_hold_seconds
from services.wallet.ports import Tables, Wallets

log = structlog.get_logger()

OLDER_RULES = ("E7", "E10", "E15")  # a ledger may be older than what these need


async def check_holds(wallets: Wallets, tables: Tables, age_seconds: float) -> None:
    """Resolve old holds; the gauge shows those that wait for an event, too."""
    holds_released.inc(await resolve_old_holds(age_seconds=age_seconds, wallets=wallets, tables=tables))
    async with wallets.transaction() as ledger:
        oldest_hold_seconds.set(await ledger.oldest_hold_seconds())


async def check_ledger(wallets: Wallets) -> None:
    """Prove the ledger; differences are logged and counted, never repaired: a person must look.

    Events of days that are over are summed up first, so that a proof reads two days of them at most.
    """
    await take_in_events(wallets=wallets)
    found = await ledger_check(wallets=wallets)
    ledger_imbalance.set(len(found))
    beyond = {each.rule: each for each in await unproved(wallets=wallets)}
    for rule in OLDER_RULES:
        ledger_unproved.labels(rule).set(beyond[rule].count if rule in beyond else 0)
    for difference in found:
        log.error(
            "ledger_differs",
            rule=difference.rule,
            subject=difference.subject,
            expected=difference.expected,
            found=difference.found,
        )
