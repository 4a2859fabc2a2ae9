"""A finished game given back (P14): offered, and done once."""

from dataclasses import dataclass

from libs.house.platform import Platform
from libs.house.vip import vip_weekdays
from services.wallet.announcements import announce
from services.wallet.domain.assets import Amounts
from services.wallet.domain.errors import InsufficientFunds, InsufficientToReverse, RefundsUsedUp
from services.wallet.domain.facts import GameRefunded
from services.wallet.domain.holds import refund as entry_back
from services.wallet.domain.ledger import AccountId, TableId
from services.wallet.domain.refunds import Offer, RefundCase, day_of, offer
from services.wallet.domain.settled import Undoing, prize_of, take_back
from services.wallet.ports import Ledger, Wallets

REFUND = "refund"  # a day's share of refunds


@dataclass(frozen=True, slots=True, kw_only=True)
class Refunded:
    """What came back, what went back, and what is there now."""

    returned: Amounts
    taken: Amounts
    owned: Amounts


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundDesk:
    """What refunds are decided by. `vip_key` spreads the VIP days (P13)."""

    wallets: Wallets
    platform: Platform
    vip_key: bytes


async def refund_offer(account_id: AccountId, table_id: TableId, *, desk: RefundDesk) -> Offer:
    """What a refund would move, or why there is none. Changes nothing."""
    async with desk.wallets.transaction() as ledger:
        case = await _case(account_id, table_id, ledger)
        return await _offer(case, account_id, desk, ledger)


async def refund(account_id: AccountId, table_id: TableId, *, desk: RefundDesk) -> Refunded:
    """Return the entry and take back exactly what the game won, in one transaction (P14, E4, X8).

    Idempotent by (table, account): once refunded it answers as the first time, whatever has happened since. Raises the
    refusals of `domain.refunds`; then nothing has changed.
    """
    async with desk.wallets.transaction() as ledger:
        await ledger.lock_game(table_id)
        case = await _case(account_id, table_id, ledger, lock_week=True)
        if case.undone is Undoing.REFUND and case.hold is not None:
            return await _refunded(case.hold.amounts, case, account_id, ledger)
        found = await _offer(case, account_id, desk, ledger)
        if found.refused is not None:
            raise found.refused()
        assert case.finish is not None and case.hold is not None, "a game without them is refused"
        await ledger.keep_reversals(table_id, [account_id], Undoing.REFUND, after_seal=False)
        rule = desk.platform.refund_rule(day_of(case.finish))
        # Two games of one day at once: both saw one left, one of them gets it.
        if rule is None or not await ledger.use_share(account_id, case.finish.day_id, REFUND, most=rule.a_day):
            raise RefundsUsedUp
        try:
            taken = (take_back(table_id, each, Undoing.REFUND) for each in case.won)
            await ledger.post([entry_back(case.hold), *taken])
        except InsufficientFunds as error:  # spent between the look and the posting
            raise InsufficientToReverse(asset=error.facts["asset"]) from error
        fact = GameRefunded(
            account_id=account_id,
            table_id=table_id,
            prize_coins=prize_of(case.won, account_id),
            week_id=case.finish.week_id,
            returned=case.returns,
            taken=case.takes,
        )
        await announce([fact], ledger=ledger)
        return await _refunded(found.returns, case, account_id, ledger)


async def _refunded(returned: Amounts, case: RefundCase, account_id: AccountId, ledger: Ledger) -> Refunded:
    owned = (await ledger.belongings(account_id)).owned
    return Refunded(returned=returned, taken=case.takes, owned=owned)


async def _offer(case: RefundCase, account_id: AccountId, desk: RefundDesk, ledger: Ledger) -> Offer:
    rule, vip_day = None, False
    if case.finish is not None:
        day = day_of(case.finish)
        rule = desk.platform.refund_rule(day)
        vip_day = day.weekday() in vip_weekdays(account_id.bytes, desk.vip_key)
    # Read last: whatever was waited for, the clock says when the decision falls.
    now = await ledger.now()
    return offer(case, rule=rule, vip_day=vip_day, now=now, zone=desk.platform.zone)


async def _case(account_id: AccountId, table_id: TableId, ledger: Ledger, *, lock_week: bool = False) -> RefundCase:
    """All that decides. Locks go game, week; the caller has the game's."""
    finish = await ledger.finish(table_id)
    sealed = False
    if finish is not None:
        sealed = await (ledger.share_week if lock_week else ledger.is_sealed)(finish.week_id)
    holds = {hold.account_id: hold for hold in await ledger.holds(table_id)}
    seats = {seat.account_id: seat for seat in await ledger.seats(table_id)}
    return RefundCase(
        state=await ledger.game_state(table_id),
        hold=holds.get(account_id),
        finish=finish,
        seat=seats.get(account_id),
        won=await ledger.won(table_id, [account_id]),
        undone=(await ledger.reversals(table_id)).get(account_id),
        owned=(await ledger.belongings(account_id)).owned,
        used=0 if finish is None else await ledger.used_share(account_id, finish.day_id, REFUND),
        sealed=sealed,
    )
