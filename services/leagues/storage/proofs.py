"""The proof that stored totals are the sums they stand for, and their writing anew."""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import distinct_on, insert

from libs.chassis.db import Transaction
from services.leagues.domain.results import AccountId, WeekId
from services.leagues.domain.standing import Progress
from services.leagues.storage.accounts import PROGRESS, progress_of
from services.leagues.storage.sums import SUMS, earning
from services.leagues.storage.tables import account, tier, week_rank


class Proofs(Transaction):
    """Implements `services.leagues.ports.Proofs`."""

    async def different(self, limit: int) -> Sequence[AccountId]:
        one = earning()
        earned = (
            sa.select(
                one.c.account_id,
                sa.func.sum(one.c.experience).label("experience"),
                sa.func.sum(one.c.games).label("games"),
            )
            .group_by(one.c.account_id)
            .subquery("earned")
        )
        totals = (
            sa.select(account.c.account_id)
            .select_from(account.outerjoin(earned, earned.c.account_id == account.c.account_id))
            .where(
                sa.or_(
                    account.c.experience != sa.func.coalesce(earned.c.experience, 0),
                    account.c.games != sa.func.coalesce(earned.c.games, 0),
                )
            )
        )
        found = sa.union(totals, _wrong_tiers(), *(_differing(table) for table in SUMS)).limit(limit)
        return [AccountId(one) for one in (await self.connection.execute(found)).scalars()]

    async def level_spans(self) -> Sequence[tuple[int, int, int]]:
        query = sa.select(
            account.c.level, sa.func.min(account.c.experience), sa.func.max(account.c.experience)
        ).group_by(account.c.level)
        return [(level, least, most) for level, least, most in (await self.connection.execute(query)).all()]

    async def accounts_at(self, level: int, limit: int) -> Sequence[AccountId]:
        query = sa.select(account.c.account_id).where(account.c.level == level).limit(limit)
        return [AccountId(one) for one in (await self.connection.execute(query)).scalars()]

    async def rebuild(self, account_id: AccountId) -> Progress:
        one = earning()
        own = one.c.account_id == account_id
        earned = sa.select(sa.func.coalesce(sa.func.sum(one.c.experience), 0)).where(own).scalar_subquery()
        games = sa.select(sa.func.coalesce(sa.func.sum(one.c.games), 0)).where(own).scalar_subquery()
        for table, sums_of in SUMS.items():
            sums = sums_of()
            await self.connection.execute(sa.delete(table).where(table.c.account_id == account_id))
            await self.connection.execute(
                insert(table).from_select(
                    ["account_id", "week_id", "points", "games", "reached_at"],
                    sa.select(sums).where(sums.c.account_id == account_id),
                )
            )
        due = sa.select(latest := _latest_tiers()).where(latest.c.account_id == account_id)
        await self.connection.execute(sa.delete(tier).where(tier.c.account_id == account_id))
        await self.connection.execute(insert(tier).from_select(["account_id", "tier"], due).on_conflict_do_nothing())
        change = (
            sa.update(account)
            .where(account.c.account_id == account_id)
            .values(experience=earned, games=games)
            .returning(*PROGRESS)
        )
        return progress_of((await self.connection.execute(change)).one())

    async def wrong_closes(self, limit: int) -> Sequence[tuple[WeekId, str]]:
        rows = await self.connection.execute(_WRONG_CLOSES, {"limit": limit})
        return [(WeekId(row.week_id), row.what) for row in rows.all()]


# What a close that was made once from the wallet's totals cannot have. Ranks are facts: nothing here is ever repaired.
_WRONG_CLOSES = sa.text(
    """
    select week_id, what from (
      select ordered.week_id, 'rank of ' || account_id as what from (
        select week_id, account_id, rank, ranked,
          row_number() over (
            partition by group_id order by points desc, games, reached_at nulls last, account_id
          ) as due,
          count(*) over (partition by group_id) as size
        from leagues.week_rank
      ) ordered where rank <> due or ranked <> size
      union all
      select r.week_id, 'points of ' || r.account_id from leagues.week_rank r
        left join leagues.week_total t using (week_id, account_id) where t.coins is distinct from r.points
      union all
      select r.week_id, 'group of ' || r.account_id from leagues.week_rank r
        left join leagues.group_member m using (week_id, account_id) where m.group_id is distinct from r.group_id
      union all
      select m.week_id, 'no rank of ' || m.account_id from leagues.group_member m
        join leagues.league_group g on g.group_id = m.group_id and g.closed_at is not null
        join leagues.week_total t on t.week_id = m.week_id and t.account_id = m.account_id
        join leagues.account a on a.account_id = m.account_id and not a.deleted
        left join leagues.week_rank r on r.week_id = m.week_id and r.account_id = m.account_id
        where r.account_id is null
      union all
      select w.week_id, 'open group ' || g.group_id from leagues.week w
        join leagues.league_group g on g.week_id = w.week_id and g.closed_at is null where w.stage = 'closed'
      union all
      select g.week_id, 'gap in group ' || g.group_id from leagues.league_group g
        join leagues.group_member m on m.group_id = g.group_id
        group by g.week_id, g.group_id having max(m.position) <> count(*)
    ) wrong order by week_id, what limit :limit
    """
)


def _latest_tiers() -> sa.Subquery:
    """The tier that each account's last closed week has given it."""
    rows = sa.select(week_rank.c.account_id, week_rank.c.next_tier.label("tier"))
    newest = rows.ext(distinct_on(week_rank.c.account_id)).order_by(week_rank.c.account_id, week_rank.c.week_id.desc())
    return newest.subquery("latest")


def _wrong_tiers() -> sa.Select[tuple[AccountId]]:
    """Accounts whose tier is another; without a row it is the first."""
    latest = _latest_tiers()
    return (
        sa.select(sa.func.coalesce(latest.c.account_id, tier.c.account_id).label("account_id"))
        .select_from(latest.join(tier, tier.c.account_id == latest.c.account_id, full=True))
        .where(sa.func.coalesce(latest.c.tier, 1) != sa.func.coalesce(tier.c.tier, 1))
    )


def _differing(table: sa.Table) -> sa.Select[tuple[AccountId]]:
    """Accounts with a week in `table` that is not the sum it stands for, a missing or needless one among them."""
    sums = SUMS[table]()
    same = sa.and_(sums.c.account_id == table.c.account_id, sums.c.week_id == table.c.week_id)
    columns = ("points", "games", "reached_at")
    return (
        sa.select(sa.func.coalesce(sums.c.account_id, table.c.account_id).label("account_id"))
        .select_from(sums.join(table, same, full=True))
        .where(sa.or_(*(sums.c[name].is_distinct_from(table.c[name]) for name in columns)))
    )
