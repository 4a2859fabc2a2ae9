"""The proof that the ledger adds up (P17; reliability E1-E14)."""

from collections.abc import Sequence

from services.wallet.domain.history import Difference
from services.wallet.ports import Wallets

SHOWN_MAX = 100  # a rule; a broken ledger is not made clearer by more


async def ledger_check(*, wallets: Wallets) -> Sequence[Difference]:
    """Everything that does not add up; empty when all is well.

    E1 transfers sum to zero. E2 balances are the sums of their postings. E3 nothing is below zero. E4 a table takes
    and gives each thing at most once, and nothing is left of a game that was refunded or voided. E5 holds, their
    transfers and their tables agree. E6 prizes are for who counts and was among the first three. E8 a sealed week's
    totals are its prizes. E9 each gift's key names whom and what it was for, so that it was given once. E11 a game
    takes one cup. E12 the first game's bars are of its day. E13, E14 the day's shares are what was given.
    """
    async with wallets.transaction() as ledger:
        return await ledger.differences(SHOWN_MAX)
