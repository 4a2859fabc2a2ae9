"""How fast one wallet settles: every seat's entry held, paid at the deal, and its game's prizes paid.

    python -m bench.services.settling

One process, as one wallet is, with PostgreSQL beside it (fsync on, on its own data folder). What a matcher and the
tables make it do is done to its handlers: six holds a game at once, each durable before it is answered (`HoldEntry`
without its gRPC; those that wait together share a commit), then GameStarted and GameFinished by the consumer's own
`Delivery`, inbox and outbox rows included. `GAMES_AT_ONCE` games run side by side. A settled seat is one whose entry
was held and paid and whose game's prize, if it won one, is paid.

Beside it, in the same run, over the same pool and driver and with as many transactions side by side as there are
connections: a bare transfer, two rows of a balance table changed by two statements in a transaction of their own, as
often as something durable is answered or acknowledged in the games (eight times a game: six holds, start and finish).
`ratio` is the bare loop's seconds by the settling's, so at 0.5 a whole ledger, with postings, their proof, events and
inbox, costs twice a bare pair of UPDATEs. The two take turns, round by round, so that a busy machine slows both alike.
"""

import asyncio
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import sqlalchemy as sa

from bench.services import bars
from libs.chassis.db import Database, embedded
from libs.chassis.entropy import SystemEntropy
from libs.chassis.events.bus import Subscription
from libs.chassis.events.delivery import Delivery
from libs.chassis.events.envelope import Event
from libs.house import platform as house
from libs.house.modes import Coffee
from services.wallet.consumers import TABLES_TOPIC, on_tables
from services.wallet.domain.gifts import signup_award
from services.wallet.domain.ledger import AccountId, TableId
from services.wallet.handlers.entries import HoldEntry
from services.wallet.handlers.holding import HoldDesk
from services.wallet.handlers.ledger_check import ledger_check, take_in_events
from services.wallet.storage.ledger import LedgerStore
from services.wallet.wiring import MIGRATIONS
from whist.tables.v1.events_pb2 import GameFinished, GameStarted, Seat, SeatResult, TablesEvent
from whist.tables.v1.tables_pb2 import TABLE_KIND_QUICK

FOLDER = Path(".run/bench/services/settling")
SEATS = 6
GAMES_AT_ONCE = 16
GAMES = 160  # a round
ROUNDS = 5
ACCOUNTS = SEATS * GAMES_AT_ONCE * 4
ANSWERS_A_GAME = SEATS + 2
POOL = 16
SEATS_A_SECOND = 1000
RATIO = 0.5
ROOM = 2
PLATFORM = house.load()

_BARE_TAKE = sa.text("update bare.balance set amount = amount - 1 where id = :id")
_BARE_GIVE = sa.text("update bare.balance set amount = amount + 1 where id = :id")


class Settling:
    """One wallet, its accounts and the bare table beside it."""

    def __init__(self, database: Database) -> None:
        self.entropy = SystemEntropy()
        self.database = database
        self.store = LedgerStore(database, self.entropy)
        self.accounts = [AccountId(self.entropy.uuid7()) for _ in range(ACCOUNTS)]
        self.desk = HoldDesk(self.store, PLATFORM)
        self.delivery = Delivery(
            Subscription(
                consumer="wallet.tables",
                topic=TABLES_TOPIC,
                message=TablesEvent,
                handle=self._handle,
                transaction=self.store.transaction,
                database=database,
            )
        )

    async def _handle(self, ledger: object, event: TablesEvent) -> None:
        await on_tables(ledger, event, platform=PLATFORM)  # type: ignore[arg-type] # the store's own transaction

    async def prepare(self) -> None:
        """Everybody has the signup gift many times over; the bare table has as many rows as there are accounts."""
        async with self.store.transaction() as ledger:
            await ledger.post([signup_award(account, PLATFORM).transfer for account in self.accounts])
        async with self.database.begin() as connection:
            for statement in (
                "update wallet.balance set amount = amount + 1000000",
                "insert into wallet.transfer select gen_random_uuid(), 'grant:' || account_id || asset, 'correction', "
                "null, now() from wallet.balance",
                "insert into wallet.posting (transfer_id, account_id, house, asset, amount) "
                "select t.id, case when w = 'a' then b.account_id end, case when w = 'h' then 'corrections' end, "
                "b.asset, case when w = 'a' then 1000000 else -1000000 end from wallet.balance b "
                "join wallet.transfer t on t.key = 'grant:' || b.account_id || b.asset, (values ('a'), ('h')) as s(w)",
                "create schema bare",
                "create table bare.balance (id integer primary key, amount bigint not null) with (fillfactor = 80)",
                f"insert into bare.balance select n, 0 from generate_series(0, {ACCOUNTS - 1}) as n",
                # Of all this nobody was told: the proof begins with what is there now.
                "update wallet.telling set since = null",
            ):
                await connection.execute(sa.text(statement))
        await take_in_events(wallets=self.store)

    async def settle(self, games: int) -> float:
        """Seconds that so many games took."""
        numbers = iter(range(games))
        started = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for lane in range(GAMES_AT_ONCE):
                group.create_task(self._lane(lane, numbers))
        return time.perf_counter() - started

    async def _lane(self, lane: int, numbers: Iterator[int]) -> None:
        for number in numbers:  # one iterator for all lanes
            first = (lane * 4 + number % 4) * SEATS
            await self._game(self.accounts[first : first + SEATS])

    async def _game(self, accounts: list[AccountId]) -> None:
        table = TableId(self.entropy.uuid7())
        async with asyncio.TaskGroup() as group:
            for account in accounts:
                command = HoldEntry(table_id=table, account_id=account, room=ROOM, coffee=Coffee.NONE)
                group.create_task(self.desk.hold(command))
        seats = [Seat(seat=n, account_id=account.bytes, room=ROOM) for n, account in enumerate(accounts)]
        await self._tell(
            table, TablesEvent(game_started=GameStarted(table_id=table.bytes, kind=TABLE_KIND_QUICK, seats=seats))
        )
        results = [
            SeatResult(seat=seat, place=place, rounds=6, own_bids=6, bid_lately=True)
            for place, seat in enumerate(seats, start=1)
        ]
        finished = TablesEvent(
            game_finished=GameFinished(
                table_id=table.bytes, kind=TABLE_KIND_QUICK, seats=results, week_id="2026-W49", day_id="2026-11-30"
            )
        )
        finished.occurred_at.GetCurrentTime()
        await self._tell(table, finished)

    async def _tell(self, table: TableId, message: TablesEvent) -> None:
        message.event_id = self.entropy.uuid7().bytes
        await self.delivery.take(
            Event(
                topic=TABLES_TOPIC,
                key=table.bytes,
                event_id=UUID(bytes=message.event_id),
                type=message.WhichOneof("event") or "",
                payload=message.SerializeToString(),
            )
        )

    async def bare(self, transfers: int) -> float:
        """Seconds that so many bare transfers took, as many side by side as connections are kept.

        More would open others and close them again in every round, which costs more than the transfers do.
        """
        numbers = iter(range(transfers))
        started = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for _ in range(POOL):
                group.create_task(self._bare_lane(numbers))
        return time.perf_counter() - started

    async def _bare_lane(self, numbers: Iterator[int]) -> None:
        for number in numbers:
            low, high = sorted((number * 7 % ACCOUNTS, (number * 11 + 1) % ACCOUNTS))  # locks in one order
            async with self.database.begin() as connection:
                await connection.execute(_BARE_TAKE, {"id": low})
                await connection.execute(_BARE_GIVE, {"id": high})


async def run() -> dict[str, object]:
    """Seats settled a second, and the ratio to the bare transfers; the ledger must add up afterwards."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    server = await asyncio.to_thread(embedded.start, FOLDER / "postgres")
    try:
        await MIGRATIONS.upgrade(server.url())
        database = Database.open(server.url(), "wallet", pool=POOL, command_seconds=None)
        settling = Settling(database)
        await settling.prepare()
        await settling.settle(GAMES_AT_ONCE)
        await settling.bare(GAMES_AT_ONCE)
        rounds = [(await settling.settle(GAMES), await settling.bare(GAMES * ANSWERS_A_GAME)) for _ in range(ROUNDS)]
        differences = len(await ledger_check(wallets=settling.store))
        await database.close()
    finally:
        await asyncio.to_thread(server.stop)
    settled, bare = (sum(times) for times in zip(*rounds, strict=True))
    seats_a_second = round(ROUNDS * GAMES * SEATS / settled, 1)
    ratio = round(bare / settled, 3)
    return {
        "seats": ROUNDS * GAMES * SEATS,
        "durable_answers": ROUNDS * GAMES * ANSWERS_A_GAME,
        "settled_seats_a_second": seats_a_second,
        "settling_answers_a_second": round(ROUNDS * GAMES * ANSWERS_A_GAME / settled, 1),
        "bare_transfers_a_second": round(ROUNDS * GAMES * ANSWERS_A_GAME / bare, 1),
        "best_round_seats_a_second": round(GAMES * SEATS / min(times[0] for times in rounds), 1),
        "ledger_differences": differences,
        "bars": [
            bars.Bar(
                what="settled_seats_a_second", value=seats_a_second, side="at least", limit=SEATS_A_SECOND
            ).shown(),
            bars.Bar(what="ratio_to_bare_transfers", value=ratio, side="at least", limit=RATIO).shown(),
            bars.Bar(what="ledger_differences", value=differences, side="at most", limit=0).shown(),
        ],
    }


if __name__ == "__main__":
    sys.exit(bars.alone(run))
