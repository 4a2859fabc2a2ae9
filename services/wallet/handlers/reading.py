"""What an account owns, and how it came to it."""

from collections.abc import Sequence
from dataclasses import dataclass

from services.wallet.domain.errors import BadLimit
from services.wallet.domain.history import Belongings, Movement
from services.wallet.domain.ledger import AccountId
from services.wallet.ports import Wallets

HISTORY_DEFAULT = 50
HISTORY_MAX = 100  # an answer stays far below a gRPC message's limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Some movements, newest first; `next_before` is None when there is nothing older."""

    movements: Sequence[Movement]
    next_before: int | None


async def balances(account_id: AccountId, *, wallets: Wallets) -> Belongings:
    """Everything an account owns and holds; an account never seen has nothing."""
    async with wallets.transaction() as ledger:
        return await ledger.belongings(account_id)


async def history(account_id: AccountId, *, limit: int, before: int | None, wallets: Wallets) -> Page:
    """Movements below the position `before`. `limit` 1..100, 0: 50. Raises BadLimit."""
    if not 0 <= limit <= HISTORY_MAX:
        raise BadLimit(limit=limit, most=HISTORY_MAX)
    size = limit or HISTORY_DEFAULT
    async with wallets.transaction() as ledger:
        found = await ledger.movements(account_id, limit=size + 1, before=before)
    page = found[:size]
    return Page(movements=page, next_before=page[-1].position if len(found) > size else None)
