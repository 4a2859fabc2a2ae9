"""What a week's prizes come to (P50, P55)."""

from collections.abc import Sequence
from dataclasses import dataclass

from services.wallet.domain.ledger import AccountId, TableId


@dataclass(frozen=True, slots=True, kw_only=True)
class WeekTotal:
    """An account's prizes of games that finished in the week, as paid; refunded and voided games taken off."""

    account_id: AccountId
    coins: int
    prizes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedGames:
    """A page of a week's games, by id; `complete`: no game can finish in that week any more."""

    tables: Sequence[TableId]
    more: bool
    complete: bool
