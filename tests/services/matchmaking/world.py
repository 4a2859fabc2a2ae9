"""A queue with everything around it: real PostgreSQL, fakes for the wallet and the tables, time that can be moved.

Every commit and every answered call passes `Faults.pass_by`, where a test may let the process die.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from libs.chassis.db import Database, Store
from libs.chassis.entropy import SystemEntropy
from libs.chassis.errors import Kind, Refusal, Unavailable
from libs.house import platform as house
from libs.house.modes import Coffee, Mode
from services.matchmaking.domain.admission import Assets
from services.matchmaking.domain.errors import SeatedElsewhere
from services.matchmaking.domain.ids import AccountId, TableId
from services.matchmaking.domain.matches import Player, VipDays
from services.matchmaking.domain.tickets import Place, Wish
from services.matchmaking.handlers.matching import Matching
from services.matchmaking.handlers.queueing import Queueing
from services.matchmaking.handlers.seating import Seating
from services.matchmaking.storage.records import MatchmakingTransaction

PLATFORM = house.load()
KEY = b"the key of the tests"
RICH = Assets(coins=10**9, bars=10**6, cups=dict.fromkeys(Coffee, 10))


class Died(Exception):
    """The process, at this very point."""


class Faults:
    """Counts what happened; dies right after step number `at`."""

    def __init__(self) -> None:
        self.steps = 0
        self.at: int | None = None

    def pass_by(self) -> None:
        self.steps += 1
        if self.steps == self.at:
            raise Died(self.steps)

    def rearm(self, at: int | None) -> None:
        self.steps, self.at = 0, at


class FakeWallet:
    """A ledger of one-word holds: open, released or paid, by (table, account)."""

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self.assets: dict[AccountId, Assets] = {}
        self.holds: dict[tuple[TableId, AccountId], str] = {}
        self.spent: set[AccountId] = set()
        self.down = False

    def dealt(self, table_id: TableId) -> None:
        """Every open hold of the table becomes an entry, whoever it belongs to."""
        for key, state in self.holds.items():
            if key[0] == table_id and state == "open":
                self.holds[key] = "paid"

    async def balances(self, account_id: AccountId) -> Assets:
        self._answer()
        return self.assets.get(account_id, RICH)

    async def hold(self, table_id: TableId, wish: Wish) -> None:
        key = (table_id, wish.account_id)
        self._answer()
        if self.holds.get(key, "open") != "open":
            raise Refusal(Kind.CONFLICT, "HOLD_RESOLVED")
        if key not in self.holds:
            if wish.account_id in self.spent:
                raise Refusal(Kind.CONFLICT, "INSUFFICIENT_FUNDS")
            self.holds[key] = "open"
        self.faults.pass_by()

    async def release(self, table_id: TableId, account_id: AccountId) -> None:
        self._answer()
        if self.holds.get((table_id, account_id)) == "paid":
            raise Refusal(Kind.CONFLICT, "HOLD_RESOLVED")
        self.holds[table_id, account_id] = "released"
        self.faults.pass_by()

    def _answer(self) -> None:
        if self.down:
            raise Unavailable


class FakeTables:
    """Tables as words: live, over or abandoned."""

    def __init__(self, faults: Faults, wallet: FakeWallet) -> None:
        self.faults = faults
        self.wallet = wallet
        self.tables: dict[TableId, str] = {}
        self.players: dict[TableId, tuple[Player, ...]] = {}
        self.left: set[tuple[TableId, AccountId]] = set()
        # Who sits at a friends' table, and at which.
        self.friends: dict[AccountId, TableId] = {}
        self.refuses_new = False
        # The answer to CreateTable is lost: the table may be there all the same.
        self.loses_answers = False
        self.down = False
        # Cleared: CreateTable is answered no sooner than it is set again.
        self.answers = asyncio.Event()
        self.answers.set()

    async def create(self, table_id: TableId, mode: Mode, players: Sequence[Player]) -> None:
        assert mode in Mode
        self._answer()
        await self.answers.wait()
        if self.refuses_new:
            raise Refusal(Kind.UNAVAILABLE, "DRAINING")
        if self.tables.get(table_id) == "abandoned":
            raise Refusal(Kind.CONFLICT, "TABLE_ABANDONED")
        elsewhere = frozenset(player.account_id for player in players if player.account_id in self.friends)
        if table_id not in self.tables and elsewhere:
            raise SeatedElsewhere(elsewhere)
        if table_id not in self.tables:
            self.tables[table_id] = "live"
            self.players[table_id] = tuple(players)
            self.wallet.dealt(table_id)
        self.faults.pass_by()
        if self.loses_answers:
            raise Unavailable

    async def abandon(self, table_id: TableId) -> bool:
        self._answer()
        self.tables.setdefault(table_id, "abandoned")
        self.faults.pass_by()
        return self.tables[table_id] != "abandoned"

    async def is_seated(self, table_id: TableId, account_id: AccountId) -> bool:
        self._answer()
        return self.tables.get(table_id) == "live" and (table_id, account_id) not in self.left

    async def seat_of(self, account_id: AccountId) -> TableId | None:
        self._answer()
        return next(iter(self.seats_of(account_id)), self.friends.get(account_id))

    def seats_of(self, account_id: AccountId) -> list[TableId]:
        """Live tables at which the account plays."""
        return [
            table_id
            for table_id, players in self.players.items()
            if self.tables[table_id] == "live"
            and (table_id, account_id) not in self.left
            and any(player.account_id == account_id for player in players)
        ]

    def _answer(self) -> None:
        if self.down:
            raise Unavailable


@dataclass
class World:
    """One database, and one process of matchmaking on it; `restart` is the next process."""

    database: Database
    faults: Faults = field(default_factory=Faults)
    shift: timedelta = timedelta()
    vip_key: bytes = KEY

    def __post_init__(self) -> None:
        world = self

        class Moved(MatchmakingTransaction):
            """The database's clock, moved by `World.pass_time`."""

            async def now(self) -> datetime:
                return await super().now() + world.shift

        class Mortal(Store[Moved]):
            """Dies after commits."""

            @asynccontextmanager
            async def transaction(self) -> AsyncIterator[Moved]:
                async with super().transaction() as tx:
                    yield tx
                world.faults.pass_by()

        self.entropy = SystemEntropy()
        self.store = Mortal(self.database, Moved, self.entropy)
        self.wallet = FakeWallet(self.faults)
        self.tables = FakeTables(self.faults, self.wallet)
        self.woken = 0
        self.restart()

    def restart(self) -> None:
        """A new process, also beside the one before."""
        days = VipDays(key=self.vip_key, zone=PLATFORM.zone)
        self.matching = Matching(store=self.store, platform=PLATFORM, entropy=self.entropy, owner=self.entropy.uuid7())
        self.seating = Seating(store=self.store, wallet=self.wallet, tables=self.tables, platform=PLATFORM, days=days)
        self.queueing = Queueing(
            store=self.store, wallet=self.wallet, tables=self.tables, platform=PLATFORM, days=days,
            entropy=self.entropy, wake=self._woken,
        )  # fmt: skip

    def _woken(self) -> None:
        self.woken += 1

    def pass_time(self, seconds: float) -> None:
        self.shift += timedelta(seconds=seconds)

    def account(self) -> AccountId:
        return AccountId(self.entropy.uuid7())

    async def experienced(self, level: int = 40) -> AccountId:
        """An account that leagues say has reached this level."""
        account_id = self.account()
        async with self.store.transaction() as tx:
            await tx.set_level(account_id, level, await tx.now())
        return account_id

    async def enqueue(self, account_id: AccountId, **choice: object) -> Place:
        return await self.queueing.enqueue(a_wish(account_id, **choice))

    async def turn(self) -> None:
        """What the matcher's loop does once, in order, to the end."""
        table_ids: list[TableId] = []
        for mode in await self.matching.waiting():
            table_ids += await self.matching.match(mode)
        for table_id in [*table_ids, *await self.seating.due()]:
            await self.seating.carry_on(table_id)

    async def settle(self, turns: int = 8) -> None:
        """Turns, each long enough after the other for every lease and pause to have run out."""
        for _ in range(turns):
            self.pass_time(11)
            await self.turn()

    async def ends(self, table_id: TableId) -> None:
        """The game is over, and the event about it is consumed."""
        self.tables.tables[table_id] = "over"
        async with self.store.transaction() as tx:
            await tx.end_table(table_id, await tx.now())

    async def leaves(self, table_id: TableId, account_id: AccountId) -> None:
        """On purpose, and the event about it is consumed."""
        self.tables.left.add((table_id, account_id))
        async with self.store.transaction() as tx:
            await tx.end_seat(table_id, account_id, await tx.now())

    async def rows(self, query: str) -> list[Any]:
        async with self.database.engine.connect() as connection:
            return list((await connection.execute(sa.text(query))).all())

    async def clear(self) -> None:
        """An empty queue."""
        async with self.database.begin() as connection:
            await connection.execute(
                sa.text(
                    "truncate matchmaking.ticket, matchmaking.match, matchmaking.pool_lease, matchmaking.standing,"
                    " matchmaking.admission,"
                    " matchmaking.event, matchmaking.outbox, matchmaking.inbox, matchmaking.parked"
                )
            )

    async def check_invariants(self) -> None:
        """True after every step, whoever died where."""
        live = "select account_id, count(*) from matchmaking.ticket where state in ('waiting', 'matched', 'seated')"
        twice = await self.rows(f"{live} group by account_id having count(*) > 1")
        assert not twice, "P8: one live ticket or seat an account"
        for players in self.tables.players.values():
            for player in players:
                assert len(self.tables.seats_of(player.account_id)) <= 1, "P8: one live seat an account"
        for table_id, players in self.tables.players.items():
            for player in players:
                assert self.wallet.holds[table_id, player.account_id] == "paid", "nobody plays for nothing"

    async def check_settled(self) -> None:
        """True when nothing is under way: no hold hangs, nobody is stranded."""
        await self.check_invariants()
        under_way = await self.rows(
            "select table_id, state from matchmaking.match where state in ('forming', 'held', 'releasing')"
        )
        assert not under_way
        for (table_id, account_id), state in self.wallet.holds.items():
            plays = any(player.account_id == account_id for player in self.tables.players.get(table_id, ()))
            assert state == ("paid" if plays else "released"), (table_id, account_id, state)
        for account_id, table_id in await self.rows(
            "select account_id, table_id from matchmaking.ticket where state in ('matched', 'seated')"
        ):
            assert self.tables.seats_of(AccountId(account_id)) == [table_id], "a seated ticket has its seat"
        assert not await self.rows("select 1 from matchmaking.ticket where state = 'matched'")


def a_wish(account_id: AccountId, **choice: object) -> Wish:
    plain: dict[str, object] = {
        "guest": False,
        "name": "Ana",
        "room": 1,
        "mode": Mode.QUICK,
        "coffee": Coffee.NONE,
    }
    return Wish(account_id=account_id, **{**plain, **choice})  # type: ignore[arg-type] # a builder


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Look again and again, giving way to the others; the test's own time-out is the limit."""
    while not await condition():
        await asyncio.sleep(0.02)
