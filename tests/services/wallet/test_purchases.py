"""Coffee for bars (P12) and operators' corrections (P82): once a request, and never below zero (X1, X2, X17)."""

import asyncio
from uuid import UUID

import pytest

from libs.chassis.audit import Act
from libs.chassis.errors import DomainError
from libs.house.modes import Coffee
from services.wallet.domain.assets import Asset
from services.wallet.domain.ledger import AccountId
from services.wallet.domain.purchases import correction
from services.wallet.handlers.operators import audit_log, grant
from services.wallet.handlers.purchases import BuyCoffee, buy_coffee
from tests.services.wallet.builders import ENTROPY, PLATFORM, SIGNUP, Wallet


def request() -> UUID:
    return ENTROPY.uuid7()


async def buy(
    wallet: Wallet, account: AccountId, coffee: Coffee, request_id: UUID, *, guest: bool = False
) -> dict[str, int]:
    command = BuyCoffee(account_id=account, guest=guest, coffee=coffee, request_id=request_id)
    return {k.value: v for k, v in (await buy_coffee(command, wallets=wallet.store, platform=PLATFORM)).items()}


def act_of(request_id: UUID, account: AccountId, amounts: dict[Asset, int], reason: str = "made good") -> Act:
    details = {asset.value: amount for asset, amount in amounts.items()}
    return Act(
        request_id=request_id, operator="mara", act="correct", subject=account.hex, reason=reason, details=details
    )


async def correct(wallet: Wallet, account: AccountId, amounts: dict[Asset, int], request_id: UUID) -> dict[str, int]:
    owned = await grant(act_of(request_id, account, amounts), account, amounts, wallets=wallet.store)
    return {asset.value: amount for asset, amount in owned.items() if amount}


@pytest.mark.parametrize(
    ("coffee", "bars", "cup"),
    [
        (Coffee.X1_5, 3, "cup_x1_5"),
        (Coffee.X2, 6, "cup_x2"),
        (Coffee.X3, 12, "cup_x3"),
        (Coffee.X5, 25, "cup_x5"),
    ],
)
async def test_p12_bars_buy_three_cups_of_one_kind(wallet: Wallet, coffee: Coffee, bars: int, cup: str) -> None:
    account = await wallet.rich(0, 30)
    owned = await buy(wallet, account, coffee, request())
    assert owned == {**SIGNUP, "bar": 30 - bars, cup: 13} == await wallet.owned(account)


async def test_x2_the_same_request_buys_once_and_another_purchase_under_it_is_refused(wallet: Wallet) -> None:
    account, request_id = await wallet.rich(0, 30), request()
    first = await buy(wallet, account, Coffee.X2, request_id)
    assert await buy(wallet, account, Coffee.X2, request_id) == first
    with pytest.raises(DomainError) as refused:
        await buy(wallet, account, Coffee.X3, request_id)
    assert refused.value.reason == "REQUEST_DIFFERS"
    assert await wallet.owned(account) == first
    # Another's request of the same name is another request; and a retry is answered also when the bars are gone.
    other = await wallet.rich(0, 6)
    await buy(wallet, other, Coffee.X2, request_id)
    assert (await buy(wallet, other, Coffee.X2, request_id))["cup_x2"] == 13


@pytest.mark.parametrize("guest", [True, False])
async def test_p42_p12_guests_and_the_poor_buy_nothing(wallet: Wallet, guest: bool) -> None:
    account = await wallet.rich(0, 100 if guest else 5)
    before = await wallet.state()
    with pytest.raises(DomainError) as refused:
        await buy(wallet, account, Coffee.X2, request(), guest=guest)
    assert refused.value.reason == ("GUESTS_HAVE_NO_COFFEE" if guest else "INSUFFICIENT_FUNDS")
    assert await wallet.state() == before


async def test_x17_no_coffee_is_nothing_to_buy(wallet: Wallet) -> None:
    with pytest.raises(DomainError) as refused:
        await buy(wallet, await wallet.rich(0, 100), Coffee.NONE, request())
    assert refused.value.reason == "BAD_COFFEE"


async def test_x1_a_hundred_purchases_at_once_buy_exactly_what_the_bars_pay(wallet: Wallet) -> None:
    account = await wallet.rich(0, 65)
    results = await asyncio.gather(
        *(buy(wallet, account, Coffee.X2, request()) for _ in range(100)), return_exceptions=True
    )
    refused = [each for each in results if isinstance(each, BaseException)]
    assert {each.reason for each in refused if isinstance(each, DomainError)} == {"INSUFFICIENT_FUNDS"}
    assert (len(refused), await wallet.owned(account)) == (90, {**SIGNUP, "bar": 5, "cup_x2": 40})


async def test_x9_one_request_fifty_times_at_once_buys_once(wallet: Wallet) -> None:
    account, request_id = await wallet.rich(0, 65), request()
    await asyncio.gather(*(buy(wallet, account, Coffee.X5, request_id) for _ in range(50)))
    assert await wallet.owned(account) == {**SIGNUP, "bar": 40, "cup_x5": 13}


async def test_p82_an_operator_corrects_a_balance_once_with_a_line_beside_it(wallet: Wallet) -> None:
    account, request_id = await wallet.account(), request()
    amounts = {Asset.COIN: 500, Asset.CUP_X5: -2}
    after = {**SIGNUP, "coin": 1500, "cup_x5": 8}
    for _ in range(2):
        assert await correct(wallet, account, amounts, request_id) == after
    await asyncio.gather(*(correct(wallet, account, amounts, request_id) for _ in range(20)))
    assert await wallet.owned(account) == after
    line = (await audit_log(before=None, limit=1, wallets=wallet.store))[0]
    assert line.act == act_of(request_id, account, amounts)
    with pytest.raises(DomainError) as refused:
        await correct(wallet, account, {Asset.COIN: 501}, request_id)
    assert refused.value.reason == "ACT_DIFFERS"
    assert await wallet.owned(account) == after


@pytest.mark.parametrize(
    ("amounts", "reason"),
    [
        ({}, "NOTHING_TO_GRANT"),
        ({Asset.COIN: 0, Asset.BAR: 0}, "NOTHING_TO_GRANT"),
        ({Asset.COIN: -1001}, "INSUFFICIENT_FUNDS"),
        ({Asset.COIN: 1, Asset.BAR: -1}, "INSUFFICIENT_FUNDS"),
        ({Asset.COIN: 10**12 + 1}, "BAD_AMOUNT"),
        ({Asset.COIN: -(10**12) - 1}, "BAD_AMOUNT"),
        ({Asset.BAR: 2**53}, "BAD_AMOUNT"),
        ({Asset.CUP_X2: 2**63 - 1}, "BAD_AMOUNT"),
        ({Asset.CUP_X2: -(2**63)}, "BAD_AMOUNT"),
    ],
)
async def test_x17_p82_what_cannot_be_corrected_changes_nothing_and_leaves_no_line(
    wallet: Wallet, amounts: dict[Asset, int], reason: str
) -> None:
    account = await wallet.account()
    before, lines = await wallet.state(), await audit_log(before=None, limit=500, wallets=wallet.store)
    with pytest.raises(DomainError) as refused:
        await correct(wallet, account, amounts, request())
    assert refused.value.reason == reason
    assert await wallet.state() == before
    assert await audit_log(before=None, limit=500, wallets=wallet.store) == lines


async def test_x17_a_balance_never_grows_beyond_what_json_counts_exactly(wallet: Wallet) -> None:
    account = await wallet.account()
    # In one, for speed.
    await wallet.correct(*(correction(account, {Asset.COIN: 10**12}, request()) for _ in range(999)))
    with pytest.raises(DomainError) as refused:
        await correct(wallet, account, {Asset.COIN: 10**12}, request())
    assert refused.value.reason == "BAD_AMOUNT"
    assert await correct(wallet, account, {Asset.COIN: 10**12 - 1000}, request()) == {**SIGNUP, "coin": 10**15}


async def test_p82_the_log_is_read_page_by_page_newest_first(wallet: Wallet) -> None:
    account = await wallet.account()
    for amount in (1, 2, 3):
        await correct(wallet, account, {Asset.COIN: amount}, request())
    first = await audit_log(before=None, limit=2, wallets=wallet.store)
    rest = await audit_log(before=first[-1].n, limit=1, wallets=wallet.store)
    assert [line.act.details for line in (*first, *rest)] == [{"coin": 3}, {"coin": 2}, {"coin": 1}]
