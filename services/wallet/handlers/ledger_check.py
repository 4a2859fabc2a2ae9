"""The proof that the ledger adds up (P17; reliability E1-E5)."""

from collections.abc import Sequence

from services.wallet.domain.history import Difference
from services.wallet.ports import Wallets

SHOWN_MAX = 100  # a rule; a broken ledger is not made clearer by more


async def ledger_check(*, wallets: Wallets) -> Sequence[Difference]:
    """Everything that does not add up; empty when all is well.

    E1 transfers sum to zero. E2 balances are the sums of their postings. E3 nothing is below zero. E4 a table takes
    and gives each thing at most once. E5 holds, their transfers and their tables agree.
    """
    async with wallets.transaction() as ledger:
        return await ledger.differences(SHOWN_MAX)
