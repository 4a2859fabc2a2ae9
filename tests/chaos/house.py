"""A table worker and a wallet in this process, on one bus: what becomes of a game and of its entries."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any

import sqlalchemy as sa
from pydantic import SecretStr

from libs.chassis.db.database import Database
from libs.chassis.events.memory import MemoryBus
from libs.chassis.rpc.peer import Peer
from libs.chassis.run import running_together
from libs.chassis.settings import load_settings
from services.tables import wiring as tables
from services.tables.settings import TablesSettings
from services.wallet import wiring as wallet
from services.wallet.domain.ledger import AccountId, TableId
from services.wallet.settings import WalletSettings
from services.wallet.storage.ledger import LedgerStore
from tests.chaos.home import Home
from tests.services.tables.conftest import RunningWorker
from tests.services.wallet.builders import ENTROPY, Wallet, new_table
from whist.tables.v1 import tables_pb2

MIGRATIONS = (tables.MIGRATIONS, wallet.MIGRATIONS)
# A tenth of the limits: a person's card times out after a second or two.
LIMIT_SCALE = 0.1
VIP_KEY = SecretStr("of the house in the tests")
ROOM, ENTRY, PRIZES = 2, 100, (250, 175, 137)


@dataclass
class House:
    """A table worker and a wallet on one bus."""

    worker: RunningWorker
    wallet: Wallet
    numbers: Iterator[int]

    async def open(self, premium: str = "off") -> tuple[bytes, AccountId]:
        """A quick game of one person, whose entry is held."""
        table, account = new_table(), await self.wallet.account()
        await self.wallet.hold(TableId(table), account, ROOM)
        await self.worker.create(
            table_id=table.bytes, options_json=f'{{"mode":"quick","premium":"{premium}"}}',
            players=[tables_pb2.Player(account_id=account.bytes, name="Ana", room=ROOM)],
        )  # fmt: skip
        return table.bytes, account

    async def query(self, statement: str, **values: Any) -> list[Any]:
        async with self.wallet.store.database.begin() as connection:
            return list((await connection.execute(sa.text(statement), values)).all())

    async def purse(self, account: AccountId) -> tuple[int, int]:
        """(coins, coins held)."""
        return await self.wallet.coins(account), (await self.wallet.held(account)).get("coin", 0)


@asynccontextmanager
async def house(place: Home, url: str, *, limit_scale: float = LIMIT_SCALE) -> AsyncIterator[House]:
    """Both services over that database."""
    address = f"unix:{place.folder}/tables.sock"
    settings = TablesSettings(
        database_url=url, grpc_listen=address, worker_id="one", bot_pace_scale=0.0, turn_limit_scale=limit_scale,
        drain_seconds=1.0,
    )  # fmt: skip
    purses = load_settings(
        WalletSettings, database_url=url, grpc_listen=f"unix:{place.folder}/wallet.sock", tables_target=address,
        vip_key=VIP_KEY, drain_seconds=1.0,
    )  # fmt: skip
    peers = [Peer(address, caller) for caller in ("gateway", "matchmaking", "wallet")]
    database = Database.open(url, "wallet")
    try:
        async with running_together([(wallet.SPEC, purses), (tables.SPEC, settings)], MemoryBus(), {}):
            yield House(RunningWorker(address, "one", *peers), Wallet(LedgerStore(database, ENTROPY)), count(1))
    finally:
        await database.close()
        for peer in peers:
            await peer.close()
