"""Double entry: a transfer is postings that sum to zero for each asset, under a business key used once (P17)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NewType
from uuid import UUID

from services.wallet.domain.assets import Amounts, Asset

AccountId = NewType("AccountId", UUID)
TableId = NewType("TableId", UUID)


class House(StrEnum):
    """The platform's own accounts. They have no balance row, which every table would wait for: sums are derived."""

    ENTRIES = "entries"
    PRIZES = "prizes"
    GIFTS = "gifts"
    # Entries set aside until their table is dealt: taken from the player, not yet spent.
    HOLDS = "holds"
    # Bars against cups (P12).
    SHOP = "shop"
    # What operators have corrected (P82).
    CORRECTIONS = "corrections"
    # What a voided game should have taken back and the player no longer had (P82).
    LOSSES = "losses"


class Reason(StrEnum):
    """Why something moved."""

    SIGNUP_GIFT = "signup_gift"
    FIRST_GAME_GIFT = "first_game_gift"
    ENTRY_HOLD = "entry_hold"
    ENTRY_RELEASE = "entry_release"
    ENTRY_PAID = "entry_paid"
    ENTRY_RETURN = "entry_return"
    PRIZE = "prize"
    WEEKLY_CUPS = "weekly_cups"
    PODIUM = "podium"
    CLASSIC_REWARD = "classic_reward"
    COFFEE_BOUGHT = "coffee_bought"
    # A refunded game (P14): the entry comes back, what was won goes back.
    REFUND = "refund"
    REFUND_PRIZE = "refund_prize"
    REFUND_FIRST_GAME = "refund_first_game"
    REFUND_CLASSIC = "refund_classic"
    # A finished game that an operator voided (P82); its entry comes back as `entry_return`.
    VOID_PRIZE = "void_prize"
    VOID_FIRST_GAME = "void_first_game"
    VOID_CLASSIC = "void_classic"
    # The part of it that the player no longer had, borne by the house.
    OPERATOR_LOSS = "operator_loss"
    CORRECTION = "correction"


Owner = AccountId | House


@dataclass(frozen=True, slots=True, kw_only=True)
class Posting:
    """What one owner gains (or, negative, gives) of one asset."""

    owner: Owner
    asset: Asset
    amount: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """One movement. `key` is its idempotency key: a second transfer under it does not take place."""

    key: str
    reason: Reason
    table_id: TableId | None
    postings: tuple[Posting, ...]

    def __post_init__(self) -> None:
        sums: Counter[Asset] = Counter()
        for posting in self.postings:
            assert posting.amount, "a posting moves something"
            sums[posting.asset] += posting.amount
        assert not any(sums.values()), "a transfer sums to zero for each asset"


def move(
    amounts: Amounts,
    *,
    source: Owner,
    target: Owner,
    key: str,
    reason: Reason,
    table_id: TableId | None = None,
) -> Transfer:
    """All of `amounts` (each > 0) from `source` to `target`."""
    assert all(amount > 0 for amount in amounts.values()), "the direction says who gives"
    postings = tuple(
        Posting(owner=owner, asset=asset, amount=sign * amount)
        for asset, amount in amounts.items()
        for owner, sign in ((source, -1), (target, 1))
    )
    return Transfer(key=key, reason=reason, table_id=table_id, postings=postings)


def changes(transfers: Iterable[Transfer]) -> Sequence[tuple[AccountId, Asset, int]]:
    """What players' balances change by, in the one order in which balances may be locked."""
    sums: Counter[tuple[AccountId, Asset]] = Counter()
    for transfer in transfers:
        for posting in transfer.postings:
            if not isinstance(posting.owner, House):
                sums[posting.owner, posting.asset] += posting.amount
    return sorted((account, asset, amount) for (account, asset), amount in sums.items() if amount)


def gained(transfer: Transfer, account_id: AccountId) -> Amounts:
    """What the transfer gives the account, or, negative, takes."""
    return {posting.asset: posting.amount for posting in transfer.postings if posting.owner == account_id}


def coins_created(transfer: Transfer) -> int:
    """Coins that came into players' reach; negative: coins that left it for good. Holds are neither."""
    return -sum(
        posting.amount
        for posting in transfer.postings
        if posting.asset is Asset.COIN and isinstance(posting.owner, House) and posting.owner is not House.HOLDS
    )
