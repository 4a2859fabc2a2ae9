"""B09: the broker loses all it holds before anybody has read it; what was published is driven again and counts once."""

import asyncio
import hashlib
import signal
from functools import partial
from uuid import UUID

import asyncpg

from tests.chaos import purse
from tests.chaos.players import playing, room
from tests.chaos.scenario import Run, scenario
from tests.chaos.system import Plan, System, running
from tests.chaos.verdict import judged
from tests.chaos.watching import until_true
from tests.deploy.test_runbook import block

GAMES_SECONDS = 120.0
CONSUMED_SECONDS = 40.0
SCHEMAS = ("tables", "auth", "wallet")

BALANCES = "select account_id, asset, amount from wallet.balance order by account_id, asset"
PUBLISHED = "select not exists (select from tables.outbox) and not exists (select from auth.outbox)"
# What the wallet listens to.
HEARD = (
    "select count(*) from tables.event where type in ('game_started', 'game_finished', 'game_voided')",
    "select count(*) from auth.event where type = 'account_created'",
)
HANDLED = "whist_events_handled_total{"


@scenario("B09", "the broker forgets everything: driven again from the journal's side, twice, every event counts once")
async def forgetful_broker(run: Run) -> None:
    tables, think = (4, 0.02) if run.small else (40, 0.2)
    plan = Plan(services=("wallet",), workers=1)
    async with running(plan, run.folder) as system, room(system, run.random) as people, system.database() as database:
        [wallet] = system.of("wallet")
        await people.deal(tables, think_seconds=think, room=purse.ROOM, entry=partial(purse.held, system))
        async with playing(people) as games:
            await asyncio.sleep(run.random.uniform(0.0, 0.5))
            wallet.send(signal.SIGKILL)
            run.inject("SIGKILL of the wallet, which hears no end of a game")
            async with asyncio.timeout(GAMES_SECONDS):
                await asyncio.gather(*games)

        async def published() -> bool:
            return bool(await database.fetchval(PUBLISHED))

        await until_true(published, CONSUMED_SECONDS, "the outboxes are empty")
        await system.broker.kill()
        await system.broker.start()
        run.inject("the broker restarted without anything it held")
        await wallet.start()
        states = [await driven_again(system, database, people.tables) for _ in range(2)]
        assert states[0] == states[1], "a second drive changed somebody's balance"
        run.held(f"driven again twice: {tables} games are settled, and the balances are the same both times")
        run.held(f"E4: {await purse.once(database, people.tables)}, none twice")
        await purse.proved(system)
        run.held("the ledger adds up")
        await judged(run, people, finishes=True)


async def driven_again(system: System, database: asyncpg.Connection, tables: list[UUID]) -> str:
    """By the runbook's statement; a digest of all balances once everything that was driven is handled."""
    [wallet] = system.of("wallet")
    before = await wallet.metric(HANDLED)
    driven = sum([await database.fetchval(query) for query in HEARD])
    for schema in SCHEMAS:
        await database.execute(block("insert into wallet.outbox").replace("wallet.", f"{schema}."))

    async def handled() -> bool:
        return bool(await wallet.metric(HANDLED) >= before + driven)

    await until_true(handled, CONSUMED_SECONDS, f"the wallet has handled {driven} events")
    await purse.settled(database, tables)
    rows = await database.fetch(BALANCES)
    return hashlib.sha256(repr([tuple(row.values()) for row in rows]).encode()).hexdigest()
