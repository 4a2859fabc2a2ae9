"""How long leagues take to close a week of 100,000 players (P55), alone and after a kill in the middle.

    python -m bench.services.closing

Two weeks are closed over PostgreSQL and a wallet that answers over gRPC. The first by one process, from the first
question to the wallet to the last row: ``seconds``, and of them ``cpu_seconds`` its own and PostgreSQL's work. In the
second the process is killed without warning when a quarter of the groups is closed, and another goes on: ``resumed``.
In both every player has one rank and one WeekClosed.
"""

import asyncio
import os
import resource
import shutil
import sys
from asyncio.subprocess import Process
from pathlib import Path
from typing import Any

import grpc
import sqlalchemy as sa

from bench.services.bars import Bar, alone
from libs.chassis.clock import SystemClock
from libs.chassis.db import Store, embedded
from libs.chassis.db.database import Database
from libs.chassis.entropy import SystemEntropy
from libs.chassis.rpc.peer import Peer
from libs.house import platform as house
from services.leagues.domain.results import WeekId
from services.leagues.handlers.closing import close_week
from services.leagues.handlers.grouping import seat_all
from services.leagues.peers import WalletPeer
from services.leagues.storage.ledger import LeaguesTransaction
from services.leagues.wiring import MIGRATIONS
from whist.wallet.v1.wallet_pb2 import SealWeekRequest, SealWeekResponse, WeekTotal
from whist.wallet.v1.wallet_pb2_grpc import WalletServiceServicer, add_WalletServiceServicer_to_server

PLAYERS = 100_000
SECONDS_MAX = 60.0
WEEKS = (WeekId("2026-W46"), WeekId("2026-W47"))
PLATFORM = house.load()
FOLDER = Path(__file__).resolve().parents[2] / ".run" / "bench" / "services" / "closing"
POLL_SECONDS = 0.01
# Peers ping while they wait for other things.
PINGED = (("grpc.http2.min_ping_interval_without_data_ms", 5000), ("grpc.keepalive_permit_without_calls", 1))

# A player's id is a hash of its number, its points another: the same at each run.
_PLAYERS = """
insert into leagues.account (account_id, guest, games)
  select md5('player' || n)::uuid, false, 0 from generate_series(1, :players) n on conflict do nothing;
insert into leagues.tier (account_id, tier)
  select md5('player' || n)::uuid, 1 + n % 4 from generate_series(1, :players) n on conflict do nothing;
insert into leagues.prize (table_id, account_id, week_id, coins, paid_at)
  select md5(:week || n)::uuid, md5('player' || n)::uuid, :week, 100 + (hashtext(:week || n) & 65535),
         '2026-11-09'::timestamptz + n * interval '1 second'
  from generate_series(1, :players) n;
insert into leagues.standing (account_id, week_id, points, games, reached_at)
  select account_id, week_id, coins, 1 + coins % 9, paid_at from leagues.prize where week_id = :week;
analyze leagues.account; analyze leagues.tier; analyze leagues.prize; analyze leagues.standing
"""


class Totals(WalletServiceServicer):
    """A wallet that has sealed its weeks."""

    def __init__(self) -> None:
        self.weeks: dict[str, list[tuple[bytes, int]]] = {}

    async def SealWeek(self, request: SealWeekRequest, context: Any) -> SealWeekResponse:  # noqa: N802
        del context
        totals = self.weeks[request.week_id]
        first = next((index for index, (who, _) in enumerate(totals) if who > request.after), len(totals))
        page = totals[first : first + 5000]
        return SealWeekResponse(
            sealed=True,
            totals=[WeekTotal(account_id=who, coins=coins, prizes=1) for who, coins in page],
            more=first + 5000 < len(totals),
        )


async def run() -> dict[str, object]:
    """Figures of both weeks."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    postgres = await asyncio.to_thread(embedded.start, FOLDER / "data")
    try:
        return await _measured(postgres.url(), postgres.pid())
    finally:
        await asyncio.to_thread(postgres.stop)


async def _measured(url: str, postmaster: int) -> dict[str, object]:
    await MIGRATIONS.upgrade(url)
    target, wallet, server = f"unix:{FOLDER}/wallet.sock", Totals(), grpc.aio.server(options=PINGED)  # type: ignore[abstract]
    add_WalletServiceServicer_to_server(wallet, server)
    server.add_insecure_port(target)
    await server.start()
    database, clock = Database.open(url, "leagues", command_seconds=None), SystemClock()
    try:
        whole, broken = WEEKS
        await _play(database, wallet, whole)
        started, before = clock.monotonic(), _cpu_seconds(postmaster)
        await (await _closer(url, target, whole)).wait()
        seconds, cpu_seconds = clock.monotonic() - started, _cpu_seconds(postmaster) - before
        await _play(database, wallet, broken)
        first = await _closer(url, target, broken)
        killed_after = await _killed_on_the_way(first, database, broken)
        started = clock.monotonic()
        await (await _closer(url, target, broken)).wait()
        resumed = {"killed_after_groups": killed_after, "seconds": round(clock.monotonic() - started, 2)}
        once = await _told_once(database)
    finally:
        await server.stop(0)
        await database.close()
    bars = [
        Bar(what="seconds", value=round(seconds, 2), side="at most", limit=SECONDS_MAX),
        Bar(what="players_ranked_and_told_once", value=float(once), side="at least", limit=1),
    ]
    return {
        "players": PLAYERS,
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu_seconds, 2),
        "resumed": resumed,
        "bars": [bar.shown() for bar in bars],
    }


def _cpu_seconds(postmaster: int) -> float:
    """Of the closers that have ended, and of PostgreSQL's processes that have."""
    fields = Path(f"/proc/{postmaster}/stat").read_text().rpartition(")")[2].split()
    ended = sum(map(int, fields[13:15])) / os.sysconf("SC_CLK_TCK")
    own = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended + own.ru_utime + own.ru_stime


async def _play(database: Database, wallet: Totals, week: WeekId) -> None:
    """A week in which everybody has won one prize and has been seated by it."""
    async with database.begin() as connection:
        for statement in _PLAYERS.split(";"):
            values = {"players": PLAYERS, "week": week}
            used = {name: value for name, value in values.items() if f":{name}" in statement}
            await connection.execute(sa.text(statement), used)
    async with Store(database, LeaguesTransaction, SystemEntropy()).transaction() as ledger:
        await ledger.hold_weeks_alone()
        await seat_all(week, sealed=False, ledger=ledger, platform=PLATFORM)
    async with database.begin() as connection:
        rows = await connection.execute(
            sa.text("select account_id, coins from leagues.prize where week_id = :week order by account_id"),
            {"week": week},
        )
        wallet.weeks[week] = [(row.account_id.bytes, row.coins) for row in rows]


async def _closer(url: str, target: str, week: str) -> Process:
    return await asyncio.create_subprocess_exec(sys.executable, "-m", "bench.services.closing", url, target, week)


async def _killed_on_the_way(closer: Process, database: Database, week: str) -> int:
    while (groups := await _closed(database, week)) < PLAYERS // PLATFORM.league.group_size // 4:
        if closer.returncode is not None:
            raise RuntimeError("the close ended before it could be killed")
        await asyncio.sleep(POLL_SECONDS)
    closer.kill()
    await closer.wait()
    return groups


async def _closed(database: Database, week: str) -> int:
    async with database.begin() as connection:
        groups = await connection.execute(
            sa.text("select count(*) from leagues.league_group where week_id = :week and closed_at is not null"),
            {"week": week},
        )
        return int(groups.scalar_one())


async def _told_once(database: Database) -> bool:
    """Whether both weeks are closed, everybody has a rank in each and was told of each rank once."""
    async with database.begin() as connection:
        for query, due in (
            ("select count(*) from leagues.week where stage = 'closed'", len(WEEKS)),
            ("select count(*) from leagues.week_rank", len(WEEKS) * PLAYERS),
            ("select count(*) from leagues.event where type = 'week_closed'", len(WEEKS) * PLAYERS),
            ("select count(distinct key) from leagues.event where type = 'week_closed'", PLAYERS),
        ):
            if (await connection.execute(sa.text(query))).scalar_one() != due:
                return False
    return True


async def close(url: str, target: str, week: str) -> None:
    """What one replica does: the child of the measurement."""
    database, peer = Database.open(url, "leagues"), Peer(target, "leagues")
    books = Store(database, LeaguesTransaction, SystemEntropy())
    try:
        if not await close_week(WeekId(week), books=books, wallet=WalletPeer(peer), platform=PLATFORM):
            raise RuntimeError(f"{week} did not close")
    finally:
        await peer.close()
        await database.close()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(close(*sys.argv[1:]))
    else:
        sys.exit(alone(run))
