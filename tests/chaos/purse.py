"""Entries and prizes of a run: held before the deal as matchmaking holds them, counted after the games (E4, E6)."""

import asyncio
import sys
from collections import Counter
from collections.abc import Sequence
from uuid import UUID

import asyncpg

from libs.chassis.errors import DomainError
from tests.chaos.players import Account
from tests.chaos.system import System
from whist.wallet.v1 import wallet_pb2, wallet_pb2_grpc

ROOM = 2  # the first that costs something (config/platform.toml)
GIFT_SECONDS = 20.0
SETTLED_SECONDS = 30.0
PROBE_SECONDS = 0.1

TRANSFERS = """
select t.reason, t.table_id, p.account_id from wallet.transfer t join wallet.posting p on p.transfer_id = t.id
 where t.table_id = any($1::uuid[]) and p.account_id is not null and p.asset = 'coin'
"""
UNSETTLED = "select count(*) from wallet.game where table_id = any($1::uuid[]) and state not in ('finished', 'voided')"


async def held(system: System, table: UUID, people: Sequence[Account]) -> None:
    """Every entry is set aside; a new account's coins come by an event, so the first try may be too early."""
    [wallet] = system.of("wallet")
    async with system.peer(wallet, "matchmaking") as peer, asyncio.timeout(GIFT_SECONDS):
        stub = wallet_pb2_grpc.WalletServiceStub(peer.channel)
        for account in people:
            request = wallet_pb2.HoldEntryRequest(table_id=table.bytes, account_id=account.id, room=ROOM)
            while True:
                try:
                    await peer.call(stub.HoldEntry, request)
                    break
                except DomainError as refusal:
                    if refusal.reason != "INSUFFICIENT_FUNDS":
                        raise
                await asyncio.sleep(PROBE_SECONDS)


async def settled(database: asyncpg.Connection, tables: Sequence[UUID]) -> None:
    """Wait until the wallet has heard the end of all these games."""
    left = len(tables)
    for _ in range(int(SETTLED_SECONDS / PROBE_SECONDS)):
        left = await database.fetchval(UNSETTLED, tables)
        if not left:
            return
        await asyncio.sleep(PROBE_SECONDS)
    raise AssertionError(f"{left} games are not settled")


async def once(database: asyncpg.Connection, tables: Sequence[UUID]) -> str:
    """E4: nobody was charged or paid twice for a table. What was moved, for a run's report."""
    rows = await database.fetch(TRANSFERS, tables)
    counts = Counter((row["reason"], row["table_id"], row["account_id"]) for row in rows)
    twice = {key: count for key, count in counts.items() if count > 1}
    assert not twice, f"E4: moved more than once: {twice}"
    reasons = Counter(row["reason"] for row in rows)
    return ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))


async def proved(system: System) -> None:
    """The ledger adds up, by the product's own proof (E1 to E3)."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "services.wallet.ledger_check", "--json", stdout=asyncio.subprocess.PIPE,
        env={"WHIST_DATABASE_URL": system.database_url, "PATH": "", "PYTHONPATH": _path()},
    )  # fmt: skip
    out, _ = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, out.decode()


def _path() -> str:
    return ":".join(sys.path)
