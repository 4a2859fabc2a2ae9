"""All that leagues keep, read in one snapshot and told in the model's words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from libs.chassis.db import Store
from services.leagues.storage.ledger import LeaguesTransaction
from tests.services.leagues.model import Group, Model, Person, Score, Week, level_of
from tests.services.leagues.scene import WEEKS
from whist.leagues.v1.events_pb2 import LeaguesEvent

TABLES = (
    "account", "standing", "friends_standing", "league_group", "group_member", "week", "week_rank", "tier", "event",
    "parked",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Rows by table; `people` are account ids by number."""

    people: Sequence[UUID]
    rows: Mapping[str, Sequence[Any]]

    @classmethod
    async def read(cls, books: Store[LeaguesTransaction], people: Sequence[UUID]) -> "Kept":
        rows = {}
        async with books.transaction() as ledger:
            await ledger.connection.exec_driver_sql("set transaction isolation level repeatable read")
            for table in TABLES:
                rows[table] = (await ledger.connection.exec_driver_sql(f"select * from leagues.{table}")).all()
        return cls(people=people, rows=rows)

    @property
    def groups(self) -> Mapping[UUID, Group]:
        return {row.group_id: (WEEKS.index(row.week_id), row.tier, row.number) for row in self.rows["league_group"]}

    @property
    def stages(self) -> Mapping[Week, str]:
        return {WEEKS.index(row.week_id): row.stage for row in self.rows["week"]}

    @property
    def closed_at(self) -> Mapping[object, object]:
        """When each group and each week was closed, of those that are."""
        groups = {row.group_id: row.closed_at for row in self.rows["league_group"]}
        every = groups | {row.week_id: row.closed_at for row in self.rows["week"]}
        return {what: at for what, at in every.items() if at is not None}

    def follows(self, model: Model) -> None:
        """Fails where anything is not as the model says."""
        assert list(self.rows["parked"]) == []
        assert self._accounts() == _accounts(model, {self._who(row) for row in self.rows["account"]})
        for week in range(len(WEEKS)):
            assert self._scores("standing", week) == model.standing(week)
            assert self._scores("friends_standing", week) == {each.who: each for each in model.leaderboard(week)}
        assert {*self.groups.values()} == {*model.groups()}
        assert self._seats() == {
            (group, position): who
            for group in model.groups()
            for position, who in enumerate(model.members(group), start=1)
        }
        assert self._ranks() == _ranks(model)
        assert self._tiers() == {who: tier for who, tier in model.tier.items() if tier > 1}
        assert self._events() == {who: told for who, told in model.told.items() if told}

    def _who(self, row: Any) -> Person:
        return self.people.index(row.account_id)

    def _accounts(self) -> Mapping[Person, tuple[object, ...]]:
        return {
            self._who(row): (row.guest, row.deleted, row.experience, row.level, row.games)
            for row in self.rows["account"]
        }

    def _scores(self, table: str, week: Week) -> Mapping[Person, Score]:
        """Of those with points or games."""
        return {
            self._who(row): Score(who=self._who(row), points=row.points, games=row.games, reached=row.reached_at)
            for row in self.rows[table]
            if row.week_id == WEEKS[week] and (row.points or row.games)
        }

    def _seats(self) -> Mapping[tuple[Group, int], Person]:
        return {(self.groups[row.group_id], row.position): self._who(row) for row in self.rows["group_member"]}

    def _ranks(self) -> Sequence[tuple[object, ...]]:
        return sorted(
            (
                self.groups[row.group_id], row.rank, self._who(row), row.ranked, row.points, row.games, row.reached_at,
                row.next_tier, row.podium_coins, row.podium_bars,
            )
            for row in self.rows["week_rank"]
        )  # fmt: skip

    def _tiers(self) -> Mapping[Person, int]:
        return {self._who(row): row.tier for row in self.rows["tier"] if row.tier > 1}

    def _events(self) -> Mapping[Person, list[tuple[object, ...]]]:
        """In the order in which they were published."""
        events: dict[Person, list[tuple[object, ...]]] = {}
        for row in sorted(self.rows["event"], key=lambda row: row.event_id):
            who = self.people.index(UUID(bytes=bytes(row.key)))
            events.setdefault(who, []).append(self._event(LeaguesEvent.FromString(bytes(row.payload))))
        return events

    def _event(self, event: LeaguesEvent) -> tuple[object, ...]:
        match event.WhichOneof("event"):
            case "level_reached":
                return "level_reached", event.level_reached.level
            case "tier_changed":
                return "tier_changed", event.tier_changed.tier
            case "podium_won":
                won = event.podium_won
                return "podium_won", *self._group(won), won.rank, won.coins, won.bars
            case "week_closed":
                end = event.week_closed
                return "week_closed", *self._group(end), end.rank, end.ranked, end.points, end.next_tier
            case other:
                raise AssertionError(other)

    def _group(self, told: Any) -> Group:
        group = self.groups[UUID(bytes=told.group_id)]
        assert (WEEKS.index(told.week_id), told.tier) == group[:2]
        return group


def _accounts(model: Model, known: set[Person]) -> Mapping[Person, tuple[object, ...]]:
    """Of those whom leagues know; of all others there is nothing."""
    every = {who: model.experience(who) for who in range(10)}
    told = {who: (model.guest.get(who), who in model.deleted, total, level_of(total), model.games(who))
            for who, total in every.items()}  # fmt: skip
    assert all(told[who] == (None, False, 0, 1, 0) for who in every if who not in known)
    return {who: told[who] for who in known}


def _ranks(model: Model) -> Sequence[tuple[object, ...]]:
    return sorted(
        (group, each.rank, each.score.who, each.ranked, each.score.points, each.score.games, each.score.reached,
         each.next_tier, each.coins, each.bars)
        for group, ended in model.ended.items()
        for each in ended
    )  # fmt: skip
