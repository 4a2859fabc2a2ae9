"""What purses and leagues must come to, told again from the specification: plain sums, one event after another.

Nothing of `services` is imported, and of `libs.house` the numbers alone. The order of events within an evening, their
repetitions and the services' own transactions do not exist here.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

from libs.house.platform import Platform
from tests.simulation.town import CUPS, Fate, Game, Person, Play

TENTHS = {"": 10, "cup_x1_5": 15, "cup_x2": 20, "cup_x3": 30, "cup_x5": 50}  # P11
PERCENT = {1: 100, 2: 70, 3: 55}  # P6
TIERS = (1, 2, 3, 4)  # Jack, Queen, King, Ace
Purse = Counter[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """How one account's week ended."""

    tier: int
    group: bytes
    rank: int
    ranked: int
    points: int
    next_tier: int


@dataclass
class Books:
    """By account and by week."""

    platform: Platform
    purses: dict[UUID, Purse] = field(default_factory=lambda: defaultdict(Counter))
    points: dict[str, Counter[UUID]] = field(default_factory=lambda: defaultdict(Counter))
    games: dict[str, Counter[UUID]] = field(default_factory=lambda: defaultdict(Counter))
    # Won a prize in that week at all, whatever became of it: has a place in a group.
    placed: dict[str, set[UUID]] = field(default_factory=lambda: defaultdict(set))
    tiers: dict[UUID, int] = field(default_factory=lambda: defaultdict(lambda: 1))
    _won: dict[tuple[UUID, UUID], Purse] = field(default_factory=dict)
    _entries: dict[tuple[UUID, UUID], Purse] = field(default_factory=dict)
    _first: set[tuple[UUID, str]] = field(default_factory=set)
    _classic: Counter[tuple[UUID, str]] = field(default_factory=Counter)
    refunds: Counter[tuple[UUID, str]] = field(default_factory=Counter)
    _mondays: dict[UUID, set[date]] = field(default_factory=lambda: defaultdict(set))

    # ---- what is given ----

    def welcome(self, person: Person) -> None:
        """P10: coins and cups for an account, nothing for a guest."""
        if not person.guest:
            gift = self.platform.signup_gift
            self.purses[person.account_id].update({"coin": gift.coins, **dict.fromkeys(CUPS, gift.cups_each)})

    def seen(self, person: Person, at: datetime, zone: ZoneInfo) -> None:
        """P10: every Monday since the account was made that has come by now, once."""
        if person.guest:
            return
        day, today = person.since.astimezone(zone).date(), at.astimezone(zone).date()
        while day < today:
            day += timedelta(days=1)
            if day.weekday() == 0 and day not in self._mondays[person.account_id]:
                self._mondays[person.account_id].add(day)
                cups = self.platform.weekly_gift.cups_each
                self.purses[person.account_id].update(dict.fromkeys(CUPS, cups))

    # ---- games ----

    def affordable(self, person: Person) -> tuple[list[int], list[str]]:
        """Rooms and cups that the purse pays; a guest's are room 1 and none (P2, P42)."""
        purse = self.purses[person.account_id]
        if person.guest:
            return [1], []
        rooms = [
            room.number
            for room in self.platform.rooms
            if room.entry_coins <= purse["coin"] and room.entry_bars <= purse["bar"]
        ]
        return rooms, [cup for cup in CUPS if purse[cup]]

    def played(self, game: Game, day: str, week: str) -> None:
        """The whole of a game that nobody has refunded yet."""
        if game.fate is Fate.VOIDED:
            return  # entries were taken and came back
        for play in game.plays:
            account = play.person.account_id
            place = (game.table_id, account)
            self._entries[place] = self._entry(play)
            self._won[place] = self._wins(game, play, day)
            self.purses[account].subtract(self._entries[place])
            self.purses[account].update(self._won[place])
            if self._prize(play):
                self.placed[week].add(account)
            if game.fate is Fate.UNDONE:
                # P82: everything won is reversed and the entry returned; the game counts for nothing.
                self.purses[account].subtract(self._won[place])
                self.purses[account].update(self._entries[place])
                continue
            self.games[week][account] += play.counts
            self.points[week][account] += self._prize(play)

    def _entry(self, play: Play) -> Purse:
        room = self.platform.room(play.room)
        return Counter({"coin": room.entry_coins, "bar": room.entry_bars} | ({play.cup: 1} if play.cup else {}))

    def _prize(self, play: Play) -> int:
        """P6, P11: in one rounding."""
        if not play.counts:
            return 0
        return self.platform.room(play.room).prize_coins * PERCENT.get(play.place, 0) * TENTHS[play.cup] // 1000

    def _wins(self, game: Game, play: Play, day: str) -> Purse:
        won, account = Counter({"coin": self._prize(play)}), play.person.account_id
        if play.person.guest or not play.counts:
            return won
        if (account, day) not in self._first:  # P12
            self._first.add((account, day))
            won["bar"] += self.platform.first_game_gift.bars
        if game.classic and play.room == 1:  # P15
            rewards = self.platform.classic_rewards
            earned: Purse = Counter({"bar": play.runs * rewards.run_bars})
            for reward in rewards.grades:
                if reward.grade == play.grade:
                    earned.update({f"cup_{reward.cup}": 1, "bar": reward.bars})
            if +earned and self._classic[account, day] < rewards.games_a_day:
                self._classic[account, day] += 1
                won.update(earned)
        return won

    # ---- refunds ----

    def refund(self, game: Game, play: Play, day: str, week: str, *, vip_day: bool) -> str:
        """Why not, in the words of the contract; empty: everything has gone back (P14)."""
        account, place = play.person.account_id, (game.table_id, play.person.account_id)
        refused = self._refused(game, play, day, vip_day=vip_day)
        if refused:
            return refused
        returns, takes = self._entries[place], self._won[place]
        after = Counter(self.purses[account])
        after.update(returns)
        after.subtract(takes)
        if min(after.values()) < 0:
            return "INSUFFICIENT_TO_REVERSE"
        self.purses[account] = after
        self.points[week][account] -= self._prize(play)
        self.refunds[account, day] += 1
        del self._won[place]
        return ""

    def _refused(self, game: Game, play: Play, day: str, *, vip_day: bool) -> str:
        account, place = play.person.account_id, (game.table_id, play.person.account_id)
        rule = [rule for rule in self.platform.refunds if rule.since <= date.fromisoformat(day)][-1]
        if place in self._entries and place not in self._won:
            return "ALREADY_REFUNDED"
        for reason, holds in (
            ("GAME_VOIDED", game.fate is not Fate.FINISHED),
            ("GUESTS_HAVE_NO_REFUND", play.person.guest),
            ("GAME_LEFT", play.left),
            ("GAME_NOT_COUNTED", not play.counts),
            ("FIRST_PLACE", play.place == 1),
            ("NOTHING_TO_REFUND", not +self._entry(play)),
            ("NOT_A_VIP_DAY", rule.vip_days_only and not vip_day),
            ("REFUNDS_USED_UP", self.refunds[account, day] >= rule.a_day),
        ):
            if holds:
                return reason
        return ""

    # ---- the week's end ----

    def close(self, week: str, people: Sequence[Person], closings: Mapping[UUID, Closing]) -> None:
        """Check what leagues made of a week, pay its podiums and move the tiers (P50-P53)."""
        league = self.platform.league
        guests = {person.account_id for person in people if person.guest}
        points = {account: sum_ for account, sum_ in self.points[week].items() if sum_ > 0 and account not in guests}
        assert {account: closing.points for account, closing in closings.items()} == points
        groups: dict[bytes, list[UUID]] = defaultdict(list)
        for account, closing in closings.items():
            assert closing.tier == self.tiers[account], "it played in the tier in which the last week left it"
            groups[closing.group].append(account)
        for tier in TIERS:
            placed = sum(self.tiers[account] == tier for account in self.placed[week] - guests)
            used = {closing.group for closing in closings.values() if closing.tier == tier}
            assert len(used) <= -(-placed // league.group_size), "groups are filled before another is begun"
        for members in groups.values():
            self._close_group(week, members, closings)

    def _close_group(self, week: str, members: Sequence[UUID], closings: Mapping[UUID, Closing]) -> None:
        league = self.platform.league
        assert len(members) <= league.group_size
        [tier] = {closings[account].tier for account in members}
        ranked = len(members)
        ordered = sorted(members, key=lambda account: closings[account].rank)
        assert [closings[account].rank for account in ordered] == list(range(1, ranked + 1))
        assert {closings[account].ranked for account in members} == {ranked}
        keys = [(-self.points[week][account], self.games[week][account]) for account in ordered]
        assert keys == sorted(keys), "more points first, and of as many who needed fewer games"
        up = 0 if tier == TIERS[-1] else min(league.up, -(-ranked // 3))
        down = 0 if tier == TIERS[0] or ranked < league.down_from else league.down
        for rank, account in enumerate(ordered, 1):
            moved = 1 if rank <= up else -1 if rank > ranked - down else 0
            assert closings[account].next_tier == tier + moved
            self.tiers[account] = tier + moved
            if rank <= 3:
                times = league.multipliers[tier - 1]
                self.purses[account].update(
                    {"coin": league.podium_coins[rank - 1] * times, "bar": league.podium_bars[rank - 1] * times}
                )
