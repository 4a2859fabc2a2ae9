"""Short ways to say what happens to a wallet."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import sqlalchemy as sa

from libs.chassis.entropy import SystemEntropy
from libs.house.modes import Coffee
from libs.house.platform import Platform, load
from services.wallet.announcements import announce
from services.wallet.consumers import on_auth, on_coach, on_leagues, on_tables
from services.wallet.domain.assets import Asset
from services.wallet.domain.facts import BalanceCorrected
from services.wallet.domain.holds import Hold
from services.wallet.domain.ledger import AccountId, House, Reason, TableId, Transfer, gained, move
from services.wallet.handlers.entries import HoldEntry, hold_entry
from services.wallet.handlers.reading import balances
from services.wallet.handlers.refunds import RefundDesk
from services.wallet.ports import Ledger
from services.wallet.storage.ledger import LedgerStore
from whist.auth.v1.events_pb2 import AccountCreated, AccountSeen, AuthEvent, GuestUpgraded
from whist.coach.v1.events_pb2 import CoachEvent, GameAnalysed, SeatAnalysed
from whist.leagues.v1.events_pb2 import LeaguesEvent, PodiumWon
from whist.tables.v1.events_pb2 import GameFinished, GameStarted, GameVoided, Seat, SeatResult, SeatVacated, TablesEvent
from whist.tables.v1.tables_pb2 import TABLE_KIND_QUICK, TableKind
from whist.types.v1 import types_pb2
from whist.wallet.v1.events_pb2 import WalletEvent

PLATFORM = load()
ENTROPY = SystemEntropy()
VIP_KEY = b"a-key-for-tests-only"
COFFEE = {
    Coffee.NONE: types_pb2.COFFEE_UNSPECIFIED,
    Coffee.X1_5: types_pb2.COFFEE_X1_5,
    Coffee.X2: types_pb2.COFFEE_X2,
    Coffee.X3: types_pb2.COFFEE_X3,
    Coffee.X5: types_pb2.COFFEE_X5,
}
SIGNUP = {"coin": 1000, "cup_x1_5": 10, "cup_x2": 10, "cup_x3": 10, "cup_x5": 10}


def new_account() -> AccountId:
    return AccountId(ENTROPY.uuid7())


def new_table() -> TableId:
    return TableId(ENTROPY.uuid7())


@dataclass(frozen=True, kw_only=True)
class Player:
    """A person at a table, who by default plays well and stays."""

    account_id: AccountId = field(default_factory=new_account)
    guest: bool = False
    room: int = 1
    coffee: Coffee = Coffee.NONE
    place: int = 1
    rounds: int = 6
    own_bids: int = 6
    bid_lately: bool = True
    left: bool = False

    def seat(self, number: int) -> Seat:
        return Seat(
            seat=number,
            account_id=self.account_id.bytes,
            guest=self.guest,
            room=self.room,
            coffee=COFFEE[self.coffee],
        )


def created(account_id: AccountId, *, guest: bool = False) -> AuthEvent:
    return AuthEvent(account_created=AccountCreated(account_id=account_id.bytes, name="Ana", guest=guest))


def started(
    table_id: TableId,
    players: Sequence[Player],
    kind: TableKind.ValueType = TABLE_KIND_QUICK,
    at: datetime | None = None,
) -> TablesEvent:
    seats = [*(player.seat(number) for number, player in enumerate(players)), Seat(seat=5)]
    return happened(TablesEvent(game_started=GameStarted(table_id=table_id.bytes, kind=kind, seats=seats)), at)


def happened(event: TablesEvent, at: datetime | None) -> TablesEvent:
    """None: a moment that nobody knows."""
    if at is not None:
        event.occurred_at.FromDatetime(at)
    return event


def finished(
    table_id: TableId,
    players: Sequence[Player],
    kind: TableKind.ValueType = TABLE_KIND_QUICK,
    day: str = "2026-11-30",
    week: str = "2026-W49",
    mode: "types_pb2.Mode.ValueType" = types_pb2.MODE_QUICK,
    at: datetime = datetime(2026, 11, 30, 12, tzinfo=UTC),
) -> TablesEvent:
    results = [
        SeatResult(
            seat=player.seat(number),
            place=player.place,
            own_bids=player.own_bids,
            rounds=player.rounds,
            bid_lately=player.bid_lately,
            left=player.left,
        )
        for number, player in enumerate(players)
    ]
    results.append(SeatResult(seat=Seat(seat=5), place=1, rounds=6))  # a bot, which may well win
    event = TablesEvent(
        game_finished=GameFinished(
            table_id=table_id.bytes, kind=kind, mode=mode, seats=results, day_id=day, week_id=week
        )
    )
    return happened(event, at)


def vacated(table_id: TableId, player: Player, at: datetime) -> TablesEvent:
    left = SeatVacated(table_id=table_id.bytes, account_id=player.account_id.bytes)
    return happened(TablesEvent(seat_vacated=left), at)


def voided(
    table_id: TableId,
    players: Sequence[Player],
    kind: TableKind.ValueType = TABLE_KIND_QUICK,
    had_finished: bool = False,
    at: datetime | None = None,
) -> TablesEvent:
    seats = [player.seat(number) for number, player in enumerate(players)]
    event = TablesEvent(
        game_voided=GameVoided(
            table_id=table_id.bytes, kind=kind, seats=seats, reason="FAULT", had_finished=had_finished
        )
    )
    return happened(event, at)


def upgraded(account_id: AccountId) -> AuthEvent:
    return AuthEvent(guest_upgraded=GuestUpgraded(account_id=account_id.bytes, name="Ana"))


def seen(account_id: AccountId, day: str, since: datetime) -> AuthEvent:
    event = AuthEvent(account_seen=AccountSeen(account_id=account_id.bytes, day_id=day))
    event.account_seen.account_since.FromDatetime(since)
    return event


def podium_won(account_id: AccountId, week: str, coins: int, bars: int) -> LeaguesEvent:
    won = PodiumWon(account_id=account_id.bytes, week_id=week, group_id=bytes(16), rank=1, coins=coins, bars=bars)
    return LeaguesEvent(podium_won=won)


def analysed(
    table_id: TableId,
    *seats: tuple[AccountId, str, int],
    kind: TableKind.ValueType = TABLE_KIND_QUICK,
    mode: "types_pb2.Mode.ValueType" = types_pb2.MODE_CLASSIC,
) -> CoachEvent:
    """Seats as (account, grade, runs of seven)."""
    people = [
        SeatAnalysed(account_id=account.bytes, seat=number, grade=grade, runs_of_seven=runs)
        for number, (account, grade, runs) in enumerate(seats)
    ]
    return CoachEvent(game_analysed=GameAnalysed(table_id=table_id.bytes, kind=kind, mode=mode, seats=people))


Event = AuthEvent | TablesEvent | CoachEvent | LeaguesEvent


async def take_in(ledger: Ledger, event: Event, platform: Platform) -> None:
    match event:
        case AuthEvent():
            await on_auth(ledger, event, platform=platform)
        case TablesEvent():
            await on_tables(ledger, event, platform=platform)
        case CoachEvent():
            await on_coach(ledger, event, platform=platform)
        case LeaguesEvent():
            await on_leagues(ledger, event)


class Wallet:
    """One wallet service without its wires: each call or event is a transaction of its own."""

    def __init__(self, store: LedgerStore, platform: Platform = PLATFORM) -> None:
        self.store = store
        self.platform = platform

    @property
    def desk(self) -> RefundDesk:
        return RefundDesk(wallets=self.store, platform=self.platform, vip_key=VIP_KEY)

    async def now(self) -> datetime:
        async with self.store.transaction() as ledger:
            return await ledger.now()

    async def take(self, *events: Event) -> None:
        """As the bus does it when an event's id was never seen: the ledger itself must bear repetition."""
        for event in events:
            async with self.store.transaction() as ledger:
                await take_in(ledger, event, self.platform)

    async def account(self) -> AccountId:
        """A new one with its signup gift."""
        account_id = new_account()
        await self.take(created(account_id))
        return account_id

    async def hold(self, table_id: TableId, account_id: AccountId, room: int = 1, coffee: Coffee = Coffee.NONE) -> Hold:
        command = HoldEntry(table_id=table_id, account_id=account_id, room=room, coffee=coffee)
        return await hold_entry(command, wallets=self.store, platform=self.platform)

    async def hold_for(self, table_id: TableId, players: Sequence[Player]) -> None:
        for player in players:
            await self.hold(table_id, player.account_id, player.room, player.coffee)

    async def owned(self, account_id: AccountId) -> dict[str, int]:
        found = await balances(account_id, wallets=self.store)
        return {asset.value: amount for asset, amount in found.owned.items() if amount}

    async def held(self, account_id: AccountId) -> dict[str, int]:
        found = await balances(account_id, wallets=self.store)
        return {asset.value: amount for asset, amount in found.held.items()}

    async def coins(self, account_id: AccountId) -> int:
        return (await self.owned(account_id)).get("coin", 0)

    async def events(self, account_id: AccountId) -> list[WalletEvent]:
        """What was told about an account, in order."""
        query = sa.text("select payload from wallet.event where key = :key order by occurred_at, event_id")
        async with self.store.database.begin() as connection:
            rows = await connection.execute(query, {"key": account_id.bytes})
            return [WalletEvent.FromString(bytes(row.payload)) for row in rows]

    async def told(self, account_id: AccountId) -> list[str]:
        return [event.WhichOneof("event") or "" for event in await self.events(account_id)]

    async def state(self) -> list[tuple[object, ...]]:
        """Every row that a repeated event could have changed."""
        query = sa.text(
            "select 'transfer', key, reason, null from wallet.transfer "
            "union all select 'balance', account_id::text, asset, amount from wallet.balance "
            "union all select 'hold', table_id || ' ' || account_id, state, coins from wallet.hold "
            "union all select 'game', table_id::text, state, null from wallet.game "
            "union all select 'seat', table_id || ' ' || account_id, place::text, null from wallet.seat "
            "union all select 'finish', table_id::text, week_id || ' ' || day_id, null from wallet.finished_game "
            "union all select 'reversal', table_id || ' ' || account_id, kind, null from wallet.reversal "
            "union all select 'week', week_id, sealed_at::text, null from wallet.week "
            "union all select 'total', week_id || ' ' || account_id, prizes::text, coins from wallet.week_total "
            "union all select 'share', account_id || ' ' || day_id, kind, used from wallet.day_share "
            "union all select 'ran', table_id::text, started_at || ' to ' || ended_at, null from wallet.game "
            "union all select 'left', table_id || ' ' || account_id, at::text, null from wallet.departure "
            "union all select 'analysis', table_id || ' ' || account_id, grade, runs from wallet.analysis "
            "union all select 'event', event_id::text, type, null from wallet.event order by 1, 2, 3"
        )
        async with self.store.database.begin() as connection:
            return [tuple(row) for row in await connection.execute(query)]

    async def until(self, query: str) -> None:
        """Return as soon as the query has a row."""
        async with asyncio.timeout(20):
            while True:
                async with self.store.database.begin() as connection:
                    if (await connection.execute(sa.text(query))).first() is not None:
                        return

    async def rich(self, coins: int, bars: int = 0) -> AccountId:
        """A new account that was given `coins` more, and `bars`."""
        account_id = await self.account()
        amounts = {asset: amount for asset, amount in ((Asset.COIN, coins), (Asset.BAR, bars)) if amount}
        gift = move(amounts, source=House.GIFTS, target=account_id, key=f"grant:{account_id}", reason=Reason.CORRECTION)
        await self.correct(gift)
        return account_id

    async def correct(self, *corrections: Transfer) -> None:
        """Post corrections, and tell of each as an operator's would be told."""
        async with self.store.transaction() as ledger:
            written = await ledger.post(corrections)
            facts = [
                BalanceCorrected(account_id=owner, amounts=gained(each, owner))
                for each in corrections
                if each.key in written
                for owner in {posting.owner for posting in each.postings if not isinstance(posting.owner, House)}
            ]
            await announce(facts, ledger=ledger)
