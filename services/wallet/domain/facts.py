"""What the wallet tells the others."""

from dataclasses import dataclass

from services.wallet.domain.assets import Amounts
from services.wallet.domain.ledger import AccountId, TableId


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPaid:
    account_id: AccountId
    table_id: TableId
    entry: Amounts


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryReturned:
    account_id: AccountId
    table_id: TableId
    entry: Amounts


@dataclass(frozen=True, slots=True, kw_only=True)
class PrizePaid:
    """`coins` as paid, so with coffee (P50)."""

    account_id: AccountId
    table_id: TableId
    coins: int
    place: int
    week_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GiftGiven:
    """`gift`: signup, first_game_of_day."""

    account_id: AccountId
    gift: str
    amounts: Amounts


Fact = EntryPaid | EntryReturned | PrizePaid | GiftGiven
