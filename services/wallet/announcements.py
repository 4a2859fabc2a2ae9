"""The wallet's facts as events on `whist.wallet.events.v1`, key account_id."""

from collections.abc import Iterable, Mapping
from typing import assert_never

from services.wallet.domain.assets import Amounts, Asset
from services.wallet.domain.facts import (
    EntryPaid,
    EntryReturned,
    Fact,
    GameRefunded,
    GiftGiven,
    PrizePaid,
    PrizeReversed,
)
from services.wallet.ports import Ledger
from whist.types.v1.types_pb2 import Assets
from whist.wallet.v1 import events_pb2

TOPIC = "whist.wallet.events.v1"

_FIELDS: Mapping[Asset, str] = {
    Asset.COIN: "coins",
    Asset.BAR: "bars",
    Asset.CUP_X1_5: "cups_x1_5",
    Asset.CUP_X2: "cups_x2",
    Asset.CUP_X3: "cups_x3",
    Asset.CUP_X5: "cups_x5",
}


async def announce(facts: Iterable[Fact], *, ledger: Ledger) -> None:
    """Tell the others, in order, with the commit of `ledger`."""
    await ledger.publish_all(TOPIC, [(fact.account_id.bytes, event_of(fact)) for fact in facts])


def assets_of(amounts: Amounts) -> Assets:
    """The contracts' form of amounts."""
    return Assets(**{_FIELDS[asset]: amount for asset, amount in amounts.items()})


def amounts_of(assets: Assets) -> Amounts:
    """The other way round; what is 0 is left out."""
    plain: dict[Asset, int] = {asset: getattr(assets, field) for asset, field in _FIELDS.items()}
    return {asset: amount for asset, amount in plain.items() if amount}


def event_of(fact: Fact) -> events_pb2.WalletEvent:
    """Without id and time: the outbox fills them."""
    match fact:
        case EntryPaid(account_id=account, table_id=table, entry=entry):
            return events_pb2.WalletEvent(
                entry_paid=events_pb2.EntryPaid(account_id=account.bytes, table_id=table.bytes, entry=assets_of(entry))
            )
        case EntryReturned(account_id=account, table_id=table, entry=entry):
            return events_pb2.WalletEvent(
                entry_returned=events_pb2.EntryReturned(
                    account_id=account.bytes, table_id=table.bytes, entry=assets_of(entry)
                )
            )
        case PrizePaid(account_id=account, table_id=table, coins=coins, place=place, week_id=week_id):
            return events_pb2.WalletEvent(
                prize_paid=events_pb2.PrizePaid(
                    account_id=account.bytes, table_id=table.bytes, coins=coins, place=place, week_id=week_id
                )
            )
        case GiftGiven(account_id=account, gift=gift, amounts=amounts):
            return events_pb2.WalletEvent(
                gift_given=events_pb2.GiftGiven(account_id=account.bytes, reason=gift, assets=assets_of(amounts))
            )
        case GameRefunded(account_id=account, table_id=table, prize_coins=coins, week_id=week_id):
            return events_pb2.WalletEvent(
                game_refunded=events_pb2.GameRefunded(
                    account_id=account.bytes, table_id=table.bytes, prize_coins=coins, week_id=week_id
                )
            )
        case PrizeReversed(account_id=account, table_id=table, coins=coins, week_id=week_id):
            return events_pb2.WalletEvent(
                prize_reversed=events_pb2.PrizeReversed(
                    account_id=account.bytes, table_id=table.bytes, coins=coins, week_id=week_id
                )
            )
        case _:
            assert_never(fact)
