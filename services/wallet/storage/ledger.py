"""One transaction over transfers, balances, holds and games."""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from google.protobuf.message import Message
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from libs.chassis.db import Database, Store
from libs.chassis.entropy import Entropy
from libs.chassis.events.outbox import Outbox
from libs.house.modes import Coffee
from services.wallet.domain.assets import Amounts, Asset, entry_amounts
from services.wallet.domain.errors import BadAmount, InsufficientFunds
from services.wallet.domain.history import Belongings, Difference, Movement, Unproved
from services.wallet.domain.holds import GameState, Hold, HoldState, Resolved
from services.wallet.domain.ledger import AccountId, Reason, TableId, Transfer, coins_created
from services.wallet.metrics import coins_created as created_counter
from services.wallet.metrics import coins_destroyed as destroyed_counter
from services.wallet.storage import checks, game_checks, seat_checks
from services.wallet.storage.games import GameRecords
from services.wallet.storage.posting import (
    ADVANCE,
    HOLDS,
    KNOW_GAMES,
    LOCK_HOLDS,
    OPEN_HOLD,
    OPEN_HOLDS,
    RESOLVE,
    RESOLVE_ENTRIES,
    hold_values,
    holds_values,
    post,
)
from services.wallet.storage.tables import balance, game, hold, posting, transfer
from services.wallet.storage.telling import TellingRecords
from services.wallet.storage.weeks import WeekRecords

_clock = sa.func.clock_timestamp()


class LedgerTransaction(GameRecords, WeekRecords, TellingRecords):
    """Implements `services.wallet.ports.Ledger` on PostgreSQL."""

    def __init__(self, connection: AsyncConnection, outbox: Outbox) -> None:
        super().__init__(connection, outbox)
        # Set by the store that opens the transaction.
        self.new_id: Callable[[], UUID]
        self.posted: list[Transfer] = []
        self._posted_at: datetime | None = None

    async def post(self, transfers: Iterable[Transfer]) -> frozenset[str]:
        given = sorted((each for each in transfers if each.postings), key=lambda each: each.key)
        if not given:
            return frozenset()
        done = await post(self.connection, [(self.new_id(), each) for each in given])
        for asset, amount in done.short:
            raise BadAmount(asset=asset) if amount > 0 else InsufficientFunds(asset=asset, needed=-amount)
        self.posted += [each for each in given if each.key in done.written]
        self._posted_at = done.at or self._posted_at
        return done.written

    async def publish_all(
        self, topic: str, messages: Sequence[tuple[bytes, Message]], *, at: datetime | None = None
    ) -> None:
        """What is told of a posting has its moment."""
        await super().publish_all(topic, messages, at=at or self._posted_at)

    async def known(self, keys: Collection[str]) -> frozenset[str]:
        query = sa.select(transfer.c.key).where(transfer.c.key.in_(list(keys)))
        return frozenset((await self.connection.execute(query)).scalars())

    async def moved(self, key: str, account_id: AccountId) -> Amounts:
        query = (
            sa.select(posting.c.asset, posting.c.amount)
            .join(transfer, transfer.c.id == posting.c.transfer_id)
            .where(transfer.c.key == key, posting.c.account_id == account_id)
        )
        return {Asset(row.asset): row.amount for row in await self.connection.execute(query)}

    async def share_game(self, table_id: TableId) -> GameState:
        await self.connection.execute(
            insert(game).values(table_id=table_id, state=GameState.OPEN, at=_clock).on_conflict_do_nothing()
        )
        query = sa.select(game.c.state).where(game.c.table_id == table_id).with_for_update(read=True)
        return GameState((await self.connection.execute(query)).scalar_one())

    async def advance(
        self,
        table_id: TableId,
        state: GameState,
        *,
        started_at: datetime | None = None,
        ended_at: datetime | None = None,
    ) -> bool:
        row = await self.connection.execute(
            ADVANCE,
            {
                "table_id": table_id,
                "state": state.value,
                "before": [each.value for each in state.before],
                "started_at": started_at,
                "ended_at": ended_at,
            },
        )
        return row.first() is not None

    async def open_hold(self, new: Hold) -> tuple[GameState, bool]:
        while True:
            row = (await self.connection.execute(OPEN_HOLD, hold_values(new))).one()
            if row.state is not None:
                return GameState(row.state), bool(row.inserted)
            await self.share_game(new.table_id)

    async def open_holds(self, holds: Sequence[Hold]) -> Sequence[Hold]:
        await self.connection.execute(KNOW_GAMES, {"tables": sorted({each.table_id for each in holds})})
        rows = await self.connection.execute(OPEN_HOLDS, holds_values(holds))
        return [_hold(row) for row in rows]

    async def undo(self, table_id: TableId) -> bool:
        change = (
            sa.update(game)
            .where(game.c.table_id == table_id, game.c.state == GameState.FINISHED)
            .values(state=GameState.VOIDED, at=_clock)
        )
        return bool((await self.connection.execute(change)).rowcount)

    async def insert_hold(self, new: Hold) -> bool:
        insertion = insert(hold).values(
            table_id=new.table_id,
            account_id=new.account_id,
            room=new.room,
            coffee=new.coffee,
            coins=new.coins,
            bars=new.bars,
            state=new.state,
            at=_clock,
        )
        row = await self.connection.execute(insertion.on_conflict_do_nothing().returning(sa.literal(1)))
        return row.first() is not None

    async def hold(self, table_id: TableId, account_id: AccountId) -> Hold:
        query = sa.select(hold).where(hold.c.table_id == table_id, hold.c.account_id == account_id)
        return _hold((await self.connection.execute(query)).one())

    async def holds(self, table_id: TableId) -> Sequence[Hold]:
        return [_hold(row) for row in await self.connection.execute(HOLDS, {"table_id": table_id})]

    async def lock_holds(self, table_id: TableId) -> Sequence[Hold]:
        return [_hold(row) for row in await self.connection.execute(LOCK_HOLDS, {"table_id": table_id})]

    async def resolve_entries(self, table_id: TableId, seated: Collection[AccountId]) -> Sequence[Resolved]:
        rows = await self.connection.execute(RESOLVE_ENTRIES, {"table_id": table_id, "seated": list(seated)})
        return [Resolved(hold=_hold(row), was=HoldState(row.was)) for row in rows]

    async def resolve(
        self, table_id: TableId, accounts: Iterable[AccountId], *, source: HoldState, target: HoldState
    ) -> Sequence[Hold]:
        wanted = list(accounts)
        if not wanted:
            return []
        values = {"table_id": table_id, "accounts": wanted, "source": source.value, "target": target.value}
        holds = [_hold(row) for row in await self.connection.execute(RESOLVE, values)]
        return sorted(holds, key=lambda each: each.account_id)

    async def belongings(self, account_id: AccountId) -> Belongings:
        owned = sa.select(balance.c.asset, balance.c.amount, sa.null().label("coins"), sa.null().label("bars")).where(
            balance.c.account_id == account_id
        )
        held = sa.select(hold.c.coffee, sa.null(), hold.c.coins, hold.c.bars).where(
            hold.c.account_id == account_id, hold.c.state == HoldState.OPEN
        )
        rows = (await self.connection.execute(sa.union_all(owned, held))).all()
        sums: Counter[Asset] = Counter()
        for row in rows:
            if row.coins is not None:
                sums.update(entry_amounts(coins=row.coins, bars=row.bars, coffee=Coffee(row.asset)))
        return Belongings(
            owned={Asset(row.asset): row.amount for row in rows if row.coins is None},
            held=sums,
        )

    async def movements(self, account_id: AccountId, *, limit: int, before: int | None) -> Sequence[Movement]:
        query = (
            sa.select(posting, transfer.c.at, transfer.c.reason, transfer.c.table_id)
            .join(transfer, transfer.c.id == posting.c.transfer_id)
            .where(posting.c.account_id == account_id)
            .order_by(posting.c.n.desc())
            .limit(limit)
        )
        if before is not None:
            query = query.where(posting.c.n < before)
        return [_movement(row) for row in await self.connection.execute(query)]

    async def tables_of_old_holds(self, age_seconds: float, *, after: TableId | None, limit: int) -> Sequence[TableId]:
        age = sa.cast(sa.func.make_interval(0, 0, 0, 0, 0, 0, age_seconds), sa.Interval)
        query = (
            sa.select(hold.c.table_id)
            .where(hold.c.state == HoldState.OPEN, hold.c.at < _clock - age)
            .group_by(hold.c.table_id)
            .order_by(hold.c.table_id)
            .limit(limit)
        )
        if after is not None:
            query = query.where(hold.c.table_id > after)
        return [TableId(row.table_id) for row in await self.connection.execute(query)]

    async def oldest_hold_seconds(self) -> float:
        age = sa.func.extract("epoch", _clock - sa.func.min(hold.c.at))
        query = sa.select(sa.func.coalesce(age, 0)).where(hold.c.state == HoldState.OPEN)
        return float((await self.connection.execute(query)).scalar_one())

    async def differences(self, limit: int) -> Sequence[Difference]:
        found: list[Difference] = []
        for rule, statement in (*checks.CHECKS, *game_checks.CHECKS, *seat_checks.CHECKS):
            rows = await self.connection.execute(sa.text(statement), {"limit": limit})
            found += [Difference(rule=rule, subject=s, expected=e, found=f) for s, e, f in rows]
        return found

    async def unproved(self) -> Sequence[Unproved]:
        counts = [
            Unproved(rule=rule, count=(await self.connection.execute(sa.text(statement))).scalar_one(), why=why)
            for rule, statement, why in seat_checks.UNPROVED
        ]
        return [each for each in counts if each.count]


class LedgerStore(Store[LedgerTransaction]):
    """Opens the wallet's transactions, and counts coins once they are committed."""

    def __init__(self, database: Database, entropy: Entropy, wake_relay: Callable[[], None] = lambda: None) -> None:
        super().__init__(database, LedgerTransaction, entropy, wake_relay)
        self._entropy = entropy

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[LedgerTransaction]:
        async with super().transaction() as transaction:
            transaction.new_id = self._entropy.uuid7
            yield transaction
        for each in transaction.posted:
            coins = coins_created(each)
            (created_counter if coins > 0 else destroyed_counter).labels(each.reason).inc(abs(coins))


def _hold(row: Any) -> Hold:
    return Hold(
        table_id=TableId(row.table_id),
        account_id=AccountId(row.account_id),
        room=row.room,
        coffee=Coffee(row.coffee),
        coins=row.coins,
        bars=row.bars,
        state=HoldState(row.state),
    )


def _movement(row: Any) -> Movement:
    return Movement(
        position=row.n,
        transfer_id=row.transfer_id,
        at=row.at,
        reason=Reason(row.reason),
        asset=Asset(row.asset),
        amount=row.amount,
        table_id=None if row.table_id is None else TableId(row.table_id),
    )
