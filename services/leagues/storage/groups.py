"""Tiers, and the groups of a week."""

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from libs.chassis.db import Transaction
from services.leagues.domain.league import (
    FIRST_TIER,
    TIERS,
    Group,
    GroupId,
    LastGroup,
    Ranked,
    Score,
    Seat,
    Tier,
    group_id_of,
)
from services.leagues.domain.results import AccountId, WeekId
from services.leagues.domain.standing import FORM_GAMES, Look, form_of
from services.leagues.storage.bulk import insert_all
from services.leagues.storage.standings import ranked
from services.leagues.storage.tables import account, group_member, league_group, prize, standing, tier, week_rank

WEEKS_LOCK = "hashtextextended('leagues.weeks', 0)"


class Groups(Transaction):
    """Implements `services.leagues.ports.Groups`."""

    async def hold_weeks(self) -> None:
        await self.connection.execute(sa.text(f"select pg_advisory_xact_lock_shared({WEEKS_LOCK})"))

    async def tier_of(self, account_id: AccountId) -> Tier:
        query = sa.select(tier.c.tier).where(tier.c.account_id == account_id)
        number = (await self.connection.execute(query)).scalar_one_or_none()
        return FIRST_TIER if number is None else TIERS[number - 1]

    async def has_prize(self, account_id: AccountId, week_id: WeekId) -> bool:
        won = sa.exists().where(prize.c.account_id == account_id, prize.c.week_id == week_id)
        return bool((await self.connection.execute(sa.select(won))).scalar_one())

    async def group_of(self, account_id: AccountId, week_id: WeekId) -> Group | None:
        query = (
            sa.select(league_group)
            .join(group_member, group_member.c.group_id == league_group.c.group_id)
            .where(group_member.c.account_id == account_id, group_member.c.week_id == week_id)
        )
        row = (await self.connection.execute(query)).one_or_none()
        return None if row is None else group_from(row)

    async def lock_tier(self, week_id: WeekId, of: Tier) -> LastGroup:
        await self.connection.execute(
            sa.text("select pg_advisory_xact_lock(hashtextextended('leagues.tier:' || :week || ':' || :tier, 0))"),
            {"week": week_id, "tier": of.value},
        )
        return await self.last_group(week_id, of)

    async def last_group(self, week_id: WeekId, of: Tier) -> LastGroup:
        members = (
            sa.select(sa.func.count())
            .where(group_member.c.group_id == league_group.c.group_id)
            .correlate(league_group)
            .scalar_subquery()
        )
        query = (
            sa.select(league_group.c.number, members.label("taken"))
            .where(league_group.c.week_id == week_id, league_group.c.tier == of.number)
            .order_by(league_group.c.number.desc())
            .limit(1)
        )
        row = (await self.connection.execute(query)).one_or_none()
        return LastGroup() if row is None else LastGroup(number=row.number, taken=row.taken)

    async def seat(self, week_id: WeekId, of: Tier, seats: Sequence[Seat]) -> None:
        ids = {number: group_id_of(week_id, of, number) for number in sorted({each.number for each in seats})}
        groups = [
            {"group_id": group_id, "week_id": week_id, "tier": of.number, "number": number}
            for number, group_id in ids.items()
        ]
        members = [
            {"week_id": week_id, "account_id": each.account_id, "group_id": ids[each.number], "position": each.position}
            for each in seats
        ]
        await insert_all(self.connection, league_group, groups, "on conflict do nothing")
        await insert_all(self.connection, group_member, members)

    async def live_scores(self, group_id: GroupId) -> Sequence[Score]:
        query = (
            sa.select(standing)
            .join(group_member, sa.and_(*(group_member.c[key] == standing.c[key] for key in ("week_id", "account_id"))))
            .join(account, account.c.account_id == standing.c.account_id)
            .where(group_member.c.group_id == group_id, ranked())
        )
        return [score_from(row) for row in (await self.connection.execute(query)).all()]

    async def closed_ranks(self, group_id: GroupId) -> Sequence[Ranked]:
        query = (
            sa.select(week_rank)
            .join(account, account.c.account_id == week_rank.c.account_id)
            .where(week_rank.c.group_id == group_id, ~account.c.deleted)
            .order_by(week_rank.c.rank)
        )
        return [_ranked(row) for row in (await self.connection.execute(query)).all()]

    async def closed_rank(self, account_id: AccountId, week_id: WeekId) -> Ranked | None:
        query = sa.select(week_rank).where(week_rank.c.account_id == account_id, week_rank.c.week_id == week_id)
        row = (await self.connection.execute(query)).one_or_none()
        return None if row is None else _ranked(row)

    async def looks(self, account_ids: Sequence[AccountId]) -> Mapping[AccountId, Look]:
        rows = await self.connection.execute(_LOOKS, {"accounts": list(account_ids), "games": FORM_GAMES})
        return {AccountId(row.account_id): Look(form=form_of(row.places or ()), level=row.level) for row in rows.all()}


# The latest places of each account by its own index; `valid_results` says the same for one.
_LOOKS = sa.text(
    """
    select account.account_id, account.level, latest.places
    from leagues.account
    cross join lateral (
      select array_agg(place) as places from (
        select place from leagues.game_result result
        where result.account_id = account.account_id and result.kind = 'quick' and result.counted
          and not exists (select 1 from leagues.voided_game voided where voided.table_id = result.table_id)
        order by finished_at desc, table_id desc limit :games
      ) one
    ) latest
    where account.account_id = any(:accounts)
    """
)


def group_from(row: Any) -> Group:
    """A row of `league_group`."""
    return Group(
        group_id=GroupId(row.group_id),
        week_id=WeekId(row.week_id),
        tier=TIERS[row.tier - 1],
        closed=row.closed_at is not None,
    )


def score_from(row: Any) -> Score:
    """A row with account_id, points, games and reached_at."""
    return Score(account_id=AccountId(row.account_id), points=row.points, games=row.games, reached_at=row.reached_at)


def _ranked(row: Any) -> Ranked:
    return Ranked(
        score=score_from(row),
        rank=row.rank,
        ranked=row.ranked,
        next_tier=TIERS[row.next_tier - 1],
        podium_coins=row.podium_coins,
        podium_bars=row.podium_bars,
    )
