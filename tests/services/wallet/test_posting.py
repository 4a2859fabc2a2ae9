"""Balances are locked in one order, also those that another creates meanwhile (E3, X1)."""

import asyncio
from collections.abc import Awaitable, Callable

import sqlalchemy as sa

from services.wallet.domain.assets import Asset
from services.wallet.domain.ledger import AccountId, House, Reason, Transfer, move
from tests.services.wallet.builders import Wallet, new_account

WAITING = sa.text("""
select count(*) from pg_stat_activity
where datname = current_database() and wait_event_type = 'Lock' and query like '%wallet.transfer%'
""")


def gift(account_id: AccountId, asset: Asset, key: str) -> Transfer:
    return move({asset: 5}, source=House.GIFTS, target=account_id, key=f"{key}:{account_id}", reason=Reason.CORRECTION)


async def posted(wallet: Wallet, *transfers: Transfer) -> None:
    await wallet.correct(*transfers)


async def until(true: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(10):
        while not await true():
            await asyncio.sleep(0.01)


async def test_x1_a_balance_that_is_created_meanwhile_is_locked_in_its_place(wallet: Wallet) -> None:
    first, second = sorted((new_account(), new_account()))
    await posted(wallet, gift(second, Asset.COIN, "start"))

    async def waiting(wanted: int) -> bool:
        async with wallet.store.transaction() as ledger:
            found: int = (await ledger.connection.execute(WAITING)).scalar_one()
            return found >= wanted

    async with asyncio.TaskGroup() as tasks, wallet.store.transaction() as blocker:
        await blocker.connection.execute(
            sa.text("select from wallet.balance where account_id = :id for update"), {"id": second}
        )
        # It waits for the second account's coins, and has begun when the first had no bars.
        tasks.create_task(posted(wallet, gift(first, Asset.BAR, "a"), gift(second, Asset.COIN, "a")))
        await until(lambda: waiting(1))
        creating = tasks.create_task(posted(wallet, gift(first, Asset.BAR, "b")))
        await until(lambda: _either(creating, waiting(2)))
        tasks.create_task(posted(wallet, gift(first, Asset.BAR, "c"), gift(second, Asset.COIN, "c")))
        await until(lambda: _either_waits(creating, waiting))
    assert (await wallet.owned(first), await wallet.owned(second)) == ({"bar": 15}, {"coin": 15})


async def _either(task: "asyncio.Task[None]", waits: Awaitable[bool]) -> bool:
    return (await waits) or task.done()


async def _either_waits(creating: "asyncio.Task[None]", waiting: Callable[[int], Awaitable[bool]]) -> bool:
    """All who are left wait: two where the creator has got through, else three."""
    return await waiting(2 if creating.done() else 3)
