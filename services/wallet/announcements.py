"""The wallet's facts as events on `whist.wallet.events.v1`, key account_id, and read back from them."""

from collections.abc import Iterable, Mapping
from typing import assert_never
from uuid import UUID

from services.wallet.domain.assets import Amounts, Asset
from services.wallet.domain.facts import (
    BalanceCorrected,
    CoffeeBought,
    EntryPaid,
    EntryReturned,
    Fact,
    GameRefunded,
    GiftGiven,
    GiftsReversed,
    LossBorne,
    PrizePaid,
    PrizeReversed,
)
from services.wallet.domain.ledger import AccountId, TableId
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
            event = events_pb2.WalletEvent(
                entry_paid=events_pb2.EntryPaid(account_id=account.bytes, table_id=table.bytes, entry=assets_of(entry))
            )
        case EntryReturned(account_id=account, table_id=table, entry=entry, unpaid=unpaid):
            event = events_pb2.WalletEvent(
                entry_returned=events_pb2.EntryReturned(
                    account_id=account.bytes, table_id=table.bytes, entry=assets_of(entry), unpaid=unpaid
                )
            )
        case PrizePaid(account_id=account, table_id=table, coins=coins, place=place, week_id=week_id):
            event = events_pb2.WalletEvent(
                prize_paid=events_pb2.PrizePaid(
                    account_id=account.bytes, table_id=table.bytes, coins=coins, place=place, week_id=week_id
                )
            )
        case GiftGiven(account_id=account, gift=gift, amounts=amounts):
            event = events_pb2.WalletEvent(
                gift_given=events_pb2.GiftGiven(account_id=account.bytes, reason=gift, assets=assets_of(amounts))
            )
        case GameRefunded(
            account_id=account, table_id=table, prize_coins=coins, week_id=week_id, returned=returned, taken=taken
        ):
            event = events_pb2.WalletEvent(
                game_refunded=events_pb2.GameRefunded(
                    account_id=account.bytes,
                    table_id=table.bytes,
                    prize_coins=coins,
                    week_id=week_id,
                    returned=assets_of(returned),
                    taken=assets_of(taken),
                )
            )
        case PrizeReversed(account_id=account, table_id=table, coins=coins, week_id=week_id):
            event = events_pb2.WalletEvent(
                prize_reversed=events_pb2.PrizeReversed(
                    account_id=account.bytes, table_id=table.bytes, coins=coins, week_id=week_id
                )
            )
        case GiftsReversed(account_id=account, table_id=table, amounts=amounts):
            event = events_pb2.WalletEvent(
                gifts_reversed=events_pb2.GiftsReversed(
                    account_id=account.bytes, table_id=table.bytes, assets=assets_of(amounts)
                )
            )
        case LossBorne(account_id=account, table_id=table, amounts=amounts):
            event = events_pb2.WalletEvent(
                loss_borne=events_pb2.LossBorne(
                    account_id=account.bytes, table_id=table.bytes, assets=assets_of(amounts)
                )
            )
        case CoffeeBought(account_id=account, amounts=amounts):
            event = events_pb2.WalletEvent(
                coffee_bought=events_pb2.CoffeeBought(account_id=account.bytes, assets=assets_of(amounts))
            )
        case BalanceCorrected(account_id=account, amounts=amounts):
            event = events_pb2.WalletEvent(
                balance_corrected=events_pb2.BalanceCorrected(account_id=account.bytes, assets=assets_of(amounts))
            )
        case _:
            assert_never(fact)
    return event


def fact_of(payload: bytes) -> Fact:
    """What an event of ours says. Raises ValueError or DecodeError for one that is none."""
    event = events_pb2.WalletEvent.FromString(payload)
    kind = event.WhichOneof("event")
    if kind is None:
        raise ValueError("an event of no kind")
    told = getattr(event, kind)
    account = AccountId(UUID(bytes=told.account_id))
    match kind:
        case "gift_given":
            return GiftGiven(account_id=account, gift=told.reason, amounts=amounts_of(told.assets))
        case "coffee_bought":
            return CoffeeBought(account_id=account, amounts=amounts_of(told.assets))
        case "balance_corrected":
            return BalanceCorrected(account_id=account, amounts=amounts_of(told.assets))
        case _:
            return _fact_of_game(kind, account, TableId(UUID(bytes=told.table_id)), event)


def _fact_of_game(kind: str, account: AccountId, table: TableId, event: events_pb2.WalletEvent) -> Fact:
    fact: Fact
    match kind:
        case "entry_paid":
            fact = EntryPaid(account_id=account, table_id=table, entry=amounts_of(event.entry_paid.entry))
        case "entry_returned":
            returned = event.entry_returned
            fact = EntryReturned(
                account_id=account, table_id=table, entry=amounts_of(returned.entry), unpaid=returned.unpaid
            )
        case "prize_paid":
            paid = event.prize_paid
            fact = PrizePaid(
                account_id=account, table_id=table, coins=paid.coins, place=paid.place, week_id=paid.week_id
            )
        case "game_refunded":
            refunded = event.game_refunded
            fact = GameRefunded(
                account_id=account,
                table_id=table,
                prize_coins=refunded.prize_coins,
                week_id=refunded.week_id,
                returned=amounts_of(refunded.returned),
                taken=amounts_of(refunded.taken),
            )
        case "prize_reversed":
            undone = event.prize_reversed
            fact = PrizeReversed(account_id=account, table_id=table, coins=undone.coins, week_id=undone.week_id)
        case "gifts_reversed":
            fact = GiftsReversed(account_id=account, table_id=table, amounts=amounts_of(event.gifts_reversed.assets))
        case "loss_borne":
            fact = LossBorne(account_id=account, table_id=table, amounts=amounts_of(event.loss_borne.assets))
        case _:
            raise ValueError(f"an event of a kind not known here: {kind}")
    return fact
