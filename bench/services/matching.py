"""``python -m bench.services.matching``: tables formed while ten thousand wait, and five hundred who come in a second.

**Cycles.** Ten thousand tickets of all rooms, tiers and ages, in three crowds: people from everywhere, a pair from each
network, and the same number from four networks, of whom most cannot sit together. A cycle is one turn of the matcher:
the transaction that locks tickets, forms tables and writes them down. Each crowd is worked off, and the slowest counts.

**A burst.** Everything in one process over one PostgreSQL (`make run`); 500 people ask for a seat within a second, over
gRPC as the gateway does, two in three of them for a room with an entry, so that wallet holds, tables deal and bots play
meanwhile. How long each waited is read from the tickets: the database's clock, from the ticket to the seat.
"""

import asyncio
import os
import shutil
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

import asyncpg
import sqlalchemy as sa

from bench.servers import ROOT, Running, family, whist
from bench.services import bars
from libs.chassis.clock import SystemClock
from libs.chassis.db import Database, Store, Transaction, embedded
from libs.chassis.entropy import SystemEntropy
from libs.chassis.errors import DomainError, Kind
from libs.chassis.rpc.peer import Peer
from libs.chassis.run import calm_collector
from libs.house import platform as house
from libs.house.modes import Mode
from services.allinone.home import Home
from services.matchmaking.handlers.matching import Matching
from services.matchmaking.storage.records import MatchmakingTransaction
from services.matchmaking.wiring import MIGRATIONS
from whist.auth.v1.events_pb2 import AccountCreated, AuthEvent
from whist.leagues.v1.events_pb2 import LeaguesEvent, LevelReached
from whist.matchmaking.v1 import matchmaking_pb2, matchmaking_pb2_grpc
from whist.types.v1 import types_pb2
from whist.wallet.v1 import wallet_pb2, wallet_pb2_grpc

FOLDER = ROOT / ".run" / "bench" / "services" / "matching"
WAITING = 10_000
CYCLE_MS_MAX = 100.0
# Networks that the crowd comes from; 0: nobody knows. A few: a crowd that may hardly sit together.
CROWDS = {"everywhere": 0, "pairs": WAITING // 2, "four_networks": 4}
CYCLES_MAX = 50
GAMES_BEFORE = 5_000  # whose matches and tickets lie in the tables yet

BURST, BURST_SECONDS = 500, 1.0
DEAL_SECONDS = 10.0  # P3
LATE_SECONDS_MAX = 1.0  # of a table whose time was up, after it
LEVEL, ROOMS = 4, (1, 2, 3)
POLL_SECONDS = 0.1
PATIENCE_SECONDS = 60.0


async def run() -> dict[str, object]:
    """Both parts; see `bench.services`."""
    calm_collector()  # as every service does at its start
    cycles = await _cycles()
    burst = await _burst()
    slowest = max(max(each) for each in cycles.values())
    return {
        "waiting": WAITING,
        "load": round(os.getloadavg()[0], 1),
        "cycles_ms": {name: [round(each, 1) for each in cycle] for name, cycle in cycles.items()},
        "burst": burst,
        "bars": [
            bars.Bar(what="slowest_cycle_ms", value=round(slowest, 1), side="at most", limit=CYCLE_MS_MAX).shown(),
            bars.Bar(what="seated_of_burst", value=burst["seated"], side="at least", limit=BURST).shown(),
            bars.Bar(what="worst_six_s", value=burst["worst_six_s"], side="at most", limit=DEAL_SECONDS).shown(),
            bars.Bar(
                what="worst_s", value=burst["worst_s"], side="at most", limit=DEAL_SECONDS + LATE_SECONDS_MAX
            ).shown(),
        ],
    }


async def _cycles() -> dict[str, list[float]]:
    """Milliseconds of each cycle, by crowd."""
    shutil.rmtree(FOLDER / "cycles", ignore_errors=True)
    server = embedded.start(FOLDER / "cycles")
    try:
        server.create_database("cycles")
        await MIGRATIONS.upgrade(server.url("cycles"))
        database = Database.open(server.url("cycles"), "matchmaking")
        try:
            return {name: await _worked_off(database, networks) for name, networks in CROWDS.items()}
        finally:
            await database.close()
    finally:
        server.stop()


async def _worked_off(database: Database, networks: int) -> list[float]:
    clock, entropy = SystemClock(), SystemEntropy()
    store = Store(database, MatchmakingTransaction, entropy)
    matching = Matching(store=store, platform=house.load(), entropy=entropy, owner=entropy.uuid7())
    await matching.match(Mode.QUICK)  # connected and at work, as a matcher is
    async with database.begin() as connection:
        await connection.execute(sa.text("truncate matchmaking.ticket, matchmaking.match, matchmaking.pool_lease"))
        await connection.execute(sa.text(_BEFORE), {"games": GAMES_BEFORE})
        await connection.execute(sa.text(_CROWD), {"waiting": WAITING, "networks": networks})
    async with database.engine.connect() as connection:
        await (await connection.execution_options(isolation_level="AUTOCOMMIT")).execute(sa.text("vacuum analyze"))
    took: list[float] = []
    while len(took) < CYCLES_MAX:
        started = clock.monotonic()
        made = await matching.match(Mode.QUICK)
        took.append((clock.monotonic() - started) * 1000)
        if not made:
            break
    return took


_BEFORE = """
with played as (
  insert into matchmaking.match (table_id, mode, state, created_at, next_try_at)
  select gen_random_uuid(), 'quick', 'done', clock_timestamp() - n * interval '1 minute', clock_timestamp()
  from generate_series(1, cast(:games as int)) as n
  returning table_id, created_at
)
insert into matchmaking.ticket
  (ticket_id, account_id, guest, name, room, mode, coffee, tier, created_at, changed_at, state, table_id)
select gen_random_uuid(), gen_random_uuid(), false, 'Ana', 1, 'quick', '', 1, created_at, created_at, 'done', table_id
from played, generate_series(1, 6)
"""
_CROWD = """
insert into matchmaking.ticket
  (ticket_id, account_id, guest, name, room, mode, coffee, tier, created_at, changed_at, state, linkage)
select gen_random_uuid(), gen_random_uuid(), false, 'Ana', n * 31 % 12 + 1, 'quick', '', n / 12 % 4 + 1,
  clock_timestamp() - n * 7919 % 11000 * interval '1 millisecond', clock_timestamp(), 'waiting',
  case cast(:networks as int) when 0 then ''::bytea
    else decode(md5((n % greatest(cast(:networks as int), 1))::text), 'hex') end
from generate_series(1, cast(:waiting as int)) as n
"""


async def _burst() -> dict[str, float]:
    async with whist(FOLDER / "burst", core="") as running:
        sockets = Home(running.folder, SystemEntropy()).sockets
        matchmaking, wallet = (Peer(f"unix:{sockets}/{name}.sock", "gateway") for name in ("matchmaking", "wallet"))
        try:
            accounts = await _accounts(running, wallet)
            before = _cpu_seconds(running)
            asked = await _ask(matchmaking, accounts)
            seated = await _seated(running)
            return {**asked, **seated, "cpu_s": round(_cpu_seconds(running) - before, 1)}
        finally:
            await matchmaking.close()
            await wallet.close()


async def _accounts(running: Running, wallet: Peer) -> list[UUID]:
    """People of whom auth and leagues have told: they own the first gift, and rooms up to the third are open."""
    entropy, clock = SystemEntropy(), SystemClock()
    accounts = [entropy.uuid7() for _ in range(BURST)]
    url = f"postgresql+asyncpg://postgres@/whist?host={running.socket_dir}"
    for schema, topic in (("auth", "whist.auth.events.v1"), ("leagues", "whist.leagues.events.v1")):
        database = Database.open(url, schema)
        async with Store(database, Transaction, entropy).transaction() as tx:
            for account in accounts:
                created = AuthEvent(account_created=AccountCreated(account_id=account.bytes, name="Ana"))
                reached = LeaguesEvent(level_reached=LevelReached(account_id=account.bytes, level=LEVEL))
                await tx.publish(topic, account.bytes, created if schema == "auth" else reached)
        await database.close()
    stub = wallet_pb2_grpc.WalletServiceStub(wallet.channel)
    until = clock.monotonic() + PATIENCE_SECONDS
    poor = list(accounts)
    while poor or await _counted(running, "select count(*) from matchmaking.standing") < BURST:
        if clock.monotonic() > until:
            raise TimeoutError("accounts that auth and leagues told of are not known")
        if poor:
            request = wallet_pb2.BalancesRequest(account_id=poor[-1].bytes)
            if (await wallet.call(stub.Balances, request)).assets.coins:
                poor.pop()
                continue
        await asyncio.sleep(POLL_SECONDS)
    for schema in ("auth", "leagues", "wallet"):  # what follows from the news, too
        while await _counted(running, f"select count(*) from {schema}.outbox"):
            await asyncio.sleep(POLL_SECONDS)
    return accounts


async def _ask(matchmaking: Peer, accounts: Sequence[UUID]) -> dict[str, float]:
    """Everybody asks at a moment of their own within the second."""
    clock = SystemClock()
    stub = matchmaking_pb2_grpc.MatchmakingServiceStub(matchmaking.channel)
    started = clock.monotonic()
    asked_again: list[UUID] = []

    async def ask(number: int, account: UUID) -> float:
        await asyncio.sleep(max(0.0, started + number * BURST_SECONDS / BURST - clock.monotonic()))
        asked_at = clock.monotonic()
        request = matchmaking_pb2.EnqueueRequest(
            account_id=account.bytes, name="Ana", room=ROOMS[number % len(ROOMS)], mode=types_pb2.MODE_QUICK
        )
        while True:
            try:
                await matchmaking.call(stub.Enqueue, request, seconds=PATIENCE_SECONDS, tries=1)
                return clock.monotonic() - asked_at
            except DomainError as refusal:  # a neighbour was too slow to answer; a client asks again
                if refusal.kind is not Kind.UNAVAILABLE:
                    raise
                asked_again.append(account)
            await asyncio.sleep(POLL_SECONDS)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(ask(number, account)) for number, account in enumerate(accounts)]
    answers = sorted(task.result() for task in tasks)
    return {
        "asked_again": len(asked_again),
        "asked_in_s": round(clock.monotonic() - started, 2),
        "enqueue_ms_p50": round(statistics.median(answers) * 1000, 1),
        "enqueue_ms_max": round(answers[-1] * 1000, 1),
    }


async def _seated(running: Running) -> dict[str, float]:
    """Wait for everybody's seat; then how long each waited."""
    clock = SystemClock()
    until = clock.monotonic() + PATIENCE_SECONDS
    waiting = "select count(*) from matchmaking.ticket where state in ('waiting', 'matched')"
    while await _counted(running, waiting) and clock.monotonic() < until:
        await asyncio.sleep(POLL_SECONDS)
    connection = await asyncpg.connect(**running.postgres)
    try:
        rows = await connection.fetch(_WAITS)
    finally:
        await connection.close()
    waits = sorted(float(row["waited"]) for row in rows)
    sixes = [float(row["waited"]) for row in rows if row["people"] == 6]
    return {
        "seated": len(waits),
        "tables": len({row["table_id"] for row in rows}),
        "median_s": round(statistics.median(waits), 2),
        "worst_six_s": round(max(sixes), 2),
        "worst_s": round(waits[-1], 2),
    }


_WAITS = """
select table_id, count(*) over (partition by table_id) as people, extract(epoch from changed_at - created_at) as waited
from matchmaking.ticket where state = 'seated'
"""


def _cpu_seconds(running: Running) -> float:
    """Used so far by the server and its PostgreSQL."""
    spent = 0.0
    for pid in family(list(running.pids)):
        times = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[11:15]
        spent += sum(map(int, times)) / os.sysconf("SC_CLK_TCK")
    return spent


async def _counted(running: Running, query: str) -> int:
    connection = await asyncpg.connect(**running.postgres)
    try:
        return int(await connection.fetchval(query))
    finally:
        await connection.close()


if __name__ == "__main__":
    sys.exit(bars.alone(run))
