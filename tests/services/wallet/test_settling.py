"""What settling a game costs, and that what it does in few statements is still right when others move meanwhile."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import sqlalchemy as sa

from services.wallet.domain.holds import HoldState, release
from services.wallet.domain.ledger import AccountId
from tests.services.wallet.builders import Player, Wallet, finished, new_table, started
from whist.wallet.v1.events_pb2 import WalletEvent

# Each is a round trip, which costs the wallet and PostgreSQL more than what is done in it (bench.services.settling).
# A start: the game, its holds, the posting, the events. An end: the same, and what is kept of it.
START_STATEMENTS = 4
END_STATEMENTS = 5


@contextmanager
def statements(wallet: Wallet) -> Iterator[list[str]]:
    """Those that are executed inside the block, BEGIN and COMMIT aside."""
    found: list[str] = []

    def executed(_1: object, _2: object, statement: str, *_: object) -> None:
        found.append(statement)

    engine = wallet.store.database.engine.sync_engine
    sa.event.listen(engine, "before_cursor_execute", executed)
    try:
        yield found
    finally:
        sa.event.remove(engine, "before_cursor_execute", executed)


async def waiting(wallet: Wallet, table: str) -> bool:
    """Whether a statement that names the table waits for a lock."""
    query = (
        "select exists (select from pg_stat_activity "
        "where datname = current_database() and wait_event_type = 'Lock' and query like :like)"
    )
    async with wallet.store.database.begin() as connection:
        found: bool = (await connection.execute(sa.text(query), {"like": f"%{table}%"})).scalar_one()
        return found


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(10):
        while not await holds():
            await asyncio.sleep(0.01)


async def told(wallet: Wallet, account_id: AccountId) -> dict[str, datetime]:
    """When each kind of event happened that was told of the account."""
    query = sa.text("select payload from wallet.event where key = :key")
    async with wallet.store.database.begin() as connection:
        found = (await connection.execute(query, {"key": account_id.bytes})).scalars().all()
    events = [WalletEvent.FromString(bytes(payload)) for payload in found]
    return {event.WhichOneof("event") or "": event.occurred_at.ToDatetime(UTC) for event in events}


async def test_a_game_of_six_is_settled_in_few_statements(wallet: Wallet) -> None:
    players = [Player(account_id=await wallet.account(), room=2, place=place) for place in range(1, 7)]
    table = new_table()
    await wallet.hold_for(table, players)
    with statements(wallet) as executed:
        await wallet.take(started(table, players))
    assert len(executed) <= START_STATEMENTS, executed
    with statements(wallet) as executed:
        await wallet.take(finished(table, players))
    assert len(executed) <= END_STATEMENTS, executed
    assert await wallet.coins(players[0].account_id) > 1000


async def test_a_hold_that_is_released_while_the_deal_waits_for_it_is_not_paid(wallet: Wallet) -> None:
    stays, leaves = sorted(
        [Player(account_id=await wallet.account(), room=2) for _ in range(2)], key=lambda player: player.account_id
    )
    table = new_table()
    await wallet.hold_for(table, [stays, leaves])
    async with asyncio.TaskGroup() as tasks, wallet.store.transaction() as ledger:
        (back,) = await ledger.resolve(table, [leaves.account_id], source=HoldState.OPEN, target=HoldState.RELEASED)
        await ledger.post([release(back)])
        tasks.create_task(wallet.take(started(table, [stays, leaves])))
        await until(lambda: waiting(wallet, "wallet.hold"))
    async with wallet.store.transaction() as ledger:
        states = [hold.state for hold in await ledger.holds(table)]
    assert states == [HoldState.PAID, HoldState.RELEASED]
    assert [await wallet.coins(each.account_id) for each in (stays, leaves)] == [900, 1000]
    assert "entry_paid" in await told(wallet, stays.account_id)
    assert "entry_paid" not in await told(wallet, leaves.account_id)


async def test_what_is_told_happened_when_the_balances_were_locked(wallet: Wallet) -> None:
    """Of two who change one balance, the second to get it is also the later one by what is told."""
    player = Player(account_id=await wallet.account(), room=2)
    table = new_table()
    await wallet.hold_for(table, [player])
    await wallet.take(started(table, [player]))
    async with asyncio.TaskGroup() as tasks, wallet.store.transaction() as ledger:
        await ledger.lock_balances([player.account_id])
        tasks.create_task(wallet.take(finished(table, [player])))
        await until(lambda: waiting(wallet, "wallet.transfer"))
        locked_by_the_other = await ledger.now()
    assert (await told(wallet, player.account_id))["prize_paid"] > locked_by_the_other
