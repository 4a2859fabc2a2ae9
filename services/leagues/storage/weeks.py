"""The closing of weeks, in steps that each stand alone (P55)."""

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from libs.chassis.db import Transaction
from services.leagues.domain.closing import ClosedGroup, OpenGroup, WeekTotal
from services.leagues.domain.league import TIERS, GroupId, Stage, Tier
from services.leagues.domain.results import AccountId, WeekId
from services.leagues.storage.bulk import insert_all
from services.leagues.storage.groups import WEEKS_LOCK, group_from, score_from
from services.leagues.storage.standings import ranked
from services.leagues.storage.tables import (
    account,
    group_member,
    league_group,
    prize,
    standing,
    tier,
    week,
    week_rank,
    week_total,
)


class Weeks(Transaction):
    """Implements `services.leagues.ports.Weeks`."""

    async def hold_weeks_alone(self) -> None:
        await self.connection.execute(sa.text(f"select pg_advisory_xact_lock({WEEKS_LOCK})"))

    async def open_week(self) -> WeekId | None:
        latest = (
            sa.select(week.c.next_week_id)
            .where(week.c.stage == Stage.CLOSED.value)
            .order_by(week.c.week_id.desc())
            .limit(1)
            .scalar_subquery()
        )
        first = sa.select(sa.func.min(prize.c.week_id)).scalar_subquery()
        found = (await self.connection.execute(sa.select(sa.func.coalesce(latest, first)))).scalar_one()
        return None if found is None else WeekId(found)

    async def last_closed_week(self) -> WeekId | None:
        query = sa.select(sa.func.max(week.c.week_id)).where(week.c.stage == Stage.CLOSED.value)
        found = (await self.connection.execute(query)).scalar_one()
        return None if found is None else WeekId(found)

    async def stage(self, week_id: WeekId) -> Stage | None:
        query = sa.select(week.c.stage).where(week.c.week_id == week_id)
        found = (await self.connection.execute(query)).scalar_one_or_none()
        return None if found is None else Stage(found)

    async def begin_week(self, week_id: WeekId, next_week_id: WeekId) -> None:
        values = {"week_id": week_id, "next_week_id": next_week_id, "stage": Stage.SEALING.value}
        await self.connection.execute(insert(week).values(values).on_conflict_do_nothing())

    async def advance(self, week_id: WeekId, before: Stage, after: Stage) -> bool:
        change = sa.update(week).where(week.c.week_id == week_id, week.c.stage == before.value)
        values: dict[str, object] = {"stage": after.value}
        if after is Stage.CLOSED:
            values["closed_at"] = sa.func.clock_timestamp()
        return bool((await self.connection.execute(change.values(values))).rowcount)

    async def last_total(self, week_id: WeekId) -> AccountId | None:
        query = (
            sa.select(week_total.c.account_id)
            .where(week_total.c.week_id == week_id)
            .order_by(week_total.c.account_id.desc())
            .limit(1)
        )
        found = (await self.connection.execute(query)).scalar_one_or_none()
        return None if found is None else AccountId(found)

    async def keep_totals(self, week_id: WeekId, totals: Sequence[WeekTotal]) -> None:
        rows = [
            {"week_id": week_id, "account_id": each.account_id, "coins": each.coins, "prizes": each.prizes}
            for each in totals
        ]
        await insert_all(self.connection, week_total, rows, "on conflict do nothing")

    async def undecided(self, week_id: WeekId, limit: int) -> Sequence[AccountId]:
        query = (
            sa.select(week_total.c.account_id)
            .select_from(week_total.outerjoin(account, account.c.account_id == week_total.c.account_id))
            .where(
                week_total.c.week_id == week_id,
                account.c.guest.is_(None),
                sa.func.coalesce(account.c.deleted, False).is_(False),
            )
            .order_by(week_total.c.account_id)
            .limit(limit)
        )
        return [AccountId(one) for one in (await self.connection.execute(query)).scalars()]

    async def unseated(self, week_id: WeekId, *, sealed: bool) -> Mapping[Tier, Sequence[AccountId]]:
        source = week_total if sealed else prize
        who = sa.select(source.c.account_id).where(source.c.week_id == week_id).distinct().subquery("who")
        member = sa.and_(group_member.c.account_id == who.c.account_id, group_member.c.week_id == week_id)
        first = (
            sa.select(sa.func.min(prize.c.paid_at))
            .where(prize.c.week_id == week_id, prize.c.account_id == who.c.account_id)
            .correlate(who)
            .scalar_subquery()
        )
        number = sa.func.coalesce(tier.c.tier, 1)
        query = (
            sa.select(who.c.account_id, number.label("tier"))
            .select_from(
                who.join(account, account.c.account_id == who.c.account_id).outerjoin(
                    tier, tier.c.account_id == who.c.account_id
                )
            )
            .where(ranked(), ~sa.exists().where(member))
            .order_by(number, first.nulls_last(), who.c.account_id)
        )
        found: dict[Tier, list[AccountId]] = {}
        for account_id, of in (await self.connection.execute(query)).all():
            found.setdefault(TIERS[of - 1], []).append(AccountId(account_id))
        return found

    async def learn_sizes(self) -> None:
        # Planned by last week's figures, a new week is taken for empty, and its rows are joined one by one.
        await self.connection.execute(
            sa.text("analyze leagues.week_total, leagues.group_member, leagues.league_group, leagues.standing")
        )

    async def take_open_groups(self, week_id: WeekId, limit: int) -> Sequence[OpenGroup]:
        taken = (
            sa.select(league_group)
            .where(league_group.c.week_id == week_id, league_group.c.closed_at.is_(None))
            .order_by(league_group.c.tier, league_group.c.number)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        groups = [group_from(row) for row in (await self.connection.execute(taken)).all()]
        same_total = sa.and_(*(week_total.c[key] == group_member.c[key] for key in ("week_id", "account_id")))
        same_standing = sa.and_(*(standing.c[key] == group_member.c[key] for key in ("week_id", "account_id")))
        scores = (
            sa.select(
                group_member.c.group_id,
                group_member.c.account_id,
                week_total.c.coins.label("points"),
                sa.func.coalesce(standing.c.games, 0).label("games"),
                standing.c.reached_at,
                sa.func.coalesce(tier.c.tier, 1).label("tier"),
            )
            .select_from(
                group_member.join(week_total, same_total)
                .join(account, account.c.account_id == group_member.c.account_id)
                .outerjoin(standing, same_standing)
                .outerjoin(tier, tier.c.account_id == group_member.c.account_id)
            )
            .where(group_member.c.group_id.in_([each.group_id for each in groups]), ranked())
        )
        members: dict[GroupId, list[Any]] = {each.group_id: [] for each in groups}
        for row in (await self.connection.execute(scores)).all():
            members[row.group_id].append(row)
        return [
            OpenGroup(
                group=each,
                scores=tuple(score_from(row) for row in members[each.group_id]),
                tiers={AccountId(row.account_id): TIERS[row.tier - 1] for row in members[each.group_id]},
            )
            for each in groups
        ]

    async def has_open_groups(self, week_id: WeekId) -> bool:
        still = sa.exists().where(league_group.c.week_id == week_id, league_group.c.closed_at.is_(None))
        return bool((await self.connection.execute(sa.select(still))).scalar_one())

    async def close_groups(self, groups: Sequence[ClosedGroup]) -> None:
        rows = [
            {
                "week_id": each.group.week_id,
                "account_id": one.score.account_id,
                "group_id": each.group.group_id,
                "rank": one.rank,
                "ranked": one.ranked,
                "points": one.score.points,
                "games": one.score.games,
                "reached_at": one.score.reached_at,
                "next_tier": one.next_tier.number,
                "podium_coins": one.podium_coins,
                "podium_bars": one.podium_bars,
            }
            for each in groups
            for one in each.ranks
        ]
        moved = [
            {"account_id": account_id, "tier": into.number}
            for each in groups
            for account_id, into in each.moved.items()
        ]
        await insert_all(self.connection, week_rank, rows)
        await insert_all(self.connection, tier, moved, "on conflict (account_id) do update set tier = excluded.tier")
        await self.connection.execute(
            sa.update(league_group)
            .where(league_group.c.group_id.in_([each.group.group_id for each in groups]))
            .values(closed_at=sa.func.clock_timestamp())
        )
