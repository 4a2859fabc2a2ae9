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
    """`gift`: signup, weekly_cups, first_game_of_day, classic, podium."""

    account_id: AccountId
    gift: str
    amounts: Amounts


@dataclass(frozen=True, slots=True, kw_only=True)
class GameRefunded:
    """`prize_coins` of the game's week went back, 0 or more (P14)."""

    account_id: AccountId
    table_id: TableId
    prize_coins: int
    week_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PrizeReversed:
    """A finished game was voided; told of every prize, also where the purse no longer held it (P82)."""

    account_id: AccountId
    table_id: TableId
    coins: int
    week_id: str


Fact = EntryPaid | EntryReturned | PrizePaid | GiftGiven | GameRefunded | PrizeReversed
