"""Games that have just finished, by a wallet whose zone makes it noon: no test meets a midnight or a week's end."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from libs.house.calendar import day_id, week_id
from libs.house.modes import Coffee
from libs.house.refunds import RefundRule
from services.wallet.domain.ledger import TableId
from tests.services.wallet.builders import PLATFORM, Event, Player, Wallet, finished, new_table, started
from whist.types.v1 import types_pb2

THREE_A_DAY = RefundRule(since=date(2000, 1, 1), a_day=3, vip_days_only=False, window_minutes=15)
ONE_ON_VIP_DAYS = RefundRule(since=date(2000, 1, 1), a_day=1, vip_days_only=True, window_minutes=15)
ANY_NUMBER = RefundRule(since=date(2000, 1, 1), a_day=1000, vip_days_only=False, window_minutes=15)


class Evening:
    """A wallet in a zone where it is noon, and the games played there."""

    def __init__(self, wallet: Wallet, now: datetime, rule: RefundRule = THREE_A_DAY) -> None:
        ahead = 12 - now.astimezone(UTC).hour
        zone = ZoneInfo(f"Etc/GMT{-ahead:+d}")  # POSIX signs: west is positive
        self.wallet = Wallet(wallet.store, replace(PLATFORM, zone=zone, refunds=(rule,)))
        self.now = now
        self.day, self.week = day_id(now, zone=zone), week_id(now, zone=zone)

    @classmethod
    async def of(cls, wallet: Wallet, rule: RefundRule = THREE_A_DAY) -> "Evening":
        return cls(wallet, await wallet.now(), rule)

    async def player(
        self, *, place: int = 2, room: int = 2, coffee: Coffee = Coffee.NONE, own_bids: int = 6, left: bool = False
    ) -> Player:
        """With what the last room costs."""
        account_id = await self.wallet.rich(1_000_000, 100)
        return Player(account_id=account_id, place=place, room=room, coffee=coffee, own_bids=own_bids, left=left)

    def end(
        self, table: TableId, players: Sequence[Player], *, ago: timedelta = timedelta(0), classic: bool = False
    ) -> Event:
        """The event that ends the game."""
        mode = types_pb2.MODE_CLASSIC if classic else types_pb2.MODE_QUICK
        return finished(table, players, day=self.day, week=self.week, at=self.now - ago, mode=mode)

    async def dealt(self, *players: Player) -> TableId:
        table = new_table()
        await self.wallet.hold_for(table, [player for player in players if not player.guest])
        await self.wallet.take(started(table, players))
        return table

    async def played(self, *players: Player, ago: timedelta = timedelta(0), classic: bool = False) -> TableId:
        """From the hold to the prize."""
        table = await self.dealt(*players)
        await self.wallet.take(self.end(table, players, ago=ago, classic=classic))
        return table
