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
    """`unpaid`: it was only set aside, and no EntryPaid was told."""

    account_id: AccountId
    table_id: TableId
    entry: Amounts
    unpaid: bool


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
    """`prize_coins` of the game's week went back, 0 or more (P14); they are in `taken` too."""

    account_id: AccountId
    table_id: TableId
    prize_coins: int
    week_id: str
    returned: Amounts
    taken: Amounts


@dataclass(frozen=True, slots=True, kw_only=True)
class PrizeReversed:
    """A finished game was voided; told of every prize, also where the purse no longer held it (P82)."""

    account_id: AccountId
    table_id: TableId
    coins: int
    week_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GiftsReversed:
    """A finished game was voided: what it gave beside the prize goes back (P82)."""

    account_id: AccountId
    table_id: TableId
    amounts: Amounts


@dataclass(frozen=True, slots=True, kw_only=True)
class LossBorne:
    """The part of it that the player no longer had (P82)."""

    account_id: AccountId
    table_id: TableId
    amounts: Amounts


@dataclass(frozen=True, slots=True, kw_only=True)
class CoffeeBought:
    """Signed: cups gained, bars given (P12)."""

    account_id: AccountId
    amounts: Amounts


@dataclass(frozen=True, slots=True, kw_only=True)
class BalanceCorrected:
    """Signed: what an operator's correction gained (P82)."""

    account_id: AccountId
    amounts: Amounts


Fact = (
    EntryPaid
    | EntryReturned
    | PrizePaid
    | GiftGiven
    | GameRefunded
    | PrizeReversed
    | GiftsReversed
    | LossBorne
    | CoffeeBought
    | BalanceCorrected
)
