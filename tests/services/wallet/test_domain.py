"""Transfers as values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.house.modes import Coffee
from libs.house.rooms import GUEST_ROOM
from services.wallet.domain.assets import Asset
from services.wallet.domain.gifts import signup_award
from services.wallet.domain.holds import GameState, give_back, new_hold, pay, release, set_aside
from services.wallet.domain.ledger import AccountId, House, Posting, Reason, Transfer, changes, coins_created, move
from tests.services.wallet.builders import PLATFORM, new_account, new_table

AMOUNTS = st.dictionaries(st.sampled_from(Asset), st.integers(1, 10**12), max_size=6)


@given(AMOUNTS)
def test_e1_a_move_sums_to_zero_for_each_asset(amounts: dict[Asset, int]) -> None:
    made = move(amounts, source=House.GIFTS, target=new_account(), key="k", reason=Reason.PRIZE)
    for asset in Asset:
        assert sum(posting.amount for posting in made.postings if posting.asset is asset) == 0
    assert len(made.postings) == 2 * len(amounts)


@pytest.mark.parametrize("amounts", [(1,), (1, -2), (0,), (5, 5)])
def test_e1_what_does_not_sum_to_zero_is_no_transfer(amounts: tuple[int, ...]) -> None:
    postings = tuple(Posting(owner=House.GIFTS, asset=Asset.COIN, amount=amount) for amount in amounts)
    with pytest.raises(AssertionError):
        Transfer(key="k", reason=Reason.PRIZE, table_id=None, postings=postings)


@pytest.mark.parametrize("amount", [0, -1])
def test_x17_nothing_and_less_cannot_be_moved(amount: int) -> None:
    with pytest.raises(AssertionError):
        move({Asset.COIN: amount}, source=House.GIFTS, target=new_account(), key="k", reason=Reason.PRIZE)


@given(st.permutations([new_account() for _ in range(4)]))
def test_balances_are_locked_in_one_order_whatever_the_transfers(accounts: list[AccountId]) -> None:
    transfers = [signup_award(account, PLATFORM).transfer for account in accounts]
    locked = [(account, asset) for account, asset, _ in changes(transfers)]
    assert locked == sorted(locked) and len(set(locked)) == 4 * 5


def test_what_comes_back_in_the_same_breath_changes_no_balance() -> None:
    hold = new_hold(new_table(), new_account(), PLATFORM.room(11), Coffee.X5)
    assert len(changes([set_aside(hold)])) == 3
    assert changes([set_aside(hold), release(hold)]) == []
    assert changes([set_aside(hold), pay(hold), give_back(hold)]) == []


def test_p81_coins_are_created_by_gifts_and_prizes_and_destroyed_by_paid_entries() -> None:
    hold = new_hold(new_table(), new_account(), PLATFORM.room(2), Coffee.X5)
    assert coins_created(signup_award(hold.account_id, PLATFORM).transfer) == 1000
    assert [coins_created(act(hold)) for act in (set_aside, release, pay, give_back)] == [0, 0, -100, 100]


def test_a_free_room_moves_nothing() -> None:
    hold = new_hold(new_table(), new_account(), PLATFORM.room(GUEST_ROOM), Coffee.NONE)
    assert set_aside(hold).postings == ()


def test_a_games_end_is_final() -> None:
    for state in GameState:
        assert not state.before & {GameState.FINISHED, GameState.VOIDED, GameState.ABANDONED}
